import { z } from 'zod';

/** The `sandbox` part of the operator file. */

const port = z.int().min(1).max(65_535);

export const networkRuleSchema = z
  .strictObject({
    host: z
      .string()
      .regex(
        /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/,
        'must be a host name in lower case',
      )
      .describe('Exact host name, in lower case.'),
    port: port.default(443).describe('Exact port.'),
    private: z
      .boolean()
      .default(false)
      .describe('The name may lead to a private address, e.g. of a registry of your own.'),
  })
  .describe('One place that sandboxes may be let reach.');
export type NetworkRule = z.infer<typeof networkRuleSchema>;

export const sandboxConfigSchema = z.strictObject({
  image: z.string().min(1).default('patchfleet-sandbox:latest').describe('Image that sandboxes are made of.'),
  images: z
    .array(z.string().min(1))
    .max(100)
    .default([])
    .describe('Images that a repository may name for itself in `sandbox.image`, exactly as written here.'),
  isolation: z
    .enum(['standard', 'strict'])
    .default('standard')
    .describe(
      '`strict`: sandboxes run under gVisor (`runsc`), and are refused where the engine does not offer it.',
    ),
  runtime: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "Runtime of the engine that runs sandboxes. null: `runsc` where `isolation` is `strict`, else the engine's default.",
    ),
  memory_mib: z.int().min(64).default(1024).describe('Memory of a sandbox; swap is never given.'),
  memory_ceiling_mib: z
    .int()
    .min(64)
    .default(4096)
    .describe('Most memory a sandbox is given after one ran out of it, or by what its work needed before.'),
  cpus: z.number().min(0.1).default(1).describe('CPUs of a sandbox.'),
  pids: z.int().min(16).default(256).describe('Processes and threads of a sandbox.'),
  scratch_mib: z
    .int()
    .min(16)
    .default(512)
    .describe('Size of the writable scratch directory (HOME and TMPDIR).'),
  workspaces: z
    .enum(['auto', 'overlay', 'volume', 'copy'])
    .default('auto')
    .describe(
      'How a workspace is made of a snapshot. `overlay`: mounted by the worker; `volume`: by the engine; `copy`: copied. `auto`: the first of them that works here.',
    ),
  workspace_mib: z.int().min(16).default(4096).describe('Disk that an attempt may write in its workspace.'),
  workspace_files: z
    .int()
    .min(100)
    .default(200_000)
    .describe('Files and directories that an attempt may make in its workspace.'),
  disk_mib: z
    .int()
    .min(64)
    .default(20_480)
    .describe('Disk for snapshots and prepared dependencies; the least recently used go first.'),
  concurrent_starts: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Containers started at once, per worker. null: as many as the machine has cores.'),
  pool: z
    .strictObject({
      min: z.int().min(0).default(0).describe('Sandboxes kept ready for the work that was seen last.'),
      max: z.int().min(0).max(1000).default(8).describe('Sandboxes kept ready at most, per worker. 0: none.'),
      idle_seconds: z
        .int()
        .min(1)
        .default(60)
        .describe('One that no work wants any more, and nobody took for this long, goes, down to `min`.'),
    })
    .prefault({}),
  network: z
    .strictObject({
      allow: z
        .array(networkRuleSchema)
        .max(100)
        .default([])
        .describe('Places that `setup` of a repository may name in its `network.allow`. Empty: none.'),
      agents: z
        .boolean()
        .default(false)
        .describe('Agents may reach what their repository names, too; else only `setup` may.'),
    })
    .prefault({}),
});
export type SandboxConfig = z.infer<typeof sandboxConfigSchema>;
