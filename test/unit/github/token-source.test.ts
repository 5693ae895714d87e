import { describe, expect, it } from 'vitest';
import { createTokenSource, type TokenRequest } from '../../../src/github/token-source.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

function sourceAt() {
  const clock = { now: start };
  const asked: TokenRequest[] = [];
  const failures: Error[] = [];
  const tokens = createTokenSource(
    async (request) => {
      asked.push(request);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return { token: `token-${asked.length}`, expires_at: new Date(clock.now + 3_600_000).toISOString() };
    },
    () => clock.now,
  );
  return { clock, asked, failures, tokens };
}

describe('installation tokens', () => {
  it('are kept until five minutes before they end', async () => {
    const { clock, tokens } = sourceAt();
    const given = [await tokens.forInstallation(1)];
    clock.now = start + 55 * 60_000 - 1;
    given.push(await tokens.forInstallation(1));
    clock.now = start + 55 * 60_000;
    given.push(await tokens.forInstallation(1));
    expect(given).toEqual(['token-1', 'token-1', 'token-2']);
  });

  it('are asked for once by those who want one at the same time', async () => {
    const { asked, tokens } = sourceAt();
    const given = await Promise.all([1, 1, 2].map((id) => tokens.forInstallation(id)));
    expect([given, asked.length]).toEqual([['token-1', 'token-1', 'token-2'], 2]);
  });

  it('for reading are narrowed to one repository and its contents', async () => {
    const { asked, tokens } = sourceAt();
    await tokens.forReading({ installationId: 1, id: 7, owner: 'o', name: 'n' });
    expect(asked).toEqual([
      { installation_id: 1, repository_ids: [7], permissions: { contents: 'read', metadata: 'read' } },
    ]);
  });

  it('are asked for again after a failure, and after one was refused', async () => {
    const { failures, tokens } = sourceAt();
    failures.push(new Error('no'));
    await expect(tokens.forInstallation(1)).rejects.toThrow('no');
    const second = await tokens.forInstallation(1);
    tokens.forget('another');
    const same = await tokens.forInstallation(1);
    tokens.forget(second);
    expect([second, same, await tokens.forInstallation(1)]).toEqual(['token-2', 'token-2', 'token-3']);
  });
});
