import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PatchfleetError } from '../../domain/failure.ts';
import { closedGit } from '../bases/mirror-reader.ts';
import { TooMuch } from './directory.ts';

export interface Ignored {
  /**
   * For each path (relative; a directory ends with `/`) whether the snapshot's `.gitignore` files name it. Throws
   * {@link TooMuch}.
   */
  isIgnored(paths: readonly Buffer[]): Promise<boolean[]>;
  end(): void;
}

/** Answer of `check-ignore --verbose -z`: source, line, pattern, path. */
const fieldsPerPath = 4;
/**
 * Patterns may be built so that git never comes to an end with them: its CPU time is bounded, which a busy machine takes
 * nothing of. No core is left in the snapshot.
 */
const bounded = 'ulimit -c 0; ulimit -S -t "$0"; exec git "$@"';
const tooLong = 'it takes too long to tell which of the names that were made `.gitignore` means';
/** Before every path, so that none begins with the `:` of git's pathspec magic. */
const here = Buffer.from('./');

/**
 * Asks git about names, by one process that is started when it is first needed. It sees the snapshot, which the
 * host wrote from a commit; the workspace that the agent wrote is never shown to it. A snapshot without its
 * repository ignores nothing. `cpuSeconds`: what it may take in all.
 */
export function createIgnored(snapshot: string, cpuSeconds: number, signal: AbortSignal): Ignored {
  const gitDir = join(snapshot, '.git');
  if (!existsSync(gitDir)) {
    return { isIgnored: async (paths) => paths.map(() => false), end: () => {} };
  }
  let ask: ((paths: readonly Buffer[]) => Promise<boolean[]>) | null = null;
  let stop = () => {};

  const start = () => {
    const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.excludesFile=/dev/null'];
    const child = spawn(
      'sh',
      [
        ...['-c', bounded, String(cpuSeconds)],
        ...[`--git-dir=${gitDir}`, `--work-tree=${snapshot}`],
        ...settings.flatMap((setting) => ['-c', setting]),
        ...['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'],
      ],
      { cwd: snapshot, env: closedGit.env, stdio: ['pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' },
    );
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < 2000) complaint += text;
    });
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('close', (_, killed) => {
        if (killed === 'SIGXCPU') reject(new TooMuch(tooLong));
        reject(new PatchfleetError('git_failed', `git check-ignore ended: ${complaint.slice(0, 1000)}`));
      });
    });
    failed.catch(() => {});
    // A broken pipe shows as the end of the process.
    child.stdin.on('error', () => {});
    const answers = fields(child.stdout);
    stop = () => {
      child.kill('SIGKILL');
    };
    return async (paths: readonly Buffer[]) => {
      child.stdin.write(Buffer.concat(paths.flatMap((path) => [here, path, Buffer.from([0])])));
      const read = async () => {
        const flags: boolean[] = [];
        for (const path of paths) {
          const [, , pattern = '', about = ''] = await answers(fieldsPerPath);
          if (about !== `${here}${path.toString('latin1')}`)
            throw new PatchfleetError('git_failed', 'git check-ignore');
          flags.push(pattern !== '' && !pattern.startsWith('!'));
        }
        return flags;
      };
      try {
        return await Promise.race([read(), failed]);
      } catch (thrown) {
        signal.throwIfAborted();
        throw thrown;
      }
    };
  };
  return {
    isIgnored: (paths) => {
      ask ??= start();
      return ask(paths);
    },
    end: () => stop(),
  };
}

/** Reads fields that end with NUL, as latin1, a given number at a time. */
function fields(source: AsyncIterable<Buffer>): (count: number) => Promise<string[]> {
  const chunks = source[Symbol.asyncIterator]();
  const held: string[] = [];
  let rest = '';
  return async (count) => {
    while (held.length < count) {
      const next = await chunks.next();
      // The process has ended: whoever waits is told by its end.
      if (next.done) return await new Promise<never>(() => {});
      const parts = (rest + next.value.toString('latin1')).split('\0');
      rest = parts.pop() ?? '';
      held.push(...parts);
    }
    return held.splice(0, count);
  };
}
