import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { containerSpec } from '../../../src/sandbox/container/container-spec.ts';
import { emptyDirectory, type Stage } from './stage.ts';

/** What people do without Patchfleet's sandboxes, by the engine's API: the command line of docker is slower still. */

/**
 * `docker run` of a container as hard as a sandbox, with a program in place of the tool server: made, attached,
 * started, waited for. Milliseconds until its end; removing it is not counted.
 */
export async function coldRun(stage: Stage, argv: readonly string[]): Promise<number> {
  const { engine, config, instance, worker, user } = stage;
  const dir = await emptyDirectory(join(stage.home, 'empty'));
  const name = `patchfleet-bench-${randomBytes(6).toString('hex')}`;
  const identity = { instance, worker, name, workspace: { kind: 'bind', dir } as const, user };
  const hardened = containerSpec(config, {}, identity);
  const begin = performance.now();
  const container = await engine.requests.createContainer({
    ...hardened,
    ...{ Entrypoint: [...argv], Cmd: [], AttachStdin: false, OpenStdin: false, StdinOnce: false },
  });
  try {
    const attached = await engine.streams
      .getContainer(container.id)
      .attach({ stream: true, stdout: true, stderr: true });
    attached.resume();
    await container.start();
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number };
    const ms = performance.now() - begin;
    if (code !== 0) throw new Error(`${argv[0] ?? ''} ended with ${code} in a container`);
    return ms;
  } finally {
    await container.remove({ force: true });
  }
}

/** `docker exec` in a running container, with its output. Milliseconds until the engine says how it ended. */
export async function execRun(
  { engine }: Stage,
  containerId: string,
  argv: readonly string[],
): Promise<number> {
  const begin = performance.now();
  const exec = await engine.requests.getContainer(containerId).exec({
    Cmd: [...argv],
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await engine.streams.getExec(exec.id).start({ hijack: true, stdin: false });
  let bytes = 0;
  stream.on('data', (part: Buffer) => {
    bytes += part.length;
  });
  await once(stream, 'end');
  const { ExitCode: code } = await exec.inspect();
  const ms = performance.now() - begin;
  if (code !== 0 || bytes === 0) throw new Error(`${argv[0] ?? ''} gave ${bytes} bytes and ${String(code)}`);
  return ms;
}
