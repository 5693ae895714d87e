import { readPatch } from '../../../src/merging/read-patch.ts';
import type { HarvestEntry, Sandbox } from '../../../src/sandbox/port.ts';
import { type Attack, contained, escaped, type Family, type Finding } from '../attack.ts';
import { runScript, type Script } from '../probes.ts';
import { limits, type Stage } from '../stage.ts';

const python = String.raw;

/** How long reading a workspace may take, whatever lies there, ms: what hangs would wait for ever. */
const readMs = 60_000;

/** Something planted in a workspace, to be read with all the others by one harvest. */
interface Trick {
  readonly name: string;
  readonly tries: string;
  /** Runs in a directory of its own, `x/NAME`, which is `paths` by default. */
  readonly plant: Script;
  /** Other paths that it touches. */
  readonly paths?: readonly string[];
  /** Paths below its directory that may be taken, with their contents: honest files. */
  readonly honest?: Readonly<Record<string, string>>;
  /** It may be that nothing comes of it: it could not even be planted, or git would not see it. */
  readonly mayVanish?: boolean;
}

const hostile = '#!/bin/sh\\ntouch "$CANARY_FIRED/$0"\\n';

const tricks: readonly Trick[] = [
  {
    name: 'symlink to a file',
    tries: 'to have a file of the host read',
    plant: { sh: 'ln -s "$CANARY_FILE" out; ln -s /etc/shadow shadow; ln -s /proc/self/environ environ' },
  },
  {
    name: 'symlink to a directory',
    tries: 'to have a directory of the host walked',
    plant: { sh: 'ln -s "$(dirname "$CANARY_FILE")" out; ln -s / root; ln -s ../../../../../../../.. up' },
  },
  {
    name: 'symlink over a file',
    tries: 'to have what stood in a file replaced by a file of the host',
    plant: { sh: 'cd ../..; ln -sfn "$CANARY_FILE" src/inner/b.ts' },
    paths: ['src/inner/b.ts'],
  },
  {
    name: 'symlink retargeted',
    tries: 'to turn a symlink of the repository',
    plant: { sh: 'cd ../..; ln -sfn "$CANARY_FILE" link' },
    paths: ['link'],
  },
  {
    name: 'symlink for a directory',
    tries: 'to have files of a directory read elsewhere',
    plant: { sh: 'cd ../..; rm -r lib/swapped; ln -s "$(dirname "$CANARY_FILE")" lib/swapped' },
    paths: ['lib/swapped'],
  },
  {
    name: 'symlink in a race',
    tries: 'to swap a directory for a symlink while it is read',
    plant: {
      sh: `mkdir real; echo honest > real/secret; cp -r real swap
(trap '' TERM HUP; while :; do rm -rf swap; ln -s "$(dirname "$CANARY_FILE")" swap; rm swap; cp -r real swap; done) > /dev/null 2>&1 &
sleep 0.3`,
    },
    honest: { 'real/secret': 'honest\n', 'swap/secret': 'honest\n' },
    mayVanish: true,
  },
  {
    name: 'symlink loop',
    tries: 'to have the reader walk for ever',
    plant: { sh: 'ln -s . self; ln -s b a; ln -s a b' },
  },
  {
    name: 'hard link',
    tries: 'to give one file two names',
    plant: { sh: 'echo x > one; ln one two' },
  },
  {
    name: 'hard link out',
    tries: 'to have a second name for a file that is not its own',
    plant: {
      sh: 'ln /etc/passwd passwd; ln /opt/patchfleet/tool-server.js server; ln /proc/self/exe exe; true',
    },
    mayVanish: true,
  },
  {
    name: 'FIFO',
    tries: 'to have the reader wait for ever',
    plant: { sh: 'mkfifo main.ts; mkfifo .gitattributes; mkfifo package.json' },
  },
  {
    name: 'FIFO over a file',
    tries: 'to have the reader wait at a file that it knows',
    plant: { sh: 'cd ../..; rm lib/c.ts; mkfifo lib/c.ts' },
    paths: ['lib/c.ts'],
  },
  {
    name: 'socket',
    tries: 'to have the reader connect',
    plant: { python: python`s = socket.socket(socket.AF_UNIX); s.bind('socket.ts')` },
  },
  {
    name: 'device',
    tries: 'to have the reader open a device',
    plant: { sh: 'mknod null c 1 3; mknod disk b 8 0; mknod memory c 1 1; true' },
    mayVanish: true,
  },
  {
    name: 'forged deletion',
    tries: 'to have a layer say that a file of the base is gone',
    plant: { sh: 'mknod a.ts c 0 0; mknod ../../lib/forged.ts c 0 0; touch .wh.a.ts .wh..wh..opq; true' },
    honest: { '.wh.a.ts': '', '.wh..wh..opq': '' },
    mayVanish: true,
  },
  {
    name: 'forged layer attributes',
    tries: 'to have a layer say what only the kernel may say of it',
    plant: {
      python: python`
os.makedirs('dir'); open('dir/file', 'w').write('x'); open('meta', 'w').write('real')
for path in ('.', 'dir', 'dir/file', 'meta', '../../src', '../../lib'):
    for name in ('overlay.opaque', 'overlay.redirect', 'overlay.metacopy', 'overlay.whiteout', 'overlay.origin'):
        for space in ('user.', 'trusted.', 'user.overlay.'):
            for value in (b'y', b'/etc', os.environ['CANARY_FILE'].encode()):
                try: os.setxattr(path, space + name, value)
                except OSError: pass`,
    },
    honest: { 'dir/file': 'x', meta: 'real' },
  },
  {
    name: 'set-uid file',
    tries: 'to bring a program with the rights of its owner',
    plant: {
      sh: 'cp /usr/bin/id uid; chmod 4755 uid; cp uid gid; chmod 2755 gid; echo s > sticky; chmod 1644 sticky',
    },
  },
  {
    name: 'line breaks in names',
    tries: 'to have one name taken for two, or for a command',
    plant: {
      python: python`
os.makedirs('a\nsrc'); os.makedirs('c\r\n.git')
for name in ('a\nsrc/b.ts', 'c\r\n.git/config', 'd\x1b]0;owned\x07', 'e\x7f', 'f\n'): open(name, 'w').write('x')`,
    },
  },
  {
    name: 'names that are no text',
    tries: 'to confuse whoever reads names',
    plant: {
      python: python`
for name in (b'bad\xff', b'\xc0\xae\xc0\xae', b'half\xe2\x80'): open(name, 'w').write('x')`,
    },
  },
  {
    name: 'names that climb',
    tries: 'to be written elsewhere by whoever checks it out',
    plant: {
      sh: `touch '..\\..\\evil' 'C:\\evil' '..%2f..%2fevil' '... ' 2>/dev/null; mkdir -p 'dir\\..\\..' && touch 'dir\\..\\..\\x'; true`,
    },
    // A name as good as any on what GitHub serves: the scope is what holds it.
    honest: { '..%2f..%2fevil': '', '... ': '', '..\\..\\evil': '', 'C:\\evil': '', 'dir\\..\\..\\x': '' },
  },
  {
    name: 'planted repository',
    tries: 'to have git on the host read a configuration that runs programs',
    plant: {
      sh: `git init -q nested; cd nested; git config core.fsmonitor "touch $CANARY_FIRED/fsmonitor"
git config filter.evil.clean "touch $CANARY_FIRED/clean"; git config filter.evil.smudge "touch $CANARY_FIRED/smudge"; git config core.sshCommand "touch $CANARY_FIRED/ssh"
printf '#!/bin/sh\\ntouch %s/hook\\n' "$CANARY_FIRED" > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change; echo '* filter=evil' > .gitattributes`,
    },
    honest: { 'nested/.gitattributes': '* filter=evil\n' },
  },
  {
    name: 'repository at the root',
    tries: 'to have git on the host read the workspace’s own .git',
    plant: {
      sh: `cd ../..; rm -rf .git; git init -q .; git config core.fsmonitor "touch $CANARY_FIRED/fsmonitor"; git config filter.evil.clean "touch $CANARY_FIRED/clean"
mkdir -p .git/hooks .git/info; for h in pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman; do printf '#!/bin/sh\\ntouch %s/%s\\n' "$CANARY_FIRED" $h > .git/hooks/$h; chmod +x .git/hooks/$h; done
echo '* filter=evil' > .git/info/attributes; echo "$CANARY_FILE" > .git/objects/info/alternates`,
    },
    mayVanish: true,
  },
  {
    name: 'repository by another name',
    tries: 'to plant a repository on those whose disks do not tell names apart',
    plant: {
      python: python`
for i, name in enumerate(('.GIT', '.Git', '.git ', '.git.', 'git~1', '.g\u200cit', '.git::$INDEX_ALLOCATION', 'GIT~1')):
    os.makedirs('in-%d/%s' % (i, name))
    open('in-%d/%s/config' % (i, name), 'w').write('[core]\nfsmonitor = touch ' + os.environ['CANARY_FIRED'] + '/name\n')`,
    },
  },
  {
    name: 'gitfile',
    tries: 'to point git to a repository elsewhere',
    plant: { sh: 'mkdir sub; echo "gitdir: $(dirname "$CANARY_FILE")" > sub/.git' },
  },
  {
    name: 'attributes',
    tries: 'to have contents changed by filters on their way',
    plant: {
      sh: `cd ../..; printf '* filter=evil ident text eol=crlf working-tree-encoding=UTF-16\\n' > .gitattributes; printf 'a\\r\\n$Id$\\n' > x/attributes/file`,
    },
    paths: ['.gitattributes'],
    honest: { file: 'a\r\n$Id$\n' },
  },
  {
    name: 'modules',
    tries: 'to have a repository of its choice fetched',
    plant: {
      sh: `cd ../..; printf '[submodule "m"]\\npath = m\\nurl = ext::touch %s/ext\\n' "$CANARY_FIRED" > .gitmodules; echo x > module/file`,
    },
    paths: ['module'],
  },
  {
    name: 'large file',
    tries: 'to have the worker read more than it has memory for',
    plant: { sh: 'truncate -s 90M sparse' },
  },
  {
    name: 'deep tree',
    tries: 'to have the reader fall over a path that is too long',
    plant: {
      python: python`
for _ in range(300):
    os.mkdir('deeper-and-deeper'); os.chdir('deeper-and-deeper')
open('end', 'w').write('x')`,
    },
    mayVanish: true,
  },
  {
    name: 'closed files',
    tries: 'to stop the reader by modes',
    plant: { sh: 'echo 1 > file; mkdir dir; echo 2 > dir/inside; chmod 0 file dir/inside dir' },
    honest: { file: '1\n', 'dir/inside': '2\n' },
  },
  {
    name: 'file for a directory',
    tries: 'to confuse the reader about what stood there',
    plant: {
      sh: 'cd ../..; rm -rf test; echo file > test; rm -f AGENTS.md; mkdir AGENTS.md; ln -s "$CANARY_FILE" AGENTS.md/link',
    },
    paths: ['test', 'AGENTS.md'],
    honest: {},
  },
  {
    name: 'hooks and tasks',
    tries: 'to have tools of the host run what it wrote',
    plant: {
      sh: `mkdir -p .husky .vscode node_modules/.bin; for f in .husky/pre-commit .envrc node_modules/.bin/git node_modules/.bin/cp node_modules/.bin/chmod node_modules/.bin/rm; do printf '${hostile}' > $f; chmod +x $f; done`,
    },
    mayVanish: true,
  },
];

