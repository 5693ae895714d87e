import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFindingCollector } from '../../../src/agents/collect-findings.ts';
import { runTool } from '../../../src/agents/run-tool.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createLocalSandbox({
    'src/long.txt': Array.from({ length: 1000 }, (_, index) => `line ${index + 1}\n`).join(''),
    'src/wide.txt': 'x'.repeat(100_000),
    'src/short.txt': 'one\ntwo',
  });
});
afterAll(() => sandbox.close());

type Call = Parameters<typeof runTool>[0];
function run(call: Call, over: Partial<Parameters<typeof runTool>[1]> = {}) {
  return runTool(call, {
    sandbox,
    collector: createFindingCollector([], new Map()),
    signal: new AbortController().signal,
    onProgress: () => {},
    idleMs: 60_000,
    ...over,
  });
}

describe('the tools of the model agent', () => {
  it.each<[string, Call, string | RegExp]>([
    [
      'list a directory',
      { name: 'list_files', arguments: { path: './src' } },
      'long.txt (8893 bytes)\nshort.txt (7 bytes)\nwide.txt (100000 bytes)',
    ],
    ['list the root', { name: 'list_files', arguments: {} }, 'src/'],
    [
      'read a file with its numbers',
      { name: 'read_file', arguments: { path: 'src/short.txt' } },
      '     1|one\n     2|two',
    ],
    [
      'read a part and say of what',
      { name: 'read_file', arguments: { path: 'src/long.txt', start_line: 7, end_line: 8 } },
      '     7|line 7\n     8|line 8\n[lines 7-8 of 1000]',
    ],
    [
      'read no more than some hundred lines',
      { name: 'read_file', arguments: { path: 'src/long.txt' } },
      /\[lines 1-400 of 1000\]$/,
    ],
    [
      'say when there are no such lines',
      { name: 'read_file', arguments: { path: 'src/short.txt', start_line: 9 } },
      '(no such lines: the file has 2)',
    ],
    [
      'cut a long output in the middle',
      { name: 'read_file', arguments: { path: 'src/wide.txt' } },
      /x\n\[\.\.\. \d+ characters left out \.\.\.\]\nx/,
    ],
    [
      'name a file that is not there',
      { name: 'read_file', arguments: { path: 'none' } },
      'error: none: no such file or directory',
    ],
    [
      'stay in the workspace',
      { name: 'read_file', arguments: { path: '../../etc/passwd' } },
      /^error: .*"\.\."/,
    ],
    [
      'stay in the workspace with absolute paths',
      { name: 'list_files', arguments: { path: '/etc' } },
      /^error: .*relative/,
    ],
    [
      'run a program without a shell',
      { name: 'run_command', arguments: { argv: ['printf', '%s', '$HOME;'], cwd: 'src' } },
      'exit code 0\nstdout:\n$HOME;',
    ],
    [
      'give exit code and standard error',
      { name: 'run_command', arguments: { argv: ['sh', '-c', 'echo no >&2; exit 3'] } },
      'exit code 3\nstderr:\nno\n',
    ],
    [
      'name a program that is not there',
      { name: 'run_command', arguments: { argv: ['no-such-program'] } },
      /^error: it could not be started/,
    ],
  ])('%s', async (_, call, output) => {
    const text = await run(call);
    if (typeof output === 'string') expect(text).toBe(output);
    else expect(text).toMatch(output);
    expect(text.length).toBeLessThan(17_000);
  });

  it('say that memory ran out, and what to do about it', async () => {
    const small: Sandbox = {
      ...sandbox,
      run: async (argv, options) => ({
        ...(await sandbox.run(argv, options)),
        ...{ outOfMemory: true, peakMemoryBytes: 256 * 1024 * 1024 },
      }),
    };
    const call: Call = { name: 'run_command', arguments: { argv: ['sh', '-c', 'kill -9 $$'] } };
    expect(await run(call, { sandbox: small })).toBe(
      'ended by SIGKILL\n[out of memory: the sandbox used up its memory of 256 MiB and the kernel killed a process. Run less at once: one test file instead of all, fewer workers, a smaller heap.]',
    );
  });

  it('run nothing that cannot work here, but where the sandbox may reach outside', async () => {
    const call: Call = { name: 'run_command', arguments: { argv: ['curl', 'http://patchfleet.invalid/'] } };
    const asked: string[] = [];
    const watched: Sandbox = {
      ...sandbox,
      run: (argv, options) => {
        asked.push(argv.join(' '));
        return sandbox.run(['true'], options);
      },
    };
    expect(await run(call, { sandbox: watched })).toMatch(/^error: not run: there is no network/);
    expect(asked).toEqual([]);
    expect(await run(call, { sandbox: { ...watched, online: true } })).toBe('exit code 0');
    expect(asked).toEqual(['curl http://patchfleet.invalid/']);
  });

  it('do not hide from the worker that the sandbox is gone', async () => {
    const gone = new PatchfleetError('sandbox_died', 'out of memory');
    const dead = { ...sandbox, read: () => Promise.reject(gone) };
    const call: Call = { name: 'read_file', arguments: { path: 'src/short.txt' } };
    await expect(run(call, { sandbox: dead })).rejects.toBe(gone);
  });

  it('stop when the attempt is aborted', async () => {
    const controller = new AbortController();
    const work = run(
      { name: 'run_command', arguments: { argv: ['sleep', '30'] } },
      { signal: controller.signal },
    );
    controller.abort(new Error('cancelled'));
    await expect(work).rejects.toThrow('cancelled');
  });
});
