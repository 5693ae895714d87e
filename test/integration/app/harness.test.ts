import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../../../src/store/processes.ts';
import { connectTo, removeDataDirectory } from '../../support/app/data-directory.ts';
import { startApp, tail } from '../../support/app/start-app.ts';
import { until } from '../../support/app/until.ts';

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'harness-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('the harness', () => {
  it('tells why an app did not start', async () => {
    const started = startApp({ role: 'all', dataDir, env: { APP_ID: 'not a number' } });
    await expect(started).rejects.toThrow(/ended before it was ready[\s\S]*APP_ID[\s\S]*WEBHOOK_SECRET/);
  });

  it('waits for a condition, and tells the state when it does not come', async () => {
    const answers = [null, undefined, false, 'here', 'too late'];
    expect(await until('an answer', () => answers.shift(), { everyMs: 1 })).toBe('here');
    const never = until('never', () => null, { limitMs: 20, everyMs: 5, describe: () => 'the state' });
    await expect(never).rejects.toThrow('never: not within 0.02 s\nthe state');
    const aborted = until('stopped', () => false, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted).rejects.toThrow('enough');
  });

  it('ends the database of an app though somebody is connected for a moment longer', async () => {
    await chmod(dataDir, 0o755);
    const app = join(dataDir, 'app');
    const onlooker = await connectTo(app);
    const pid = Number.parseInt(await readFile(join(app, 'postgres/cluster/postmaster.pid'), 'utf8'), 10);
    const looking = onlooker.query('select pg_sleep(1)').then(() => onlooker.end());
    await Promise.all([removeDataDirectory(app), looking]);
    expect(await isRunning(pid)).toBe(false);
  });

  it('removes what an app never made, without complaint', async () => {
    await removeDataDirectory(join(dataDir, 'missing'));
    expect(tail('a\nb\nc\n', 2)).toBe('b\nc');
  });
});
