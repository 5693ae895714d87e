import type { Trick } from './reading.ts';

const python = String.raw;

/** Names that are read in two ways. */
export const names: readonly Trick[] = [
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
      sh: `touch '..\\..\\evil' 'C:\\evil' '..%2f..%2fevil' '... '; mkdir -p 'dir\\..\\..'; touch 'dir\\..\\..\\x'`,
    },
    // A name as good as any on what GitHub serves: the scope is what holds it.
    honest: { '..%2f..%2fevil': '', '... ': '', '..\\..\\evil': '', 'C:\\evil': '', 'dir\\..\\..\\x': '' },
  },
];
