/**
 * The static checks and, with `--tests`, the test suites after them: all are run and reported, whatever failed
 * before. The last line counts one per check and one per test. Further arguments go to vitest.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endpoint } from '../../sandbox/build/engine.mjs';
import { countTests } from './count-tests.mjs';
import { leftContainers, leftFiles, leftProcesses } from './leftovers.mjs';
import { waitFor } from './processes.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const bin = join(root, 'node_modules/.bin');
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };

const checks = [
  { name: 'types (tsc)', argv: ['tsc', '-p', '.'] },
  { name: 'format and lint (biome)', argv: ['biome', 'ci', '--colors=off'] },
  {
    name: 'promises (eslint)',
    argv: ['eslint', '--config', 'test/checks/eslint.config.js', '--max-warnings=0', '.'],
  },
  {
    name: 'imports (dependency-cruiser)',
    argv: ['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'sandbox', 'test'],
  },
  { name: 'dead code (knip)', argv: ['knip', '--config', 'test/checks/knip.jsonc', '--no-progress'] },
];

/** What was told to end when the last test had ended gets so long, ms; what stays would stay for ever. */
const endMs = 15_000;

process.chdir(root);
const wantsTests = process.argv.includes('--tests');
const count = { passed: 0, failed: 0 };

// A signal reaches the running child as well, which is in the same group: it gets the time to tidy up.
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    stopped = true;
  });
}

for (const check of checks) if (!stopped) report(check.name, await runQuietly(check.argv));
if (wantsTests && !stopped) {
  const tests = await runTests(process.argv.slice(2).filter((argument) => argument !== '--tests'));
  count.passed += tests.passed;
  count.failed += tests.failed;
  // What the last line says of all that was run says nothing of these.
  if (tests.skipped > 0) console.log(`${tests.skipped} skipped: what they need is not to be had here`);
  if (tests.passed + tests.failed === 0) report('tests', { code: 1, output: 'no test was run', ms: 0 });
  if (env.PATCHFLEET_SETUP_MS) report('nothing left behind', await lookForLeftovers());
}
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || stopped ? 1 : 0;

function report(name, { code, output, ms }) {
  count[code === 0 ? 'passed' : 'failed'] += 1;
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${(ms / 1000).toFixed(1)} s)`);
  if (code !== 0) console.log(output.trim());
}

function runQuietly([command, ...args]) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const end = (code) => resolve({ code, output, ms: performance.now() - started });
    child.on('error', (error) => {
      output += error.message;
      end(1);
    });
    child.on('close', (code) => end(code ?? 1));
  });
}

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'vitest-'));
  const file = join(folder, 'results.json');
  try {
    const code = await new Promise((resolve) => {
      const options = [
        '--config',
        'test/vitest.config.ts',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${file}`,
      ];
      const child = spawn('vitest', ['run', ...options, ...args], {
        env,
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      child.on('error', () => resolve(1));
      child.on('exit', (exitCode) => resolve(exitCode ?? 1));
    });
    return countTests(code, readResults(file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

async function lookForLeftovers() {
  let left = [];
  await waitFor(async () => {
    left = await whatIsLeft(tmpdir()).catch((error) => [`it cannot be seen: ${error.message}`]);
    return left.length === 0;
  }, endMs);
  return { code: left.length === 0 ? 0 : 1, output: left.join('\n'), ms: 0 };
}

async function whatIsLeft(scratch) {
  const processes = leftProcesses(scratch, [process.pid]).map(
    ({ pid, command }) => `process ${pid}: ${command}`,
  );
  const files = leftFiles(scratch, ['dockerd.log']).map((name) => join(scratch, name));
  const containers = (await leftContainers(endpoint(), scratch)).map((id) => `container ${id}`);
  return [...processes, ...containers, ...files];
}
