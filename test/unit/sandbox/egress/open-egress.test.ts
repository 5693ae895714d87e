import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EgressOptions, EgressRecord } from '../../../../src/sandbox/egress/egress.ts';
import { createEgress } from '../../../../src/sandbox/egress/open-egress.ts';
import { rule } from '../egress-setting.ts';

let home: string;
const warnings: string[] = [];
const records: EgressRecord[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-egress-'));
  warnings.length = 0;
  records.length = 0;
});
afterEach(() => rmSync(home, { recursive: true }));

const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const audit = async (record: EgressRecord) => void records.push(record);
const log = { warn: (_: object, message: string) => void warnings.push(message) };
const egress = (root: string, options: EgressOptions | undefined = { audit }) =>
  createEgress({ root, worker: 'tester', user, log, options });

it('has a socket that its user alone may use, however long the path, and removes it', async () => {
  const root = join(home, 'x'.repeat(100), 'y'.repeat(100));
  const all = egress(root);
  const way = await all.open('box', [rule('a.test', 443)]);
  const directory = way?.directory ?? '';
  const socket = join(directory, 'egress.sock');
  const { mode, uid } = statSync(directory);
  expect([mode & 0o777, uid, statSync(socket).mode & 0o777]).toEqual([0o700, user.uid, 0o600]);
  const found = await all.all();
  expect(found).toEqual([{ id: expect.stringMatching(/^tester@/), worker: 'tester' }]);
  expect(found.map(({ id }) => all.isMine(id))).toEqual([true]);

  const near = join(home, 'near');
  symlinkSync(directory, near);
  const client = connect(join(near, 'egress.sock'));
  client.write('CONNECT b.test:443 HTTP/1.0\r\n\r\n');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 403 b\.test:443 may not be reached/);
  await Promise.all([way?.close(), way?.close()]);
  expect(existsSync(directory)).toBe(false);
  expect(await all.all()).toEqual([]);
  expect(found.map(({ id }) => all.isMine(id))).toEqual([false]);
  expect(records.map(({ action }) => action)).toEqual(['egress.refused', 'egress.closed']);
});

it('is none without rules, and fails without a record to keep', async () => {
  expect(await egress(join(home, 'egress')).open('box', [])).toBe(null);
  const unrecorded = createEgress({ root: home, worker: 'tester', user, log, options: undefined });
  await expect(unrecorded.open('box', [rule('a.test', 443)])).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  });
  expect(existsSync(join(home, 'egress'))).toBe(false);
});

it('goes by the stream where no socket can be made', async () => {
  writeFileSync(join(home, 'file'), '');
  const way = await egress(join(home, 'file')).open('box', [rule('a.test', 443)]);
  expect(way?.directory).toBe(null);
  expect(warnings).toEqual(['no socket for the way out of a sandbox; its stream is used']);
  await way?.close();
  const asked = await egress(join(home, 'egress'), { audit, transport: 'stream' }).open('box', [
    rule('a.test', 443),
  ]);
  expect(asked?.directory).toBe(null);
  expect(existsSync(join(home, 'egress'))).toBe(false);
  await asked?.close();
});
