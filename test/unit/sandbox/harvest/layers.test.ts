import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { whileTheyStand } from '../../../../src/sandbox/harvest/layers.ts';

let home: string;
let layers: Buffer[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'patchfleet-layers-'));
  layers = ['one', 'two'].map((name) => Buffer.from(join(home, name)));
  for (const layer of layers) await mkdir(layer);
});
afterEach(() => rm(home, { recursive: true, force: true }));

const moved = {
  code: 'sandbox_died',
  detail: 'what its workspace was made of is gone, or is another now',
};

it('gives what was read over layers that stand', async () => {
  expect(await whileTheyStand(layers, async () => 'read')).toBe('read');
});

it('reads nothing over a layer that is gone', async () => {
  await rename(join(home, 'two'), join(home, 'aside'));
  let read = false;
  const reading = whileTheyStand(layers, async () => {
    read = true;
  });
  await expect(reading).rejects.toMatchObject(moved);
  expect(read).toBe(false);
});

it.each(['gone', 'another'])('believes nothing that was read while a layer went: it is %s', async (now) => {
  const reading = whileTheyStand(layers, async () => {
    await rename(join(home, 'one'), join(home, 'aside'));
    if (now === 'another') await mkdir(join(home, 'one'));
    return 'read';
  });
  await expect(reading).rejects.toMatchObject(moved);
});
