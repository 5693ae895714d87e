import { expect, it } from 'vitest';
import { detectCommands } from '../../../src/merging/detect-commands.ts';

const npm = (test: string) => JSON.stringify({ scripts: { test } });

it.each<[string, string[], Record<string, string>, string[]]>([
  ['a test script', ['package.json'], { 'package.json': npm('vitest run') }, ['node --run test']],
  [
    "npm's placeholder",
    ['package.json'],
    { 'package.json': npm('echo "Error: no test specified" && exit 1') },
    [],
  ],
  ['a broken manifest', ['package.json'], { 'package.json': '{' }, []],
  ['a manifest that is no object', ['package.json'], { 'package.json': 'null' }, []],
  ['a Go module', ['go.mod'], {}, ['go test ./...']],
  ['a crate', ['Cargo.toml'], {}, ['cargo test']],
  ['pytest by its file', ['pytest.ini', 'tests/test_a.py'], {}, ['python3 -m pytest']],
  [
    'pytest by the project file',
    ['pyproject.toml'],
    { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
    ['python3 -m pytest'],
  ],
  [
    'unittest in a package of tests',
    ['tests/__init__.py', 'tests/test_a.py'],
    {},
    ['python3 -m unittest discover'],
  ],
  ['unittest in a directory', ['tests/unit/test_a.py'], {}, ['python3 -m unittest discover -s tests']],
  ['Python without tests', ['setup.py', 'src/a.py', 'tools/test_data.txt'], {}, []],
  ['a Makefile', ['Makefile'], { Makefile: 'all: a\n\ntest: all\n\t./a\n' }, ['make test']],
  ['a Makefile with a variable of the name', ['Makefile'], { Makefile: 'test := 1\ntests: a\n' }, []],
  [
    'a Makefile beside a language of its own',
    ['Makefile', 'go.mod'],
    { Makefile: 'test:\n\tgo test\n' },
    ['go test ./...'],
  ],
  [
    'two languages',
    ['package.json', 'Cargo.toml'],
    { 'package.json': npm('node --test') },
    ['node --run test', 'cargo test'],
  ],
  ['manifests below the root', ['web/package.json', 'svc/go.mod'], {}, []],
])('finds the commands of %s', (_, paths, manifests, names) => {
  const found = detectCommands({ paths, manifests: new Map(Object.entries(manifests)), configured: null });
  expect(found.map(({ name }) => name)).toEqual(names);
});

it('takes what is configured, and nothing else', () => {
  const manifests = new Map([['package.json', npm('node --test')]]);
  const detect = (configured: string[][]) =>
    detectCommands({ paths: ['package.json'], manifests, configured });
  expect(detect([])).toEqual([]);
  expect(detect([['sh', '-c', "echo 'a'"]])).toEqual([
    { name: `sh -c 'echo '\\''a'\\'''`, argv: ['sh', '-c', "echo 'a'"], cwd: '' },
  ]);
});
