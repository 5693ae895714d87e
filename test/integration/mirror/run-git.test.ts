import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runGit } from '../../../src/github/run-git.ts';
import { initBare } from './build-repository.ts';

let dir: string;
let gitDir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'patchfleet-git-'));
  gitDir = join(dir, 'r.git');
  initBare(gitDir);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

describe('runGit', () => {
  it('sees no configuration of the user or the machine, and no variable of ours', async () => {
    writeFileSync(
      join(dir, '.gitconfig'),
      '[core]\n\tpager = touch x\n[url "http://evil/"]\n\tinsteadOf = http\n',
    );
    for (const [name, value] of [
      ['HOME', dir],
      ['GIT_CONFIG_GLOBAL', join(dir, '.gitconfig')],
      ['GIT_CONFIG_COUNT', '1'],
      ['GIT_CONFIG_KEY_0', 'alias.x'],
      ['GIT_CONFIG_VALUE_0', '!touch x'],
      ['GIT_EXTERNAL_DIFF', 'touch'],
    ] as const) {
      vi.stubEnv(name, value);
    }
    const { stdout } = await runGit(['config', '--list', '--show-scope', '--name-only'], { gitDir });
    const scopes = stdout
      .toString()
      .trim()
      .split('\n')
      .map((entry) => entry.split('\t')[0]);
    expect(new Set(scopes)).toEqual(new Set(['local', 'command']));
    expect(stdout.toString()).not.toMatch(/alias|insteadof|pager/);
  });

  it.each([
    ['a helper program', (at: string) => `ext::sh -c touch% ${at}`],
    ['a local path', (at: string) => at],
    ['ssh', () => 'ssh://127.0.0.1:1/x'],
  ])('fetches from no %s', async (_, url) => {
    const touched = join(dir, 'touched');
    await expect(runGit(['fetch', url(touched)], { gitDir })).rejects.toMatchObject({ code: 'git_failed' });
    expect(existsSync(touched)).toBe(false);
  });

  it('stops a command that writes too much, with the code its caller chose', async () => {
    const input = Buffer.alloc(200_000, 'x\n');
    const { stdout } = await runGit(['hash-object', '-w', '--stdin'], { gitDir, input });
    const blob = stdout.toString().trim();
    const read = (maxBytes: number) =>
      runGit(['cat-file', 'blob', blob], { gitDir, maxBytes, tooLarge: 'diff_too_large' });
    expect((await read(200_000)).stdout).toEqual(input);
    await expect(read(199_999)).rejects.toMatchObject({ code: 'diff_too_large' });
  });

  it('stops a command that takes too long, with all it started', async () => {
    const nap = runGit(['-c', 'alias.nap=!sleep 30; true', 'nap'], { gitDir, timeoutMs: 100 });
    await expect(nap).rejects.toMatchObject({
      code: 'git_failed',
      detail: expect.stringContaining('took more than 100 ms'),
    });
  });

  it('does not start when it is cancelled already', async () => {
    await expect(runGit(['version'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('tells what git said, with credentials taken out', async () => {
    const error = await runGit(['fetch', 'http://user:secret@127.0.0.1:1/x.git'], {
      gitDir,
      httpHeader: { url: 'http://127.0.0.1:1/', value: 'Authorization: Basic c2VjcmV0' },
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'git_failed', detail: expect.stringContaining('127.0.0.1') });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/secret|c2VjcmV0/);
  });
});
