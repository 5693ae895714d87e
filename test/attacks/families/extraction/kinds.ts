import type { Trick } from './reading.ts';

const python = String.raw;

/** Things that are no regular files, or say of themselves what they are not. */
export const kinds: readonly Trick[] = [
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
    plant: { sh: 'mknod null c 1 3 || true; mknod disk b 8 0 || true; mknod memory c 1 1 || true' },
    mayVanish: true,
  },
  {
    name: 'forged deletion',
    tries: 'to have a layer say that a file of the base is gone',
    plant: {
      sh: 'mknod a.ts c 0 0 || true; mknod ../../lib/forged.ts c 0 0 || true; touch .wh.a.ts .wh..wh..opq',
    },
    paths: ['lib/forged.ts'],
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
    honest: { '/test': 'file\n' },
  },
];
