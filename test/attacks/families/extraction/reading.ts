import { readPatch } from '../../../../src/merging/read-patch.ts';
import type { HarvestEntry, Sandbox } from '../../../../src/sandbox/port.ts';
import { type Attack, contained, escaped, type Finding } from '../../attack.ts';
import { runScript, type Script } from '../../probes.ts';
import type { Stage } from '../../stage.ts';

/** How long reading a workspace may take, whatever lies there, ms: what hangs would wait for ever. */
export const readMs = 60_000;

/** Something planted in a workspace, to be read with all the others by one harvest. */
export interface Trick {
  readonly name: string;
  readonly tries: string;
  /** Runs in a directory of its own, `x/NAME`, which is `paths` by default. */
  readonly plant: Script;
  /** Other paths that it touches. */
  readonly paths?: readonly string[];
  /** What may be taken, with its content: honest files, by their paths below its directory, or from the root with a `/`. */
  readonly honest?: Readonly<Record<string, string>>;
  /** It may be that nothing comes of it: it could not even be planted, or git would not see it. */
  readonly mayVanish?: boolean;
}

interface Reading {
  /** Why a trick could not be planted, by its name. */
  readonly unplanted: ReadonlyMap<string, string>;
  readonly entries: readonly HarvestEntry[];
  /** What {@link readPatch} made of all of it: a patch, or none. */
  readonly patched: boolean;
}

/** Plants all but those that ended a sandbox before; that is noted, and the rest is planted in another. */
async function plantAll(
  stage: Stage,
  tricks: readonly Trick[],
  unplanted: Map<string, string>,
): Promise<Sandbox> {
  const sandbox = await stage.fresh();
  const { canary } = stage;
  const env = { CANARY_FILE: canary.file, CANARY_FIRED: canary.fired, RUNTIME: stage.runtime };
  for (const { name, plant } of tricks) {
    if (unplanted.has(name)) continue;
    const dir = `x/${slug(name)}`;
    await runScript(sandbox, { sh: `mkdir -p ${dir}` });
    const outcome = await runScript(sandbox, within(dir, plant), { env });
    if ('died' in outcome) {
      await sandbox.close();
      unplanted.set(name, `it ended its own sandbox while it was planted (${outcome.died})`);
      return await plantAll(stage, tricks, unplanted);
    }
    if (outcome.ran.exitCode !== 0) unplanted.set(name, outcome.ran.stderr.trim().slice(-200));
  }
  return sandbox;
}

async function readAll(stage: Stage, tricks: readonly Trick[]): Promise<Reading> {
  const unplanted = new Map<string, string>();
  const sandbox = await plantAll(stage, tricks, unplanted);
  const signal = AbortSignal.timeout(readMs);
  const entries = await sandbox.harvest(signal);
  const policy = {
    ...{ writes: ['**'], treePaths: [], protectedGlobs: [], checkFiles: new Set<string>() },
    ...{ maxEntries: 100_000, maxBytes: 1 << 30 },
  };
  const { patch } = await readPatch(entries, {
    ...{ mirror: stage.setting.mirror, baseCommit: stage.commit, policy, message: 'attack', signal },
  });
  return { unplanted, entries, patched: patch !== null };
}

function within(dir: string, script: Script): Script {
  if ('sh' in script) return { sh: `set -e\ncd /workspace/${dir}\n${script.sh}` };
  if ('python' in script) return { python: `os.chdir('/workspace/${dir}')\n${script.python}` };
  return { node: `process.chdir('/workspace/${dir}');\n${script.node}` };
}

const slug = (name: string) => name.replaceAll(/[^a-z]+/gi, '-').toLowerCase();

/** Judged by its own paths in the reading: what is taken of them must be honest. */
function trick(one: Trick, read: (stage: Stage) => Promise<Reading>): Attack {
  return {
    name: one.name,
    tries: one.tries,
    async run(stage): Promise<Finding> {
      const { unplanted, entries, patched } = await read(stage);
      const why = unplanted.get(one.name);
      if (why !== undefined) throw new Error(why);
      if (patched) return escaped('with all of it there, a patch was made');
      const home = `x/${slug(one.name)}/`;
      const own = entries.filter(({ path }) =>
        [home, ...(one.paths ?? [])].some(
          (p) => path === p || path.startsWith(p.endsWith('/') ? p : `${p}/`),
        ),
      );
      for (const entry of own) {
        if (entry.kind !== 'file') continue;
        const content = (await entry.read()).toString('utf8');
        if (content.includes(stage.canary.secret)) return escaped(`${entry.path} has the secret of the host`);
        const place = entry.path.startsWith(home) ? entry.path.slice(home.length) : `/${entry.path}`;
        const honest = one.honest?.[place];
        if (honest === undefined && one.mayVanish !== true) return escaped(`${entry.path} was taken`);
        if (honest !== undefined && honest !== content)
          return escaped(`${entry.path} has another content than it was given`);
      }
      const rules = [...new Set(own.flatMap((entry) => (entry.kind === 'refused' ? [entry.rule] : [])))];
      const taken = own.filter(({ kind }) => kind === 'file').length;
      if (rules.length > 0) return contained(`refused: ${rules.join(', ')}`);
      if (taken > 0) return contained('what was taken is as it was written, and nothing was run');
      // gVisor keeps FIFOs and sockets to itself: on the host there is none to be read.
      const kept = stage.runtime === 'runsc' && /^(?:FIFO|socket)/.test(one.name);
      return one.mayVanish === true || kept ? contained('nothing came of it') : escaped('it was not noticed');
    },
  };
}

/** All tricks in one workspace, read once for each stage. */
export function readingOf(tricks: readonly Trick[]): Attack[] {
  const readings = new WeakMap<Stage, Promise<Reading>>();
  const read = (stage: Stage) => {
    const reading = readings.get(stage) ?? readAll(stage, tricks);
    readings.set(stage, reading);
    return reading;
  };
  return tricks.map((one) => trick(one, read));
}
