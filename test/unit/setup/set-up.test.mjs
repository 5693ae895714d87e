import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { machineSources } from '../../../sandbox/build/debian-base.mjs';
import { endpoint } from '../../../sandbox/build/engine.mjs';
import { countTests } from '../../setup/count-tests.mjs';
import { isInstalled, matches } from '../../setup/dependencies.mjs';
import { leftFiles, leftProcesses, makeScratch, removeScratch } from '../../setup/leftovers.mjs';

describe('the installed tree', () => {
  const wanted = {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/mac': { version: '1.0.0', integrity: 'y', optional: true },
  };
  const installed = { 'node_modules/a': { version: '1.0.0', integrity: 'x' } };

  it.each([
    ['is as locked, but for an optional package of another platform', wanted, installed, true],
    ['lacks a package', { ...wanted, 'node_modules/b': { version: '1.0.0' } }, installed, false],
    ['has another version', wanted, { 'node_modules/a': { version: '1.0.1', integrity: 'x' } }, false],
    ['has other content', wanted, { 'node_modules/a': { version: '1.0.0', integrity: 'z' } }, false],
    ['has a package too many', wanted, { ...installed, 'node_modules/c': { version: '1.0.0' } }, false],
  ])('%s', (_name, lock, tree, expected) => {
    expect(matches(lock, tree)).toBe(expected);
  });
});

it('an install that was cut short is none', () => {
  const root = mkdtempSync(join(tmpdir(), 'installed-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const put = (path, text) => writeFileSync(join(root, path), text);
  const lock = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } });
  mkdirSync(join(root, 'node_modules/node/bin'), { recursive: true });
  put('package-lock.json', lock);
  put('node_modules/node/bin/node', '');
  expect(isInstalled(root)).toBe(false);
  put('node_modules/.package-lock.json', lock.slice(0, -3));
  expect(isInstalled(root)).toBe(false);
  put('node_modules/.package-lock.json', lock);
  expect(isInstalled(root)).toBe(true);
});

describe('the counts of a test run', () => {
  const loaded = { status: 'failed', assertionResults: [{}] };
  const unloaded = { status: 'failed', assertionResults: [] };

  it.each([
    ['are those of the report', 0, { numPassedTests: 3, numFailedTests: 0, testResults: [] }, 3, 0],
    ['name what was skipped', 0, { numPassedTests: 3, numPendingTests: 2, testResults: [] }, 3, 0, 2],
    [
      'take a file that did not load for a failure',
      1,
      { numPassedTests: 3, numFailedTests: 1, testResults: [loaded, unloaded] },
      3,
      2,
    ],
    [
      'take a bad end without a failed test for a failure',
      1,
      { numPassedTests: 3, numFailedTests: 0, testResults: [] },
      3,
      1,
    ],
    ['take a missing report for a failure', 1, null, 0, 1],
    ['are zero when nothing ran', 0, { numPassedTests: 0, numFailedTests: 0, testResults: [] }, 0, 0],
  ])('%s', (_name, exitCode, report, passed, failed, skipped = 0) => {
    expect(countTests(exitCode, report)).toEqual({ passed, failed, skipped });
  });
});

it("takes the distribution's own package sources, in both forms, and no others", () => {
  const root = mkdtempSync(join(tmpdir(), 'sources-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'sources.list.d'));
  writeFileSync(
    join(root, 'sources.list'),
    '# deb http://old bookworm main\ndeb [arch=amd64] http://one bookworm main contrib\n',
  );
  writeFileSync(
    join(root, 'sources.list.d/debian.sources'),
    [
      'Types: deb\n# a comment\nURIs: http://two\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /keys/debian.gpg',
      'Types: deb-src\nURIs: http://three\nSuites: bookworm\nComponents: main',
      'Types: deb\nEnabled: no\nURIs: http://four\nSuites: bookworm\nComponents: main',
      'Types: deb\nURIs: http://five\nSuites: nodistro\nComponents: main',
    ].join('\n\n'),
  );

  expect(machineSources('bookworm', { root })).toBe(
    [
      'deb [arch=amd64] http://one bookworm main contrib',
      'deb [signed-by=/keys/debian.gpg] http://two bookworm main',
      'deb [signed-by=/keys/debian.gpg] http://two bookworm-updates main\n',
    ].join('\n'),
  );
  expect(machineSources('bookworm', { as: 'trixie', root })).toBe(
    [
      'deb [arch=amd64] http://one trixie main contrib',
      'deb [signed-by=/keys/debian.gpg] http://two trixie main',
      'deb [signed-by=/keys/debian.gpg] http://two trixie-updates main\n',
    ].join('\n'),
  );
  expect(() => machineSources('trixie', { root })).toThrow(/no source of trixie main/);
});

it.each([
  ['the usual socket', {}, { name: 'unix:///var/run/docker.sock', socketPath: '/var/run/docker.sock' }],
  [
    'a socket',
    { DOCKER_HOST: 'unix:///run/x.sock' },
    { name: 'unix:///run/x.sock', socketPath: '/run/x.sock' },
  ],
  [
    'an address',
    { DOCKER_HOST: 'tcp://10.0.0.1:2375' },
    { host: '10.0.0.1', name: 'tcp://10.0.0.1:2375', port: '2375' },
  ],
])('finds the engine at %s', (_name, env, expected) => {
  const { transport, ...where } = endpoint(env);
  expect(transport).toBeDefined();
  expect(where).toEqual(expected);
});

it('knows the processes and files that a command left, ends and removes them', async () => {
  const scratch = makeScratch();
  const child = spawn('sleep', ['600'], { env: { ...process.env, TMPDIR: scratch }, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
  writeFileSync(join(scratch, 'forgotten'), '');
  writeFileSync(join(scratch, 'dockerd.log'), '');
  const processes = process.platform === 'linux' ? [{ pid: child.pid, command: 'sleep 600' }] : [];

  // A program that begins has no environment for a moment.
  await expect.poll(() => leftProcesses(scratch)).toEqual(processes);
  expect(leftProcesses(scratch, [child.pid])).toEqual([]);
  expect(leftFiles(scratch, ['dockerd.log'])).toEqual(['forgotten']);
  expect(await removeScratch(scratch, { known: ['dockerd.log'] })).toEqual([
    ...processes.map(({ pid }) => `process ${pid} (sleep 600)`),
    `${scratch}/forgotten`,
  ]);
  if (processes.length > 0) expect(await ended).toBe('SIGKILL');
  else child.kill();
});
