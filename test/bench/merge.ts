import { repositoryConfigSchema } from '../../src/config/repository-config.ts';
import type { Candidate } from '../../src/domain/candidate.ts';
import type { Verdict } from '../../src/domain/verification.ts';
import { createIntegrator } from '../../src/merging/integrate.ts';
import { createRowIntegrator } from '../../src/merging/integrate-rows.ts';
import type { VerificationContext, Verifier } from '../../src/merging/port.ts';
import { changeView, patchRow } from '../unit/publishing/change-view.ts';
import { applyInWorktree } from './merge/by-worktree.ts';
import {
  type BenchRepository,
  contentOf,
  makeRepository,
  pathOf,
  type StoredPatch,
} from './merge/repository.ts';
import { type Bench, renderTable, rounded, seconds } from './result.ts';

const files = 20_000;
const count = 200;
const searched = 64;
/** Places of the bad patches among them: both ends, far from each other, and where most questions are asked. */
const places = [
  [0, 1, 2],
  [61, 62, 63],
  [0, 31, 63],
  [21, 42, 61],
];

/**
 * What merging costs from stored patches to the candidate, next to checking out and applying; and how many candidates
 * are judged until one with three bad patches of 64 is clean. All through what an attempt that integrates calls.
 */
export const merge: Bench = async ({ say, signal }) => {
  say(`a repository of ${files} files, ${count} patches`);
  const repository = await makeRepository(files, signal);
  try {
    const patches = await repository.patches(changes(count, []));
    const begin = performance.now();
    const candidate = await integrate(repository, patches, accepts, signal);
    const mergeMs = performance.now() - begin;
    say(`merged in ${seconds(mergeMs)}; the same in a work tree`);
    const checkout = await applyInWorktree(repository, patches, signal);
    if (candidate.tree !== checkout.tree) {
      throw new Error(`merging gave ${String(candidate.tree)}, git apply ${checkout.tree}`);
    }
    say(`applied in ${seconds(checkout.ms)}`);
    say(`three bad of ${searched}, ${places.length} times`);
    const judged: number[] = [];
    for (const bad of places) judged.push(await clean(repository, bad, signal));
    const json = {
      ...{ patches: count, files },
      ...{
        mergeMs: rounded(mergeMs),
        checkoutMs: rounded(checkout.ms),
        ratio: rounded(mergeMs / checkout.ms),
      },
      bisect: { patches: searched, bad: 3, verifications: Math.max(...judged) },
    };
    return { json, text: render(json, judged) };
  } finally {
    await repository.end();
  }
};

interface Figures {
  readonly mergeMs: number;
  readonly checkoutMs: number;
  readonly ratio: number;
}

function render({ mergeMs, checkoutMs, ratio }: Figures, judged: readonly number[]): string {
  const rows = [
    ['way', 'all', 'a patch'],
    ...[
      ['merged', mergeMs],
      ['checked out and applied', checkoutMs],
    ].map(([way, ms]) => [String(way), seconds(Number(ms)), `${(Number(ms) / count).toFixed(1)} ms`]),
  ];
  const head = `merge: ${count} patches of one file, ${files} files: ratio ${ratio}`;
  const tail = `bisect: 3 bad of ${searched}: ${places.map((bad, at) => `${judged[at]} verifications (bad: ${bad.join(', ')})`).join('; ')}`;
  return [head, '', renderTable(rows, 1), '', tail].join('\n');
}

const broken = 'export const broken = true;\n';

function changes(many: number, bad: readonly number[]): [path: string, content: string][] {
  return Array.from({ length: many }, (_, at) => {
    // All over the repository.
    const file = at * Math.floor((files - 1) / many);
    return [pathOf(file), bad.includes(at) ? broken : `${contentOf(file)}export const patched = ${at};\n`];
  });
}

/** Candidates that are judged until the bad ones are out. */
async function clean(
  repository: BenchRepository,
  bad: readonly number[],
  signal: AbortSignal,
): Promise<number> {
  const patches = await repository.patches(changes(searched, bad));
  let judged = 0;
  const judge = async (base: string, commit: string, context: VerificationContext): Promise<Verdict> => {
    judged += 1;
    context.onRun?.();
    const { mirror } = repository;
    const newFailures: string[] = [];
    for (const { path, file } of await mirror.compareTrees(base, commit)) {
      const text = file === null ? '' : String(await mirror.readBlob(file.blob, 1_000_000));
      if (text === broken) newFailures.push(`test:${path}`);
    }
    return { passed: newFailures.length === 0, newFailures, knownFailures: [], flaky: [] };
  };
  const candidate = await integrate(repository, patches, judge, signal);
  const left = candidate.leftOut.map(({ row }) => row);
  if (left.join() !== bad.join() || candidate.merged.length !== searched - bad.length) {
    throw new Error(`left out ${left.join(', ')} where ${bad.join(', ')} are bad`);
  }
  return judged;
}

const accepts: Verifier['judge'] = async () => ({
  passed: true,
  newFailures: [],
  knownFailures: [],
  flaky: [],
});

/** As an attempt that integrates does it, the target's head fetched from the server. */
async function integrate(
  { mirror }: BenchRepository,
  patches: readonly StoredPatch[],
  judge: Verifier['judge'],
  signal: AbortSignal,
): Promise<Candidate> {
  const view = changeView({
    agents: patches.map((_, row) => ({ title: `part ${row}`, status: 'succeeded' })),
    patches: patches.map(({ baseCommit, tree, commit, entries }, row) => ({
      ...patchRow(row, []),
      ...{ baseCommit, tree, commit, entries },
    })),
    candidates: [{ candidate: null }],
  });
  const row = view.subtasks.at(-1);
  if (row === undefined) throw new Error('no row integrates');
  const refuse = async () => await Promise.reject(new Error('no report is asked for'));
  const integrateRows = createRowIntegrator({
    integrator: createIntegrator({ verifier: { judge, report: refuse } }),
    readArtifact: refuse,
  });
  return await integrateRows({
    ...{ mirror, view, row },
    config: repositoryConfigSchema.parse({}),
    context: {
      ...{ taskId: view.task.id, attemptId: 'bench', repository: { id: 1, mirrorDir: mirror.dir } },
      kind: { config: repositoryConfigSchema.parse({}), trusted: view.task.headSha },
      ...{ commands: [{ name: 'check', argv: ['check'], cwd: '' }], commandMs: 60_000 },
      ...{ signal, onProgress: () => {} },
    },
  });
}
