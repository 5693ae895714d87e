import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPatch } from '../../../src/merging/read-patch.ts';
import { harvestLimits, harvestWorkspace } from '../../../src/sandbox/harvest/harvest.ts';
import type { HarvestEntry } from '../../../src/sandbox/port.ts';
import type { TreeFile } from '../mirror/build-repository.ts';
import { createSetting, type Setting } from '../sandbox/docker-setting.ts';
import { createPatchSetting, never, type PatchSetting, treeByGit } from './patch-setting.ts';

let setting: PatchSetting;
let sandboxes: Setting;
let commit: string;
let snapshot: string;
const files: TreeFile[] = [
  { path: 'a.txt', content: 'one\n' },
  { path: 'b.txt', content: 'two\n' },
  { path: 'src/main.ts', content: 'main\n' },
  { path: 'src/link', mode: '120000', content: 'main.ts' },
  { path: 'old/x.txt', content: 'x\n' },
  { path: 'module', mode: '160000', content: '1'.repeat(40) },
  { path: Buffer.from([0x6f, 0x64, 0x64, 0xff]), content: 'odd\n' },
  { path: '.gitignore', content: 'node_modules/\n*.log\n!keep.log\n' },
  { path: 'lib/.gitignore', content: '/out\n' },
];
beforeAll(async () => {
  setting = await createPatchSetting();
  sandboxes = createSetting();
  [commit = ''] = setting.commits(files);
  snapshot = await setting.snapshot(commit);
});
afterAll(async () => {
  await sandboxes.end();
  await setting.end();
});

const policy = {
  writes: ['**'],
  treePaths: [],
  protectedGlobs: [],
  checkFiles: new Set<string>(),
  maxEntries: 100,
  maxBytes: 1 << 20,
};
const shown = (harvest: readonly HarvestEntry[]) =>
  harvest.map((entry) => [entry.kind === 'refused' ? entry.rule : entry.kind, entry.path]);

describe('what an agent plants', () => {
  it('is refused by name, runs nothing and hangs nothing, and there is no patch', async () => {
    const request = { taskId: 'task', attemptId: 'attempt', snapshot, wallMs: 600_000 };
    const sandbox = await sandboxes.sandboxes.acquire(request, never);
    // On the host the path of the canary means a place that root could write.
    const canary = join(setting.home, 'canary');
    const script = `
      set -e
      plant() { git -C "$1" config core.fsmonitor "touch ${canary}" &&
        git -C "$1" config filter.evil.clean "touch ${canary}; cat" &&
        git -C "$1" config filter.evil.process "touch ${canary}"; }
      git init -q nested && plant nested && echo x > nested/file
      mkdir -p deep/er && git init -q deep/er/.GIT && echo 'gitdir: /etc' > src/.git
      git init -q . ; plant . ; mkdir -p .git/hooks ; printf '#!/bin/sh\\ntouch ${canary}\\n' > .git/hooks/post-index-change
      chmod +x .git/hooks/post-index-change
      printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes
      printf 'two!\\n' > b.txt
      ln -s /etc/passwd passwd ; ln -s /proc/self/environ environ ; ln -s .. up
      ln -sfn /etc/shadow src/link
      mkfifo fifo ; rm a.txt ; mkfifo a.txt
      node -e 'const s = require("net").createServer(); s.listen("socket", () => process.kill(process.pid, "SIGKILL"))' || true
      echo linked > one ; ln one two
      echo 1 > setuid ; chmod 4755 setuid
      mkdir 'git~1' && echo 1 > 'git~1/x' ; echo 1 > '.git ' ; echo 1 > "$(printf '.g\\342\\200\\214it')"
      printf 1 > "$(printf 'bad\\377')" ; printf 1 > "$(printf 'odd\\377')"
      echo 1 > 'new
line'
      truncate -s 3G sparse
      echo 1 > module/file
      mkdir locked && echo 1 > locked/inside && chmod 0 locked/inside locked
      rm -r old && echo file > old
    `;
    const ran = await sandbox.run(['sh', '-c', script], { signal: never, wallMs: 60_000 });
    expect(ran).toMatchObject({ exitCode: 0 });
    const harvest = await sandbox.harvest(never);
    expect(shown(harvest)).toEqual([
      ['path', '.git '],
      ['file', '.gitattributes'],
      ['path', '.g\\u200cit'],
      ['special_file', 'a.txt'],
      ['file', 'b.txt'],
      ['path', 'bad\\xff'],
      ['path', 'deep/er/.GIT'],
      ['symlink', 'environ'],
      ['special_file', 'fifo'],
      ['path', 'git~1'],
      ['file', 'locked/inside'],
      ['submodule', 'module/file'],
      ['git_directory', 'nested/.git'],
      ['file', 'nested/file'],
      ['path', 'new\\u000aline'],
      ['path', 'odd\\xff'],
      ['file', 'old'],
      ['deleted', 'old/x.txt'],
      ['hard_link', 'one'],
      ['symlink', 'passwd'],
      ['mode', 'setuid'],
      ['special_file', 'socket'],
      ['size', 'sparse'],
      ['git_directory', 'src/.git'],
      ['symlink', 'src/link'],
      ['hard_link', 'two'],
      ['symlink', 'up'],
    ]);
    const { mirror } = setting;
    const read = await readPatch(harvest, {
      mirror,
      baseCommit: commit,
      policy,
      message: 'made',
      signal: never,
    });
    expect(read.patch).toBe(null);
    expect(new Set(read.refusals.map(({ rule }) => rule))).toEqual(
      new Set([
        ...['path', 'special_file', 'symlink', 'submodule', 'git_directory', 'hard_link', 'mode', 'size'],
      ]),
    );
    await sandbox.close();
    expect(existsSync(canary)).toBe(false);
  });

  it('is refused where it is a device', async () => {
    const workspace = await setting.workspace(snapshot);
    try {
      execFileSync('mknod', [join(workspace, 'null'), 'c', '1', '3']);
    } catch {
      // Only root makes devices; an agent cannot.
      return;
    }
    expect(await harvestWorkspace({ workspace, snapshot }, never)).toEqual([
      { kind: 'refused', path: 'null', rule: 'special_file', reason: 'is a device' },
    ]);
  });
});

