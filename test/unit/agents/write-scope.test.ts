import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWriteScope, type WriteScope } from '../../../src/agents/write-scope.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import type { ProtectionOf } from '../../../src/domain/protected-paths.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';

const protection: ProtectionOf = (path) => {
  if (path.startsWith('.github/')) return 'never';
  if (path.includes('test')) return 'tests';
  return path === 'package.json' ? 'checks' : null;
};
const { signal } = new AbortController();

let sandbox: Sandbox;
let scope: WriteScope;
beforeAll(async () => {
  sandbox = await createLocalSandbox({ 'app/[id]/page.ts': '', 'app/i/page.ts': '', 'src/a.ts': '' });
  scope = await openWriteScope(
    ['app/[id]/**', 'src/*.ts', 'docs/', 'new/[x].ts', 'test/named.ts', '.github/**', 'package.json'],
    sandbox,
    signal,
    protection,
  );
});
afterAll(() => sandbox.close());

describe('the scope of a row', () => {
  it.each([
    ['app/[id]/page.ts', 'app/[id]/page.ts'],
    ['app/[id]/deep/.new', 'app/[id]/deep/.new'],
    ['./src//a.ts', 'src/a.ts'],
    ['docs/deep/x.md', 'docs/deep/x.md'],
    ['new/[x].ts', 'new/[x].ts'],
    ['new/x.ts', 'new/x.ts'],
    ['test/named.ts', 'test/named.ts'],
    ['package.json', 'package.json'],
  ])('has %s', (given, path) => {
    expect(scope.require(given)).toBe(path);
  });

  it.each([
    ['app/i/page.ts', 'is outside your scope; you may write: "app/[id]/**", "src/*.ts"'],
    ['src/deep/a.ts', 'is outside your scope'],
    ['src/a.test.ts', 'is one of the tests and your row does not name it'],
    ['.github/workflows/ci.yml', 'is changed by people alone'],
    ['/etc/passwd', 'must be relative'],
    ['src/../../x.ts', '".."'],
    ['docs/.git/config', '.git is no part'],
    ['docs/', 'must name a file'],
    ['.', 'must name a file'],
    ['src/a\0.ts', 'NUL'],
  ])('has not %s, and says why', (given, reason) => {
    expect(() => scope.require(given)).toThrow(reason);
  });

  it('does not hide that the sandbox is gone', async () => {
    const gone = new PatchfleetError('sandbox_died', 'out of memory');
    const dead = { ...sandbox, list: () => Promise.reject(gone) };
    await expect(openWriteScope(['app/[id]/**'], dead, signal, protection)).rejects.toBe(gone);
  });
});
