import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RepositoryConfig, repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { SandboxConfig } from '../../../src/config/sandbox-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { takeWorkspacePatch } from '../../../src/execution/workspace-patch.ts';
import type { KindRequest, Sandbox, SandboxKind, SandboxRequest } from '../../../src/sandbox/port.ts';
import { createFailuresInMemory, kindsBelow } from '../../support/sandbox-kinds.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';
import { bareRepository, commitOf, git } from './git-trees.ts';

const signal = never;
/** Some MB of dependencies, of which no two runs bring the same; and everything that a setup should leave alone. */
const script = `
mkdir -p node_modules/dep packages/a/node_modules 'packages/b c/[d]'
head -c 4000000 /dev/urandom > node_modules/dep/data; head -c 16 /dev/urandom | od -An -tx1 > node_modules/dep/id
echo linked > packages/a/node_modules/x; echo built > 'packages/b c/[d]/out'; ln -s a packages/link
echo changed > README; rm gone.txt; rm -r replaced; mkdir replaced; echo mine > replaced/mine
rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit; echo broken > .git/index
mkfifo pipe`;
const setup = { commands: [['sh', '-ec', script]], seconds: 60 };

type Files = Readonly<Record<string, string>>;
const files: Files = {
  'package-lock.json': '{}\n',
  '.gitignore': 'node_modules/\n',
  README: 'read me\n',
  'gone.txt': 'stays\n',
  'replaced/theirs': 'stays too\n',
  'packages/a/index.js': 'one\n',
};

let setting: Setting;
let mirrorDir: string;
beforeAll(() => {
  setting = createSetting();
  mirrorDir = bareRepository(setting.home, 'mirror.git');
});
afterAll(() => setting.end());

const commit = (tree: Files) =>
  commitOf(
    mirrorDir,
    Object.entries(tree).map(([path, content]) => ({
      mode: '100644',
      path: Buffer.from(path),
      content: Buffer.from(content),
    })),
  );

/** A data directory of its own, and how many sandboxes were started and setups done there. */
function createWorker(name: string, config: Partial<SandboxConfig> = {}, own = setting) {
  const dir = join(setting.home, name);
  const counts = { started: 0, prepared: 0 };
  const hooks: { before: ((request: SandboxRequest) => void) | null } = { before: null };
  const failures = createFailuresInMemory();
  const acquire = (request: SandboxRequest, abort: AbortSignal) => {
    counts.started += 1;
    hooks.before?.(request);
    return own.sandboxes.acquire(request, abort);
  };
  const { kinds } = kindsBelow(
    dir,
    { ...own.sandboxes, acquire },
    { config, failures, onSetup: () => (counts.prepared += 1) },
  );
  const ask = (
    head: string,
    change: Partial<Omit<KindRequest, 'config'>> = {},
    asked: object = setup,
  ): KindRequest => ({
    repository: { id: 1, mirrorDir },
    commit: head,
    trusted: head,
    taskId: 'task',
    use: 'agent',
    config: repositoryConfigSchema.parse({ setup: asked }) satisfies RepositoryConfig,
    ...change,
  });
  return { dir, counts, hooks, failures, kinds, ask };
}

async function inSandbox<T>(kind: SandboxKind, use: (sandbox: Sandbox) => Promise<T>, own = setting) {
  const sandbox = await own.sandboxes.acquire(
    { ...kind, taskId: 'task', attemptId: crypto.randomUUID(), wallMs: 600_000 },
    signal,
  );
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}
const sh = async (sandbox: Sandbox, text: string) => {
  const result = await sandbox.run(['sh', '-ec', text], { signal, wallMs: 60_000 });
  expect(result).toMatchObject({ exitCode: 0 });
  return result.stdout;
};

