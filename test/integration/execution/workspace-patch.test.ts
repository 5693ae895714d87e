import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putWorkspacePatch, takeWorkspacePatch } from '../../../src/execution/workspace-patch.ts';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, type Setting, never as signal } from '../sandbox/docker-setting.ts';
import { bareRepository, commitOf, git } from '../sandbox/git-trees.ts';

let setting: Setting;
let snapshot: string;
let tree: string;
const bytes = randomBytes(3000);
beforeAll(async () => {
  setting = createSetting();
  const mirrorDir = bareRepository(setting.home, 'mirror.git');
  const files: [string, string, string | Buffer][] = [
    ['100644', '.gitattributes', '* text=auto eol=crlf ident filter=lfs\n*.dat -diff\n'],
    ['100644', '.gitignore', 'build/\n'],
    ['100644', 'crlf.txt', 'a\r\nb\r\n'],
    ['100644', 'ident.txt', '$Id$\nline\n'],
    ['100644', 'some.dat', bytes],
    ['100644', 'old.txt', 'stays\n'.repeat(50)],
    ['100644', 'gone.txt', 'gone soon\n'],
    ['100755', 'tool.sh', '#!/bin/sh\n'],
    ['100644', 'ü ber/[id].txt', 'text without an end'],
    ['120000', 'link', 'old.txt'],
    ['160000', 'module', ''],
  ];
  const commit = commitOf(
    mirrorDir,
    files.map(([mode, path, content]) => ({
      mode: mode as '100644',
      path: Buffer.from(path),
      content: Buffer.from(content),
    })),
  );
  tree = git(mirrorDir, ['rev-parse', `${commit}^{tree}`])
    .toString()
    .trim();
  const snapshots = createSnapshots({ dir: join(setting.home, 'snapshots') });
  snapshot = await snapshots.ensure({ id: 1, mirrorDir }, commit, signal);
});
afterAll(() => setting.end());

async function inSandbox<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const request = { taskId: 'task', attemptId: crypto.randomUUID(), snapshot, wallMs: 1_200_000 };
  const sandbox = await setting.sandboxes.acquire(request, signal);
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

const sh = async (sandbox: Sandbox, script: string) => {
  const result = await sandbox.run(['sh', '-ec', script], { signal, wallMs: 120_000 });
  expect(result).toMatchObject({ exitCode: 0 });
  return result.stdout;
};

async function take(sandbox: Sandbox): Promise<Uint8Array> {
  const taken = await takeWorkspacePatch(sandbox, tree, signal);
  if ('unkept' in taken) throw new Error(taken.unkept);
  return taken.patch;
}

/** Everything below the root but `.git`: kind, mode and content. */
const state = (sandbox: Sandbox) =>
  sh(
    sandbox,
    `find . -path ./.git -prune -o \\( -type f -o -type l \\) -printf '%y %M %p %l\\n' | sort;
     find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort`,
  );

describe('the patch of a workspace', () => {
  const everything = `
    printf 'c\\r\\n' >> crlf.txt; printf '$Id: 7$\\nmore\\n' > ident.txt
    head -c 5000 /dev/urandom > some.dat; head -c 300 /dev/zero > new.bin
    mv old.txt moved.txt; ln -sf moved.txt link; rm gone.txt
    chmod -x tool.sh; printf 'x' > 'ü ber/[id].txt'; mkdir -p deep/er; printf '#!/bin/sh\\n' > deep/er/run; chmod +x deep/er/run
    : > empty; mkdir -p build; echo ignored > build/out; printf 'a\\nb\\n' > 'with
newline'`;

  it('brings another sandbox to the same files: binary, CRLF, deleted, renamed, modes, links', async () => {
    const { patch, before } = await inSandbox(async (sandbox) => {
      await sh(sandbox, everything);
      const taken = await take(sandbox);
      await sh(sandbox, 'rm -r build');
      return { patch: taken, before: await state(sandbox) };
    });
    await inSandbox(async (sandbox) => {
      expect(await putWorkspacePatch(sandbox, tree, patch, signal)).toEqual({
        fits: true,
        whole: true,
        problem: null,
      });
      expect(await state(sandbox)).toBe(before);
      // What is taken from there is the same again.
      expect(Buffer.from(await take(sandbox)).equals(patch)).toBe(true);
    });
  });

  it('is empty where nothing was changed, and follows what is changed and changed back', async () => {
    await inSandbox(async (sandbox) => {
      expect(await take(sandbox)).toHaveLength(0);
      await sh(sandbox, 'echo more >> old.txt');
      expect(String(Buffer.from(await take(sandbox)))).toContain('\n+more\n');
      await sh(sandbox, 'git checkout -q old.txt');
      expect(await take(sandbox)).toHaveLength(0);
    });
  });

  it('is what the agent left, whatever it did to its own repository', async () => {
    const { patch, before } = await inSandbox(async (sandbox) => {
      await sh(
        sandbox,
        `echo changed > old.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine
         git config diff.external 'echo forged;:'; git config core.autocrlf true; git config core.fileMode false
         git config filter.lfs.clean 'echo forged;:'; echo '*' > .git/info/exclude; echo '* binary' > "$HOME/attributes"
         git config --global core.attributesFile "$HOME/attributes"; git config --global core.excludesFile /dev/stdin
         echo late > late.txt; chmod +x late.txt; git update-index --assume-unchanged old.txt; rm .git/HEAD`,
      );
      return { patch: await take(sandbox), before: await state(sandbox) };
    });
    expect(String(Buffer.from(patch))).not.toContain('forged');
    await inSandbox(async (sandbox) => {
      await putWorkspacePatch(sandbox, tree, patch, signal);
      expect(await state(sandbox)).toBe(before);
    });
  });

  it('comes in pieces where it is large', async () => {
    const { patch, before } = await inSandbox(async (sandbox) => {
      await sh(sandbox, 'head -c 5500000 /dev/urandom > big.bin');
      return { patch: await take(sandbox), before: await state(sandbox) };
    });
    await inSandbox(async (sandbox) => {
      expect(await putWorkspacePatch(sandbox, tree, patch, signal)).toMatchObject({
        whole: true,
        fits: true,
      });
      expect(await state(sandbox)).toBe(before);
    });
  });

  it('is none where it would be too large, or git cannot make it', async () => {
    await inSandbox(async (sandbox) => {
      await sh(sandbox, 'head -c 9000000 /dev/urandom > big.bin');
      expect(await takeWorkspacePatch(sandbox, tree, signal)).toEqual({
        unkept: expect.stringMatching(/^what was changed has \d{8} bytes$/),
      });
      await sh(sandbox, 'rm big.bin; truncate -s 100M sparse');
      expect(await takeWorkspacePatch(sandbox, tree, signal)).toEqual({
        unkept: expect.stringMatching(/^what was changed has 1\d{8} bytes$/),
      });
      await sh(sandbox, 'rm -rf sparse .git');
      expect(await takeWorkspacePatch(sandbox, tree, signal)).toEqual({ unkept: expect.any(String) });
    });
  });

  it('touches nothing where it does not fit', async () => {
    const patch = await inSandbox(async (sandbox) => {
      await sh(sandbox, 'echo first > a.txt; echo more >> old.txt');
      return take(sandbox);
    });
    await inSandbox(async (sandbox) => {
      await sh(sandbox, 'echo other > old.txt');
      const before = await state(sandbox);
      expect(await putWorkspacePatch(sandbox, tree, patch, signal)).toMatchObject({
        fits: false,
        whole: true,
      });
      expect(await state(sandbox)).toBe(before);
    });
  });
});
