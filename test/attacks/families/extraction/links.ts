import type { Trick } from './reading.ts';

/** Second names for files, and names for what lies elsewhere. */
export const links: readonly Trick[] = [
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
      sh: 'ln /etc/passwd passwd || true; ln /opt/patchfleet/tool-server.js server || true; ln -L /proc/self/exe exe || true',
    },
    mayVanish: true,
  },
];
