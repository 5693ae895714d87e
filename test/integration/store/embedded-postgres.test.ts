import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../../src/store/embedded-postgres.ts';
import { isRunning } from '../../../src/store/processes.ts';

const dirs: string[] = [];
afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

async function newDir(name = 'patchfleet-test-'): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), name));
  await chmod(dir, 0o755);
  dirs.push(dir);
  return dir;
}

const open = (dataDir: string): Promise<OpenDatabase> =>
  openDatabase({ url: undefined, dataDir, onError: () => {} });
const serverPid = async (dataDir: string) =>
  Number((await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0]);
describe('the embedded Postgres', () => {
  it('is shared by all who open it, and stopped by the last who leaves', async () => {
    const dir = await newDir();
    const [first, second, third] = await Promise.all([open(dir), open(dir), open(dir)]);
    const pid = await serverPid(dir);
    await first.close();
    await third.close();
    expect((await second.pool.query('select count(*)::int as n from tasks')).rows).toEqual([{ n: 0 }]);
    expect(await isRunning(pid)).toBe(true);
    await second.close();
    expect(await isRunning(pid)).toBe(false);
  });

  it('goes on for one who joined and has not asked anything yet', async () => {
    const dir = await newDir();
    const first = await startEmbeddedPostgres(dir, { stay: true });
    const second = await startEmbeddedPostgres(dir, { stay: true });
    const pid = await serverPid(dir);
    await first.release();
    expect(await isRunning(pid)).toBe(true);
    await second.release();
    expect(await isRunning(pid)).toBe(false);
  });

  it('outlives a process that is killed, and keeps what was committed', async () => {
    const dir = await newDir();
    const script = `
      import { openDatabase } from ${JSON.stringify(new URL('../../../src/store/database.ts', import.meta.url).href)};
      const database = await openDatabase({ url: undefined, dataDir: ${JSON.stringify(dir)}, onError: () => {} });
      await database.pool.query("insert into audit (id, actor, action, subject) values (gen_random_uuid(), 'a', 'b', 'c')");
      console.log('stored');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const pid = await serverPid(dir);
    expect(await isRunning(pid)).toBe(true);
    const database = await open(dir);
    expect(await serverPid(dir)).toBe(pid);
    expect((await database.pool.query('select actor from audit')).rows).toEqual([{ actor: 'a' }]);
    // Once the server has seen that the connections of the killed one are gone: they count as somebody who is here.
    const others = `select 1 from pg_stat_activity
      where backend_type = 'client backend' and application_name <> current_setting('application_name')`;
    await expect.poll(async () => (await database.pool.query(others)).rowCount).toBe(0);
    await database.close();
    // It was nobody's child by then, and is somebody else's to bury.
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('starts again over the files of a server that was killed itself', async () => {
    const dir = await newDir();
    const first = await open(dir);
    process.kill(await serverPid(dir), 'SIGKILL');
    await first.pool.end().catch(() => {});
    const again = await open(dir);
    expect((await again.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await again.close();
  });

  it('starts once what a killed server left has gone', async () => {
    const dir = await newDir();
    const first = await open(dir);
    const pid = await serverPid(dir);
    const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    const left = Number(children.split('\n')[0]);
    // Stopped, it does not see that its server is gone, and holds on to the memory of both.
    process.kill(left, 'SIGSTOP');
    process.kill(pid, 'SIGKILL');
    await first.pool.end().catch(() => {});
    const again = open(dir);
    const log = () => readFile(join(dir, 'postgres/log'), 'utf8');
    await expect.poll(log).toContain('shared memory block');
    process.kill(left, 'SIGKILL');
    const database = await again;
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  it('that is down already is not stopped by a pid file that names another process by now', async () => {
    const dir = await newDir();
    const database = await open(dir);
    const pid = await serverPid(dir);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      await writeFile(join(dir, 'postgres/cluster/postmaster.pid'), `${stranger.pid}\n`);
      await database.close();
      expect(stranger.signalCode).toBeNull();
      expect(await isRunning(stranger.pid ?? 0)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('does not mind a data directory too deep for a socket, and listens on no network', async () => {
    const dir = join(await newDir(), 'd'.repeat(60), 'e'.repeat(60));
    const database = await open(dir);
    expect((await database.pool.query('show listen_addresses')).rows).toEqual([{ listen_addresses: '' }]);
    const { rows } = await database.pool.query<{ dir: string }>(
      "select current_setting('unix_socket_directories') as dir",
    );
    const socketDir = rows[0]?.dir ?? '';
    expect((await stat(socketDir)).mode & 0o077).toBe(0);
    await database.close();
    await expect(stat(socketDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(process.getuid?.() === 0)(
    'says what to do when the directory cannot be reached by its user',
    async () => {
      const dir = await newDir();
      await chmod(dir, 0o700);
      await expect(open(join(dir, 'data'))).rejects.toThrow(
        /cannot be reached by the user Postgres runs as.*choose/,
      );
    },
  );
});
