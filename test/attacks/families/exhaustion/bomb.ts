import { until } from '../../../support/app/until.ts';
import { type Attack, contained, escaped, type Finding } from '../../attack.ts';
import { processesOf } from '../../host.ts';
import { runScript, type Script } from '../../probes.ts';
import { limits, type Stage } from '../../stage.ts';

const python = String.raw;

/** Processes of a runtime's own beside those of the sandbox. */
const beside = (runtime: string) => (runtime === 'runsc' ? 130 : 0);

/**
 * How a bomb shows that it went off and what it came to: text that it prints, or
 * - `time`: it was killed at its limit; `cut`: it printed more than is kept;
 * - `memory`: killed for want of it, alone or with its sandbox; `crash`: it was ended by a signal of its own making;
 * - `its sandbox`: it ended that.
 */
type Met = RegExp | 'time' | 'cut' | 'memory' | 'crash' | 'its sandbox';

interface Bomb {
  /** One of them must be so: else it was not tried. Text that says `no bound` is an escape. */
  readonly met: readonly Met[];
  /** Looks for what it should not have come to; says what it found. */
  readonly after?: (stage: Stage, sandboxDied: boolean) => Promise<string | null>;
  /** What it takes stays with its sandbox when it has ended: nothing else is tried there. */
  readonly spoils?: boolean;
}

/**
 * Goes off in the attacker's sandbox, while the neighbour is asked. It may be stopped by its bound, killed at its
 * time, or end its own sandbox; in each case the neighbour and the host must not notice.
 */
export function bomb(name: string, tries: string, script: Script, options: Bomb): Attack {
  return {
    name,
    tries,
    async run(stage): Promise<Finding> {
      const sandbox = await stage.target();
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, processesOf(sandbox.containerId));
      }, 50);
      try {
        const running = runScript(sandbox, script, {
          // Little for what goes on until that is over, else far more than it takes.
          wallMs: options.met.includes('time') ? 2000 : 60_000,
          env: { RUNTIME: stage.runtime },
        });
        running.catch(() => {});
        const noticed = await stage.askNeighbour();
        const outcome = await running;
        if (noticed !== null) return escaped(`while it ran, ${noticed}`);
        if (most > limits.pids + beside(stage.runtime))
          return escaped(`the host had ${most} processes of it`);
        const against = await options.after?.(stage, 'died' in outcome);
        if (against) return escaped(against);
        const died = 'died' in outcome ? outcome.died : null;
        const ran = 'ran' in outcome ? outcome.ran : null;
        const said = `${ran?.stdout ?? ''}\n${ran?.stderr ?? ''}`;
        if (said.length > 200_000) return escaped('more of its output was kept than may be');
        if (said.includes('no bound')) return escaped('it met no bound');
        const is = {
          time: ran?.timedOut === true && 'killed at its limit',
          cut: ran?.isMaxBuffer === true && 'its output was cut',
          memory:
            (died === 'memory_exhausted' && 'its sandbox ran out of memory') ||
            (ran?.outOfMemory === true && 'killed for want of memory'),
          crash: ran !== null && ran.signal !== null && !ran.timedOut && `ended by ${ran.signal}`,
          'its sandbox': died !== null && `it ended its own sandbox alone (${died})`,
        };
        const hows = options.met.map((one) =>
          typeof one === 'string' ? is[one] : (one.exec(said)?.[0].slice(0, 200) ?? false),
        );
        const how = hows.find((one) => one !== false);
        if (how !== undefined) return contained(how);
        throw new Error(`it did not meet its bound: ${died ?? said.trim().slice(-300)}`);
      } finally {
        clearInterval(watch);
        if (options.spoils === true) await sandbox.close();
      }
    },
  };
}

/** How long what was killed may take to be gone, ms. */
const goneMs = 30_000;

/** No process of the attack stays in its sandbox, if that is still there. */
export async function nothingLeft(stage: Stage, died: boolean): Promise<string | null> {
  if (died) return null;
  const sandbox = await stage.target();
  let left = '';
  const look = python`
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid(), tool_server())]
names = [open('/proc/' + p + '/stat').read() for p in others]
print(len([n for n in names if ') Z ' not in n]))`;
  const isAlone = async () => {
    const outcome = await runScript(sandbox, { python: look });
    if ('died' in outcome) return true;
    left = `processes were left: ${outcome.ran.stdout} ${outcome.ran.stderr}`;
    return outcome.ran.stdout.trim() === '0';
  };
  return await until('it is alone', isAlone, { limitMs: goneMs }).then(
    () => null,
    () => left,
  );
}