interface Reading {
  /** Why a trick could not be planted, by its name. */
  readonly unplanted: ReadonlyMap<string, string>;
  readonly entries: readonly HarvestEntry[];
  /** What {@link readPatch} made of all of it: a patch, or none. */
  readonly patched: boolean;
}

/** All tricks in one workspace, read once for each stage. */
const readings = new WeakMap<Stage, Promise<Reading>>();

/** Plants all but those that ended a sandbox before; that is noted, and the rest is planted in another. */
async function plantAll(stage: Stage, unplanted: Map<string, string>): Promise<Sandbox> {
  const sandbox = await stage.fresh();
  const { canary } = stage;
  const env = { CANARY_FILE: canary.file, CANARY_FIRED: canary.fired, RUNTIME: stage.runtime };
  for (const { name, plant } of tricks) {
    if (unplanted.has(name)) continue;
    const dir = `x/${slug(name)}`;
    await runScript(sandbox, { sh: `mkdir -p ${dir}` });
    const outcome = await runScript(sandbox, within(dir, plant), { env });
    if ('died' in outcome) {
      await sandbox.close();
      unplanted.set(name, `it ended its own sandbox while it was planted (${outcome.died})`);
      return await plantAll(stage, unplanted);
    }
    if (outcome.ran.exitCode !== 0) unplanted.set(name, outcome.ran.stderr.trim().slice(-200));
  }
  return sandbox;
}

