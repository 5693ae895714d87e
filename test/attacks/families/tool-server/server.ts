import { type Attack, contained, escaped } from '../../attack.ts';
import { runScript } from '../../probes.ts';
import { lie, noticeMs } from './lying.ts';

const python = String.raw;

/** The server itself: killed, held, led astray. */
export const server: readonly Attack[] = [
  lie(
    'killed',
    'to have the attempt hang or pass by killing the tool server',
    python`os.kill(pid, signal.SIGKILL); time.sleep(30)`,
  ),
  lie(
    'its init killed',
    'to end the first process of the sandbox',
    python`
os.kill(1, signal.SIGKILL); os.kill(1, signal.SIGTERM); time.sleep(1)`,
  ),
  {
    name: 'silent',
    tries: 'to hold the worker for ever by never answering',
    async run(stage) {
      const sandbox = await stage.fresh(4000);
      const outcome = await runScript(sandbox, {
        python: python`os.kill(tool_server(), signal.SIGSTOP); time.sleep(60)`,
      });
      await sandbox.close();
      return 'died' in outcome && outcome.died === 'wall_limit'
        ? contained(`the attempt ends as ${outcome.died}`)
        : escaped('it did not end at its limit');
    },
  },
  {
    name: 'cancelled and silent',
    tries: 'to hold a worker that wants to stop',
    async run(stage) {
      const sandbox = await stage.fresh();
      const stop = new AbortController();
      const running = sandbox.run(['sh', '-c', 'kill -STOP $PPID; sleep 60'], {
        signal: stop.signal,
        wallMs: 60_000,
      });
      setTimeout(() => stop.abort(new Error('superseded')), 1000);
      const said = await running.then(
        () => 'it answered',
        (thrown: unknown) => String(thrown),
      );
      await sandbox.close();
      return said.includes('superseded') ? contained('the worker lets go at once') : escaped(said);
    },
  },
  {
    name: 'paths out of the workspace',
    tries: 'to have the tools that write follow its symlinks',
    async run(stage) {
      const sandbox = await stage.fresh();
      try {
        await runScript(sandbox, {
          sh: 'ln -s / /workspace/out; ln -s /scratch/victim /workspace/victim.txt; mkdir -p /scratch; echo x > /scratch/victim',
        });
        const signal = AbortSignal.timeout(noticeMs);
        const done: string[] = [];
        for (const path of [
          'out/scratch/victim',
          '../etc/x',
          '/etc/x',
          'victim.txt',
          'out/tmp/x',
          'a/../../tmp/x',
        ]) {
          await sandbox.write(path, 'owned', { signal }).then(
            () => done.push(path),
            () => {},
          );
        }
        const { stdout } = await sandbox.run(['cat', '/scratch/victim'], { signal, wallMs: noticeMs });
        return done.length === 0 && stdout === 'x\n'
          ? contained('refused by name')
          : escaped(done.join(', '));
      } finally {
        await sandbox.close();
      }
    },
  },
];
