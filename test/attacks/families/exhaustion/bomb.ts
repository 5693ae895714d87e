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
 * - `processes`: the host counted about as many as its sandbox may have;
 * - `its sandbox`: it ended that.
 */
type Met = RegExp | 'time' | 'cut' | 'memory' | 'crash' | 'processes' | 'its sandbox';

interface Bomb {
  /** One of them must be so: else it was not tried. Text that says `no bound` is an escape. */
  readonly met: readonly Met[];
  /** Time it is given, ms; most go on until it is over. */
  readonly wallMs?: number;
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
          ...{ wallMs: options.wallMs ?? 2000, env: { RUNTIME: stage.runtime } },
        });
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
          processes: most >= limits.pids / 2 && `the host counted ${most} processes`,
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

/** No process of the attack is left in its sandbox, if that is still there. */
export async function nothingLeft(stage: Stage, died: boolean): Promise<string | null> {
  if (died) return null;
  const sandbox = await stage.target();
  const look = python`
others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid(), tool_server())]
names = [open('/proc/' + p + '/stat').read() for p in others]
print(len([n for n in names if ') Z ' not in n]))`;
  const outcome = await runScript(sandbox, { python: look });
  if ('died' in outcome) return null;
  return outcome.ran.stdout.trim() === '0'
    ? null
    : `processes were left: ${outcome.ran.stdout} ${outcome.ran.stderr}`;
}