async function readAll(stage: Stage): Promise<Reading> {
  const unplanted = new Map<string, string>();
  const sandbox = await plantAll(stage, unplanted);
  const signal = AbortSignal.timeout(readMs);
  const entries = await sandbox.harvest(signal);
  const policy = {
    ...{ writes: ['**'], treePaths: [], protectedGlobs: [], checkFiles: new Set<string>() },
    ...{ maxEntries: 100_000, maxBytes: 1 << 30 },
  };
  const { patch } = await readPatch(entries, {
    ...{ mirror: stage.setting.mirror, baseCommit: stage.commit, policy, message: 'attack', signal },
  });
  return { unplanted, entries, patched: patch !== null };
}

function within(dir: string, script: Script): Script {
  if ('sh' in script) return { sh: `cd /workspace/${dir}\n${script.sh}` };
  if ('python' in script) return { python: `os.chdir('/workspace/${dir}')\n${script.python}` };
  return { node: `process.chdir('/workspace/${dir}');\n${script.node}` };
}

const slug = (name: string) => name.replaceAll(/[^a-z]+/gi, '-').toLowerCase();

/** Judged by its own paths in the reading: what is taken of them must be honest. */
function trick(one: Trick): Attack {
  return {
    name: one.name,
    tries: one.tries,
    async run(stage): Promise<Finding> {
      const reading = readings.get(stage) ?? readAll(stage);
      readings.set(stage, reading);
      const { unplanted, entries, patched } = await reading;
      const why = unplanted.get(one.name);
      if (why !== undefined) throw new Error(why);
      if (patched) return escaped('with all of it there, a patch was made');
      const home = `x/${slug(one.name)}/`;
      const own = entries.filter(({ path }) =>
        [home, ...(one.paths ?? [])].some(
          (p) => path === p || path.startsWith(p.endsWith('/') ? p : `${p}/`),
        ),
      );
      for (const entry of own) {
        if (entry.kind !== 'file') continue;
        const content = (await entry.read()).toString('utf8');
        if (content.includes(stage.canary.secret)) return escaped(`${entry.path} has the secret of the host`);
        const honest = one.honest?.[entry.path.slice(home.length)];
        if (entry.path.startsWith(home) && honest !== undefined && honest !== content)
          return escaped(`${entry.path} has another content than it was given`);
        if (entry.path.startsWith(home) && honest === undefined && one.mayVanish !== true)
          return escaped(`${entry.path} was taken`);
      }
      const rules = [...new Set(own.flatMap((entry) => (entry.kind === 'refused' ? [entry.rule] : [])))];
      const taken = own.filter(({ kind }) => kind === 'file').length;
      if (rules.length > 0) return contained(`refused: ${rules.join(', ')}`);
      if (taken > 0) return contained('what was taken is as it was written, and nothing was run');
      // gVisor keeps FIFOs and sockets to itself: on the host there is none to be read.
      const kept = stage.runtime === 'runsc' && /^(?:FIFO|socket)/.test(one.name);
      return one.mayVanish === true || kept ? contained('nothing came of it') : escaped('it was not noticed');
    },
  };
}

