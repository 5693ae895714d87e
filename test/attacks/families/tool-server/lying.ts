import { PatchfleetError } from '../../../../src/domain/failure.ts';
import type { RunResult, Sandbox } from '../../../../src/sandbox/port.ts';
import { type Attack, contained, escaped, type Finding } from '../../attack.ts';
import { runScript, whileItHolds } from '../../probes.ts';

const python = String.raw;

/** How long the worker may take to see what is wrong, ms. */
export const noticeMs = 60_000;

/**
 * Forges what the tool server says: holds it still and writes to its output in its place. `send(obj)` sends a frame,
 * `raw(bytes)` bytes as they are.
 */
export const forging = python`
import json
pid = tool_server()
try: out = os.open('/proc/%d/fd/1' % pid, os.O_WRONLY)
except OSError as e: print('told: its output cannot be opened: ' + errno.errorcode[e.errno] if own_kernel else str(e)); sys.exit(0)
def raw(data):
    while data: data = data[os.write(out, data):]
def send(obj):
    body = json.dumps(obj).encode(); raw(struct.pack('>I', len(body)) + body)
def hold(): os.kill(pid, signal.SIGSTOP)
`;

/** How the sandbox takes it, in the words of the worker. */
export async function askAfter(sandbox: Sandbox): Promise<string> {
  const signal = AbortSignal.timeout(noticeMs);
  try {
    const { stdout } = await sandbox.run(['echo', 'mine'], { signal, wallMs: noticeMs });
    return stdout === 'mine\n' ? 'it goes on as before' : `it says ${JSON.stringify(stdout.slice(0, 100))}`;
  } catch (thrown) {
    if (thrown instanceof PatchfleetError) return `the attempt ends as ${thrown.code}`;
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message.slice(0, 100)}` : String(thrown);
  }
}

const untilTried = 'until [ -e /workspace/tried ]; do sleep 0.1; done';

/** Whether what the worker was answered is what its types say. */
const isResult = ({ exitCode, stdout, stderr }: RunResult) =>
  [typeof stdout, typeof stderr].every((type) => type === 'string') &&
  (exitCode === null || Number.isInteger(exitCode));

/** Lies to the worker: it may believe them of this sandbox alone, or end the attempt. It must not break. */
export function lie(name: string, tries: string, script: string, wallMs = 60_000): Attack {
  return {
    name,
    tries,
    async run(stage): Promise<Finding> {
      const sandbox = await stage.fresh(wallMs);
      try {
        const before = process.memoryUsage().rss;
        const outcome = await runScript(
          sandbox,
          { python: `${forging}\n${script}\nprint('told', flush=True)` },
          { env: { RUNTIME: stage.runtime } },
        );
        if ('ran' in outcome && !isResult(outcome.ran))
          return escaped(`the worker took ${JSON.stringify(outcome.ran).slice(0, 100)} for a result`);
        if ('ran' in outcome && !outcome.ran.stdout.includes('told'))
          throw new Error(
            `it was not told: ${`${outcome.ran.stdout}\n${outcome.ran.stderr}`.trim().slice(-300)}`,
          );
        const took = 'died' in outcome ? `the attempt ends as ${outcome.died}` : await askAfter(sandbox);
        const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
        if (grown > 700) return escaped(`the worker grew by ${Math.round(grown)} MiB`);
        // Whatever it was told, objects of the worker are as they were.
        if (Object.keys(Object.prototype).length > 0 || 'owned' in {})
          return escaped('prototypes were changed');
        return contained(took);
      } finally {
        await sandbox.close();
      }
    },
  };
}

/**
 * A check that fails, by the engine, while a script of the attacker does what it can, `again` and again; `checks()` are
 * its processes. It does not end by itself before the script has called `tried()`.
 * `hurt`: it must be seen to end otherwise than it would.
 */
export function besideCheck(name: string, tries: string, again: string, hurt = false): Attack {
  const script = python`
import json
${forging}
def checks():
    for p in os.listdir('/proc'):
        try:
            if p.isdigit() and b'marked-check' in open('/proc/' + p + '/cmdline', 'rb').read(): yield int(p)
        except OSError: pass
def tried(): open('/workspace/tried', 'w').close()
open('/workspace/holding', 'w').close()
while not os.path.exists('/workspace/enough'):
    time.sleep(0.01)
${again.trim().replaceAll(/^/gm, '    ')}
print('told', flush=True)`;
  return {
    name,
    tries,
    async run(stage) {
      const sandbox = await stage.fresh();
      const signal = AbortSignal.timeout(noticeMs);
      try {
        const { held, used } = await whileItHolds({ sandbox, script, env: { RUNTIME: stage.runtime } }, () =>
          sandbox
            .runByEngine(['sh', '-c', `${untilTried}; exit 7; : marked-check`], { signal, wallMs: noticeMs })
            .then(
              ({ exitCode, timedOut }) => (exitCode === 0 && !timedOut ? 'passed' : `exit code ${exitCode}`),
              (thrown: unknown) => (thrown instanceof PatchfleetError ? thrown.code : String(thrown)),
            ),
        );
        if (used === 'passed') return escaped('it passed');
        if ('ran' in held && !/told|passed/.test(held.ran.stdout))
          throw new Error(held.ran.stderr.slice(-300));
        if (hurt && used === 'exit code 7') throw new Error('it ended as it would have');
        return contained(`the check says ${used}`);
      } finally {
        await sandbox.close();
      }
    },
  };
}