describe.each(['auto', 'copy'] as const)('a setup (workspaces: %s)', (workspaces) => {
  let own: Setting;
  beforeAll(() => {
    own = createSetting({ workspaces });
  });
  afterAll(() => own.end());

  it('is shared by attempts, leaves the files of the repository alone, and is no part of a patch', async () => {
    const worker = createWorker(`shared-${workspaces}`, {}, own);
    const head = commit(files);
    const kinds = await Promise.all(
      Array.from({ length: 6 }, () => worker.kinds.of(worker.ask(head), signal)),
    );
    const [kind] = kinds;
    if (kind?.prepared == null) throw new Error('nothing was prepared');
    expect(new Set(kinds.map(({ prepared }) => prepared))).toEqual(new Set([kind.prepared]));
    expect(worker.counts).toEqual({ started: 1, prepared: 1 });

    const states = await Promise.all(
      [kind, kind].map((one) =>
        inSandbox(
          one,
          async (sandbox) => {
            const id = await sh(sandbox, 'cat node_modules/dep/id');
            // A layer is never written to: what one changes another does not see.
            await sh(sandbox, 'echo other > node_modules/dep/id; rm -r packages/a/node_modules');
            expect(await sh(sandbox, 'cat README gone.txt replaced/theirs packages/link/index.js')).toBe(
              'read me\nstays\nstays too\none\n',
            );
            expect(await sh(sandbox, 'ls -A replaced .git/hooks 2>&1 || true')).not.toContain('evil');
            expect(await sh(sandbox, 'git status --porcelain')).toBe('');
            await sh(sandbox, 'echo two > packages/a/index.js; echo new > new.txt');
            const tree = git(mirrorDir, ['rev-parse', `${head}^{tree}`])
              .toString()
              .trim();
            const taken = await takeWorkspacePatch(sandbox, tree, signal);
            const patch = 'patch' in taken ? Buffer.from(taken.patch).toString() : taken.unkept;
            const harvest = await sandbox.harvest(signal);
            return {
              id,
              patched: [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path),
              harvested: harvest.map(({ kind: what, path }) => `${what} ${path}`),
            };
          },
          own,
        ),
      ),
    );
    const made = ['new.txt', 'packages/a/index.js'];
    expect(states[0]).toEqual({
      id: expect.stringMatching(/^( [0-9a-f]{2}){16}\n$/),
      patched: made,
      harvested: made.map((path) => `file ${path}`),
    });
    expect(states[1]).toEqual(states[0]);
    expect(own.containers()).toEqual([]);
  });
});

describe('prepared dependencies', () => {
  it('are made once however many processes ask, and what a workspace holds of them is nothing', async () => {
    const worker = createWorker('processes');
    const head = commit(files);
    const program = fileURLToPath(new URL('prepare-worker.ts', import.meta.url));
    const args = [setting.instance, worker.dir, mirrorDir, head, JSON.stringify(setup), '3'];
    const others = [execa(process.execPath, [program, ...args]), execa(process.execPath, [program, ...args])];
    const mine = await Promise.all([
      worker.kinds.of(worker.ask(head), signal),
      worker.kinds.of(worker.ask(head), signal),
    ]);
    const theirs = (await Promise.all(others)).map(
      ({ stdout }) => JSON.parse(stdout) as { setups: number; layers: string[] },
    );
    const layers = [...mine.map(({ prepared }) => prepared), ...theirs.flatMap((their) => their.layers)];
    expect(layers).toHaveLength(8);
    expect(new Set(layers).size).toBe(1);
    expect(worker.counts.prepared + theirs.reduce((sum, { setups }) => sum + setups, 0)).toBe(1);

    const [kind] = mine;
    if (kind === undefined) throw new Error('no kind');
    await inSandbox(kind, async (sandbox) => {
      await sh(sandbox, 'test -s node_modules/dep/data');
      const kib = execFileSync('du', ['-sk', '--one-file-system', setting.workspacesDir], {
        encoding: 'utf8',
      });
      expect(Number.parseInt(kib, 10)).toBeLessThan(1000);
    });
  });

  it('are those of an earlier commit where the files that decide are the same, and never hide a file', async () => {
    const worker = createWorker('later');
    const head = commit(files);
    const first = await worker.kinds.of(worker.ask(head), signal);
    const later = commit({ ...files, README: 'read me again\n', 'packages/a/index.js': 'two\n' });
    const second = await worker.kinds.of(worker.ask(later), signal);
    expect(second.prepared).toBe(first.prepared);
    expect(worker.counts.prepared).toBe(1);
    await inSandbox(second, async (sandbox) => {
      expect(await sh(sandbox, 'cat README packages/a/index.js')).toBe('read me again\ntwo\n');
      expect(await sh(sandbox, 'git status --porcelain')).toBe('');
    });

    // Here the commit has what the setup would have written.
    const tracked = commit({ ...files, 'packages/b c/[d]/out': 'of the commit\n' });
    const third = await worker.kinds.of(worker.ask(tracked, { trusted: head }), signal);
    expect(third.prepared).not.toBe(first.prepared);
    await inSandbox(third, async (sandbox) => {
      expect(await sh(sandbox, "cat 'packages/b c/[d]/out'")).toBe('of the commit\n');
      expect(await sh(sandbox, 'git status --porcelain')).toBe('');
    });

    const updated = commit({ ...files, 'package-lock.json': '{"a": 1}\n' });
    // What a pull request wants otherwise is made of its own code, and so for its task alone.
    const fourth = await worker.kinds.of(worker.ask(updated, { trusted: head }), signal);
    expect([first.prepared, third.prepared]).not.toContain(fourth.prepared);
    expect(worker.counts.prepared).toBe(3);
  });

  it('are made anew where they are not as they were made', async () => {
    const worker = createWorker('damaged');
    const head = commit(files);
    const { prepared } = await worker.kinds.of(worker.ask(head), signal);
    execFileSync('sh', [
      '-c',
      'printf x | dd of="$1" conv=notrunc status=none',
      'sh',
      `${prepared}/node_modules/dep/data`,
    ]);
    const again = createWorker('damaged');
    expect(await again.kinds.of(again.ask(head), signal)).toMatchObject({ prepared });
    expect(again.counts.prepared).toBe(1);
    const once = createWorker('damaged');
    await once.kinds.of(once.ask(head), signal);
    expect(once.counts).toEqual({ started: 0, prepared: 0 });
  });
});

