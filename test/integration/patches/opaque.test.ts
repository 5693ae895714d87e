import { join } from 'node:path';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { opaqueFlags, readOpaque } from '../../../src/sandbox/harvest/opaque.ts';
import { createOverlaySetting, mayMount, type OverlaySetting } from './overlay-setting.ts';
import { never } from './patch-setting.ts';

describe.runIf(mayMount)('directories of an overlay that hide what lies below', () => {
  let setting: OverlaySetting;
  let upper: string;
  beforeAll(async () => {
    setting = await createOverlaySetting();
    const snapshot = await setting.layer({ 'kept/a': '', 'replaced/a': '', 'kept/replaced/a': '' });
    const workspace = await setting.overlay({ snapshot });
    await setting.act(workspace, [
      { do: 'again', path: 'replaced' },
      { do: 'write', path: 'kept/a', content: 'x' },
      { do: 'again', path: 'kept/replaced' },
    ]);
    upper = join(setting.root, workspace.id, 'upper');
  });
  afterAll(() => setting.end());

  const paths = (...names: string[]) => names.map((name) => Buffer.from(name));

  it('are told, however much tar has to say of them', async () => {
    const once = paths('kept', 'replaced', 'kept/replaced');
    // Of those that hide something it has 1.5 KiB to say, which is more than 100 MB.
    const all = Array.from({ length: 40_000 }, () => once).flat();
    expect(await readOpaque(Buffer.from(upper), all, never)).toEqual(new Set(['replaced', 'kept/replaced']));
  });

  it('are told in whatever pieces the archive comes', async () => {
    const flags = [
      '--create',
      '--file=-',
      '--format=posix',
      '--xattrs',
      '--xattrs-include=user.overlay.opaque',
    ];
    const archived = await execa('tar', [...flags, '--no-recursion', 'kept', 'replaced', 'kept/replaced'], {
      cwd: upper,
      encoding: 'buffer',
    });
    const archive = Buffer.from(archived.stdout);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1 }), async (sizes) => {
        async function* pieces() {
          for (let at = 0, nth = 0; at < archive.length; nth += 1) {
            const size = sizes[nth % sizes.length] ?? 1;
            yield archive.subarray(at, at + size);
            at += size;
          }
        }
        const told: boolean[] = [];
        for await (const flag of opaqueFlags(pieces())) told.push(flag);
        expect(told).toEqual([false, true, true]);
      }),
    );
  });
});