describe('reading a workspace', () => {
  it('finds nothing where nothing was changed, and makes no patch', async () => {
    const workspace = await setting.workspace(snapshot);
    const harvest = await harvestWorkspace({ workspace, snapshot }, never);
    const options = { mirror: setting.mirror, baseCommit: commit, policy, message: 'made', signal: never };
    expect(await readPatch(harvest, options)).toEqual({ patch: null, refusals: [] });
  });

  it('is not fooled by a time and a size that stayed the same', async () => {
    const workspace = await setting.workspace(snapshot);
    writeFileSync(join(workspace, 'a.txt'), 'One\n');
    utimesSync(join(workspace, 'a.txt'), new Date(0), new Date(0));
    utimesSync(join(workspace, 'b.txt'), new Date(0), new Date(0));
    const harvest = await harvestWorkspace({ workspace, snapshot }, never);
    expect(shown(harvest)).toEqual([['file', 'a.txt']]);
    const tree = await setting.mirror.writeTree(commit, [
      { path: 'a.txt', file: { mode: '100644', content: Buffer.from('One\n') } },
    ]);
    const options = { mirror: setting.mirror, baseCommit: commit, policy, message: 'made', signal: never };
    expect((await readPatch(harvest, options)).patch).toMatchObject({ baseCommit: commit, tree });
  });

  it('leaves out new files that the commit says are ignored, however many, whatever the agent says', async () => {
    const workspace = await setting.workspace(snapshot);
    mkdirSync(join(workspace, 'node_modules/x/.git'), { recursive: true });
    for (let index = 0; index < 50; index += 1) writeFileSync(join(workspace, `node_modules/x/${index}`), '');
    mkdirSync(join(workspace, 'lib/out'), { recursive: true });
    writeFileSync(join(workspace, 'lib/out/file'), '');
    writeFileSync(join(workspace, 'lib/lib.ts'), '');
    writeFileSync(join(workspace, 'debug.log'), '');
    writeFileSync(join(workspace, 'keep.log'), '');
    writeFileSync(join(workspace, '.gitignore'), 'node_modules/\n*.log\nsecret\n');
    writeFileSync(join(workspace, 'secret'), '');
    const harvest = await harvestWorkspace({ workspace, snapshot }, never, { ...harvestLimits, entries: 10 });
    expect(shown(harvest)).toEqual([
      ['file', '.gitignore'],
      ['file', 'keep.log'],
      ['file', 'lib/lib.ts'],
      ['file', 'secret'],
    ]);
  });

  it('is bounded in what its names cost, where patterns are built to match for ever', async () => {
    const evil = `${'**/a/'.repeat(20)}b`;
    const [trap = ''] = setting.commits([{ path: '.gitignore', content: `${evil}\n` }]);
    const base = await setting.snapshot(trap);
    const workspace = await setting.workspace(base);
    mkdirSync(join(workspace, 'a/'.repeat(300), 'c'), { recursive: true });
    const limits = { ...harvestLimits, ignoreSeconds: 1 };
    expect(await harvestWorkspace({ workspace, snapshot: base }, never, limits)).toEqual([
      {
        ...{ kind: 'refused', path: '.', rule: 'size' },
        reason: 'it takes too long to tell which of the names that were made `.gitignore` means',
      },
    ]);
    expect(readdirSync(base).toSorted()).toEqual(['.git', '.gitignore']);
  });

  it('is bounded in files, bytes and depth', async () => {
    const workspace = await setting.workspace(snapshot);
    mkdirSync(join(workspace, 'many'));
    for (let index = 0; index < 60; index += 1) writeFileSync(join(workspace, 'many', `${index}`), 'x');
    const limits = { ...harvestLimits, fileBytes: 10, totalBytes: 40, entries: 50 };
    const rules = async (more: object) =>
      shown(await harvestWorkspace({ workspace, snapshot }, never, { ...limits, ...more })).filter(
        ([rule]) => rule !== 'file',
      );
    expect(await rules({})).toEqual([['size', '.']]);
    expect(await rules({ entries: 100 })).toEqual([['size', '.']]);
    expect(await rules({ entries: 100, totalBytes: 60 })).toEqual([]);
    writeFileSync(join(workspace, 'big'), '');
    truncateSync(join(workspace, 'big'), 11);
    expect(await rules({ entries: 100, totalBytes: 60 })).toEqual([['size', 'big']]);
    const dig = `cd many && for i in $(seq 1 40); do d=${'d'.repeat(200)}; mkdir $d && cd -P $d 2>/dev/null || break; done; true`;
    execFileSync('sh', ['-c', dig], { cwd: workspace, stdio: 'ignore' });
    expect((await rules({ entries: 200, totalBytes: 60 })).map(([rule]) => rule)).toEqual(['size', 'path']);
  });

  it('goes by content where files were renamed in case, linked or became executable', async () => {
    const workspace = await setting.workspace(snapshot);
    execFileSync('sh', ['-c', 'mv src SRC; chmod +x b.txt; rm old/x.txt; mkdir a; rmdir module'], {
      cwd: workspace,
    });
    linkSync(join(workspace, 'a.txt'), join(workspace, '..', 'elsewhere'));
    const harvest = await harvestWorkspace({ workspace, snapshot }, never);
    expect(shown(harvest)).toEqual([
      ['symlink', 'SRC/link'],
      ['file', 'SRC/main.ts'],
      ['file', 'b.txt'],
      ['deleted', 'old/x.txt'],
      ['deleted', 'src/link'],
      ['deleted', 'src/main.ts'],
    ]);
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    stop.abort(new Error('superseded'));
    const harvest = harvestWorkspace({ workspace: await setting.workspace(snapshot), snapshot }, stop.signal);
    await expect(harvest).rejects.toThrow('superseded');
  });
});

