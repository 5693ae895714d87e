import { PatchfleetError } from '../../src/domain/failure.ts';
import type { RunResult, Sandbox } from '../../src/sandbox/port.ts';
import { never } from '../integration/patches/patch-setting.ts';
import { until } from '../support/app/until.ts';
import { type Attack, contained, escaped, type Finding, inconclusive } from './attack.ts';
import { pythonPrelude } from './python-prelude.ts';
import type { Stage } from './stage.ts';

/** How an attack is told to a program in a sandbox, and what it says of itself. */

/** `died`: the sandbox was gone before it ended, with the code that says so. */
type Ran = { readonly ran: RunResult } | { readonly died: string };

export type Script = { readonly sh: string } | { readonly python: string } | { readonly node: string };

interface RunOptions {
  /** Default a minute: what ends by itself ends long before, on any machine. */
  readonly wallMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a script. */
export async function runScript(
  sandbox: Sandbox,
  script: Script,
  { wallMs = 60_000, env = {} }: RunOptions = {},
): Promise<Ran> {
  const options = { signal: never, wallMs, env, maxBuffer: 64 * 1024 };
  try {
    const ran =
      'sh' in script
        ? await sandbox.run(['sh', '-s'], { ...options, stdin: script.sh })
        : 'python' in script
          ? await sandbox.run(['python3', '-'], { ...options, stdin: `${pythonPrelude}\n${script.python}` })
          : await sandbox.run(['node', '-'], { ...options, stdin: script.node });
    return { ran };
  } catch (thrown) {
    if (thrown instanceof PatchfleetError) return { died: thrown.code };
    throw thrown;
  }
}

/** How long something is held at most, ms. */
const holdMs = 60_000;

/**
 * Runs a script in Python that calls `hold()` when it has what it is for, and meanwhile does something else. The sandbox
 * may end before: then nothing is held any more, and it is done all the same.
 */
export async function whileItHolds<T>(
  holder: {
    readonly sandbox: Sandbox;
    readonly script: string;
    readonly env: Readonly<Record<string, string>>;
  },
  use: () => Promise<T>,
): Promise<{ held: Ran; used: T }> {
  const { sandbox, script, env } = holder;
  const signal = AbortSignal.timeout(holdMs);
  let over = false;
  const running = runScript(sandbox, { python: script }, { env, wallMs: holdMs }).finally(() => {
    over = true;
  });
  running.catch(() => {});
  const holds = () =>
    sandbox.read('holding', { signal }).then(
      () => true,
      () => over,
    );
  await until('something is held', holds, { limitMs: holdMs, everyMs: 20 });
  const used = await use();
  if (!over) await sandbox.write('enough', '', { signal }).catch(() => {});
  const held = await running;
  for (const name of ['holding', 'enough']) await sandbox.remove(name, { signal }).catch(() => {});
  return { held, used };
}

/** What a script says came of it: one thing that got through is an escape, whatever was stopped beside it. */
export function verdictOf({ stdout, stderr, exitCode, signal }: RunResult): Finding {
  const lines = [...stdout.matchAll(/^(contained|escaped|untried): (.*)$/gm)];
  const said = (word: string) => lines.findLast((line) => line[1] === word)?.[2];
  const [got, untried, stopped] = [said('escaped'), said('untried'), said('contained')];
  if (got !== undefined) return escaped(got);
  if (untried !== undefined) return inconclusive(untried);
  if (stopped !== undefined) return contained(stopped);
  const end = signal ?? `exit code ${exitCode}`;
  return inconclusive(`it ended (${end}) without a word: ${`${stdout}\n${stderr}`.trim().slice(-300)}`);
}

/**
 * An attack by a script that says itself what came of it, by a line `contained: HOW`, `escaped: WHAT` or
 * `untried: WHY`. It finds the canaries of the host in its environment (`CANARY_FILE`, `CANARY_FIRED`). `after`
 * looks from outside whether that is so; it says what it found against it.
 */
export function probe(
  name: string,
  tries: string,
  script: Script,
  after: (stage: Stage, sandbox: Sandbox) => Promise<string | null> = async () => null,
): Attack {
  return {
    name,
    tries,
    async run(stage) {
      const sandbox = await stage.target();
      const env = {
        ...{ CANARY_FILE: stage.canary.file, CANARY_FIRED: stage.canary.fired },
        ...{ SNAPSHOT: stage.snapshot, RUNTIME: stage.runtime },
      };
      const outcome = await runScript(sandbox, script, { env });
      if ('died' in outcome) return inconclusive(`the sandbox ended meanwhile: ${outcome.died}`);
      if (outcome.ran.stdout.includes(stage.canary.secret))
        return escaped('it printed the secret of the host');
      const against = await after(stage, sandbox);
      return against === null ? verdictOf(outcome.ran) : escaped(against);
    },
  };
}