/** Reading a workspace after an agent: nothing is followed, run, opened or waited for. */
export const extraction: Family = {
  name: 'extraction',
  title: 'what an agent leaves in its workspace',
  attacks: [
    ...tricks.map(trick),
    {
      name: 'many files',
      tries: 'to fill the disk with 20,000 files and have them all read',
      async run(stage) {
        const sandbox = await stage.fresh();
        const outcome = await runScript(sandbox, {
          python: python`
os.makedirs('/workspace/many', exist_ok=True)
for i in range(21000): os.close(os.open('/workspace/many/%d' % i, os.O_CREAT | os.O_WRONLY))
time.sleep(10)`,
        });
        if ('died' in outcome) {
          return outcome.died === 'disk_exhausted'
            ? contained(outcome.died)
            : escaped(`it ended as ${outcome.died}`);
        }
        const entries = await sandbox.harvest(AbortSignal.timeout(readMs));
        await sandbox.close();
        const refused = entries.find((entry) => entry.kind === 'refused' && entry.rule === 'size');
        return refused === undefined ? escaped('all were taken') : contained('refused: size');
      },
    },
    {
      name: 'full workspace',
      tries: 'to fill the disk of the host with files in its workspace',
      async run(stage) {
        const sandbox = await stage.fresh();
        const outcome = await runScript(
          sandbox,
          {
            // Ten times what it may write, in files that are each small enough.
            sh: `for i in $(seq ${(10 * limits.workspace_mib) / 16}); do head -c 16777216 /dev/zero > /workspace/full-$i || break; done; sleep 15`,
          },
          { wallMs: 20_000 },
        );
        await sandbox.close();
        if ('died' in outcome)
          return outcome.died === 'disk_exhausted' ? contained(outcome.died) : escaped(outcome.died);
        return escaped('nothing stopped it');
      },
    },
    {
      name: 'files without names',
      tries: 'to fill the disk with a file that is removed and still open',
      async run(stage) {
        const sandbox = await stage.fresh();
        const outcome = await runScript(sandbox, {
          python: python`
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = open('/workspace/gone', 'wb', buffering=0); os.unlink('/workspace/gone')
written = 0
try:
    while written < 1 << 31: written += f.write(b'x' * (1 << 20))
    say('escaped', 'it met no bound')
except OSError as e: say('contained', 'one file ends at %d MiB: %s' % (written >> 20, errno.errorcode[e.errno]))`,
        });
        await sandbox.close();
        if ('died' in outcome) return contained(outcome.died);
        return outcome.ran.stdout.includes('contained')
          ? contained(outcome.ran.stdout.trim().slice('contained: '.length))
          : escaped('it met no bound');
      },
    },
  ],
};