describe('a setup that fails', () => {
  const failing = {
    commands: [['true'], ['sh', '-c', 'echo looking; echo "no such package: leftpad" >&2; exit 3']],
  };

  it('fails for all who ask by one run, with the command, how it ended and what it said', async () => {
    const worker = createWorker('failing');
    const head = commit(files);
    const ask = () => worker.kinds.of(worker.ask(head, {}, failing), signal);
    const failed = await Promise.allSettled([ask(), ask(), ask()]);
    const again = await Promise.allSettled([ask()]);
    for (const result of [...failed, ...again]) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'setup_failed',
          detail: `\`sh -c ${failing.commands[1]?.[2]}\` (command 2 of 2) ended with exit code 3. It had no network: \`setup.network.allow\` names nothing it may reach.\nlooking\nno such package: leftpad`,
        },
      });
    }
    expect(worker.counts).toEqual({ started: 1, prepared: 0 });
    const left = readdirSync(join(worker.dir, 'prepared', '1')).filter((name) => !name.startsWith('.lock-'));
    expect(left).toEqual([]);
    expect(setting.containers()).toEqual([]);
  });

  it('is tried again where its sandbox could not be had', async () => {
    const worker = createWorker('transient');
    const head = commit(files);
    worker.hooks.before = () => {
      worker.hooks.before = null;
      throw new PatchfleetError('sandbox_unavailable', 'no room');
    };
    await expect(worker.kinds.of(worker.ask(head), signal)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
    });
    await worker.kinds.of(worker.ask(head), signal);
    expect(worker.counts).toEqual({ started: 2, prepared: 1 });
  });

  it('fails for want of memory for those alone who have no more', async () => {
    const worker = createWorker('memory');
    const head = commit(files);
    worker.hooks.before = ({ memoryMib }) => {
      if (memoryMib === undefined) throw new PatchfleetError('memory_exhausted', 'too little');
    };
    // Who has less asks first, as what starts sandboxes ahead may.
    const less = worker.kinds.of(worker.ask(head), signal).catch(() => {});
    const more = await worker.kinds.of(worker.ask(head, { memoryMib: 512 }), signal);
    await less;
    expect(more).toMatchObject({ prepared: expect.any(String), memoryMib: 512 });
    expect(worker.counts.prepared).toBe(1);
  });

  it('may reach only what the operator allows as well', async () => {
    const worker = createWorker('network', {
      network: { allow: [{ host: 'registry.example', port: 443, private: false }], agents: false },
    });
    const named = { ...setup, network: { allow: ['registry.example', 'elsewhere.example:8080'] } };
    await expect(worker.kinds.of(worker.ask(commit(files), {}, named), signal)).rejects.toMatchObject({
      code: 'config_invalid',
      detail:
        '.github/patchfleet.yml: setup.network.allow: the operator does not allow `elsewhere.example:8080` (allowed: `registry.example:443`)',
    });
    expect(worker.counts.started).toBe(0);
  });
});
