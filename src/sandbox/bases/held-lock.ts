import { once } from 'node:events';
import { execa } from 'execa';
import { hostCommand } from '../host-command.ts';

/**
 * Runs `work` while this process holds a lock on a file (made if missing, never removed), which processes of one machine
 * share. The kernel keeps it: a helper process has it as long as its input is open, so the lock of a worker that was
 * killed is free at once.
 */
export async function withHeldLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const holder = execa('flock', ['--exclusive', path, 'sh', '-c', 'echo held; exec cat'], {
    ...hostCommand,
    stdin: 'pipe',
    buffer: false,
    reject: false,
  });
  const give = async () => {
    holder.stdin.end();
    await holder;
  };
  const stop = () => {
    holder.stdin.destroy();
    holder.kill('SIGKILL');
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    // Its one word, or its end.
    const ended = await Promise.race([once(holder.stdout, 'data').then(() => null), holder]);
    signal.throwIfAborted();
    if (ended !== null) throw new Error(`flock ${path} ended with ${ended.exitCode}`);
  } catch (thrown) {
    stop();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  try {
    return await work();
  } finally {
    await give();
  }
}