it('directories in the place of a symlink are refused by name, however deep', async () => {
  const workspace = await setting.workspace(snapshot);
  unlinkSync(join(workspace, 'src/link'));
  mkdirSync(join(workspace, 'src/link/deep/deeper'), { recursive: true });
  writeFileSync(join(workspace, 'src/link/deep/deeper/x.log'), 'x\n');
  const harvest = await harvestWorkspace({ workspace, snapshot }, never);
  expect(shown(harvest)).toEqual([
    ['deleted', 'src/link'],
    ['file', 'src/link/deep/deeper/x.log'],
  ]);
  const options = { mirror: setting.mirror, baseCommit: commit, policy, message: 'made', signal: never };
  const { patch, refusals } = await readPatch(harvest, options);
  expect(patch).toBeNull();
  expect(refusals.map(({ rule, path }) => [rule, path])).toEqual([['symlink', 'src/link']]);
});

it('attributes in the tree change nothing of what is written', async () => {
  const [base = ''] = setting.commits([
    { path: '.gitattributes', content: '* text eol=crlf ident filter=lfs working-tree-encoding=UTF-16\n' },
    { path: 'f.txt', content: '$Id$\r\n' },
  ]);
  const before = await setting.snapshot(base);
  const workspace = await setting.workspace(before);
  writeFileSync(join(workspace, 'f.txt'), '$Id: 1 $\r\nmixed\n');
  const { patch } = await readPatch(await harvestWorkspace({ workspace, snapshot: before }, never), {
    mirror: setting.mirror,
    baseCommit: base,
    policy,
    message: 'made',
    signal: never,
  });
  expect(patch?.tree).toBe(treeByGit(setting.mirror.dir, setting.home, workspace));
});
