import { expect, it } from 'vitest';
import { startServer } from '../../../src/api/server.ts';

it('is not ready while the database hangs, and says so instead of hanging with it', async () => {
  const server = await startServer({
    receive: async () => ({ status: 202, message: 'stored' }),
    isAlive: () => true,
    whenReady: () => new Promise(() => {}),
    readyTimeoutMs: 20,
    host: '127.0.0.1',
    port: 0,
    onError: () => {},
  });
  try {
    const answer = await fetch(`${server.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'the database does not answer' }]);
  } finally {
    await server.close();
  }
});
