import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { visit, visitors } from '../../../src/sandbox/visitor.ts';

const home = mkdtempSync(join(tmpdir(), 'patchfleet-visitors-'));
const dir = join(home, 'visitors');
afterAll(() => rm(home, { recursive: true, force: true }));

it('a visitor is about while it works, whatever the time, and leaves nothing', async () => {
  expect([...(await visitors(dir))]).toEqual([]);
  const names = await visit(dir, (first) =>
    visit(dir, async (second) => {
      expect([...(await visitors(dir))].toSorted()).toEqual([first, second].toSorted());
      return [first, second];
    }),
  );
  expect(names).toEqual([
    expect.stringMatching(/^visitor-[0-9a-f]{16}$/),
    expect.stringMatching(/^visitor-[0-9a-f]{16}$/),
  ]);
  await expect(visit(dir, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(readdirSync(dir)).toEqual([]);
});

it('one that is killed is about no more, and what it left is removed', async () => {
  const module = new URL('../../../src/sandbox/visitor.ts', import.meta.url).href;
  const script = `
    import { visit } from ${JSON.stringify(module)};
    await visit(${JSON.stringify(dir)}, (name) => {
      console.log(name);
      return new Promise((resolve) => setTimeout(resolve, 600_000));
    });`;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  expect([...(await visitors(dir))]).toEqual([String(said).trim()]);
  child.kill('SIGKILL');
  await expect.poll(async () => [...(await visitors(dir))]).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
});
