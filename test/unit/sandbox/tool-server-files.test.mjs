import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readDockerfile } from '../../../sandbox/build/dockerfile.mjs';
import { sourceFiles, toolServerFiles } from '../../../sandbox/build/tool-server-files.mjs';
import { createFrameDecoder, encodeFrame, protocolVersion } from '../../../sandbox/protocol.ts';

const script = (text) =>
  toolServerFiles([
    { name: 'a.ts', text },
    { name: 'b.ts', text: '' },
  ])[1].text;

it('imports the compiled files, in every form, and leaves the rest as it is', () => {
  const text = [
    "import { b } from './b.ts';",
    "import type { C } from './b.ts';",
    "import './b.ts';",
    "export { d } from './b.ts';",
    "const e = await import('./b.ts');",
    "import { join } from 'node:path';",
    "const name = 'x.ts';",
    '',
  ].join('\n');
  expect(
    script(text)
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    "import { b } from './b.js';",
    '',
    "import './b.js';",
    "export { d } from './b.js';",
    "const e = await import('./b.js');",
    "import { join } from 'node:path';",
    "const name = 'x.ts';",
    '',
  ]);
});

it.each([
  ['a file that is not served', "import { x } from './c.ts';", /a\.ts imports \.\/c\.ts/],
  ['a file outside', "import { x } from '../src/b.ts';", /a\.ts imports \.\.\/src\/b\.ts/],
  ['an import without its ending', "import { x } from './b';", /a\.ts imports \.\/b,/],
  ['what is more than types', 'enum A { x }', /enum/],
])('refuses %s', (_name, text, message) => {
  expect(() => script(text)).toThrow(message);
});

it('keeps every line and column where it was', () => {
  const served = new Map(toolServerFiles(sourceFiles()).map(({ name, text }) => [name, text]));
  for (const { name, text } of sourceFiles()) {
    const compiled = served.get(name.replace(/ts$/, 'js')) ?? '';
    const at = (source, call) => source.split('\n').map((line) => line.indexOf(call));
    for (const call of ['throw new ', 'await ', 'return ']) {
      const before = at(text, call);
      const kept = at(compiled, call).every((column, line) => column === -1 || column === before[line]);
      expect([name, call, kept]).toEqual([name, call, true]);
    }
  }
});

it('speaks our protocol, started as plain JavaScript', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tool-server-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const { name, text } of toolServerFiles(sourceFiles())) writeFileSync(join(directory, name), text);
  const server = spawn(
    process.execPath,
    ['--no-experimental-strip-types', join(directory, 'tool-server.js'), directory],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const decode = createFrameDecoder();
  const messages = [];
  const received = new Promise((resolve) => {
    server.stdout.on('data', (chunk) => {
      messages.push(...decode(chunk));
      if (messages.length === 2) resolve();
    });
  });
  server.stdin.write(
    encodeFrame({ id: 7, request: { op: 'read', path: 'package.json', start: 1, end: null } }),
  );
  await received;
  server.stdin.end();
  expect(messages).toEqual([
    { hello: expect.objectContaining({ protocol: protocolVersion }) },
    { id: 7, result: { text: '{"type":"module"}\n', start: 1, end: 1, totalLines: 1, truncated: false } },
  ]);
  expect(await ended).toBe(0);
});

it('is run in the image by the Node that is installed here', () => {
  const dockerfile = readFileSync('sandbox/Dockerfile', 'utf8');
  const { version } = JSON.parse(readFileSync('node_modules/node/package.json', 'utf8'));
  expect(/^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)?.[1]).toBe(version);
});

it('takes packages and paths from the Dockerfile, whose contract begins with a command of its own', () => {
  const { debian, packages, notShipped, contract } = readDockerfile(
    [
      'ARG DEBIAN=trixie',
      'FROM scratch',
      'ARG PACKAGES="git \\',
      '  make"',
      'ARG NOT_SHIPPED="/a/* \\',
      ' /b/*"',
      '# ---- contract ----',
      'RUN true',
    ].join('\n'),
  );
  expect({ debian, packages, notShipped, contract }).toEqual({
    debian: 'trixie',
    packages: ['git', 'make'],
    notShipped: ['/a/*', '/b/*'],
    contract: '# ---- contract ----\nRUN true',
  });
  expect(() => readDockerfile('FROM scratch')).toThrow(/no line/);
});
