import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Docker from 'dockerode';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { labels } from '../../src/sandbox/container/container-spec.ts';
import { inherited } from '../support/app/start-app.ts';
import { until } from '../support/app/until.ts';

const main = fileURLToPath(new URL('../demo/main.ts', import.meta.url));

let scratch = '';
let before: string[] = [];

beforeEach(async () => {
  // Short, for the sockets below it, and open, for Postgres, which runs as another user.
  scratch = await mkdtemp(join(tmpdir(), 'd-'));
  await chmod(scratch, 0o1777);
  before = await ownContainers();
});
afterEach(() => rm(scratch, { recursive: true, force: true }));

/** Starts the demo with a temporary directory of its own, by which everything that is its own is known. */
function startDemo() {
  const names = [...inherited, 'PATCHFLEET_TEST_IMAGE'];
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const child = spawn(process.execPath, [main, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, TMPDIR: scratch, PATCHFLEET_SETUP_MS: '1234' },
  });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const closed = once(child, 'close').then(([code]) => code as number | null);
  return { child, closed, output: () => output, errors: () => errors };
}

async function ownContainers(): Promise<string[]> {
  const found = await new Docker().listContainers({ all: true, filters: { label: [labels.instance] } });
  return found.map(({ Id }) => Id);
}

async function leftBehind() {
  const processes: string[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`TMPDIR=${scratch}`))
      processes.push(await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => ''));
  }
  const files = (await readdir(scratch)).filter((name) => !name.startsWith('node-compile-cache'));
  const mine = [];
  for (const Id of await ownContainers()) {
    if (before.includes(Id)) continue;
    const info = await new Docker()
      .getContainer(Id)
      .inspect()
      .catch(() => null);
    if (info?.Mounts.some(({ Source }) => Source.startsWith(scratch))) mine.push(Id);
  }
  return { processes: processes.filter((command) => command !== ''), files, containers: mine };
}

const nothing = { processes: [], files: [], containers: [] };

describe('the demo', () => {
  it('finds every planted fault, merges what is verified, leaves out what is planted, and leaves nothing behind', async () => {
    const demo = startDemo();
    const code = await demo.closed;
    const lines = demo.output().trimEnd().split('\n');
    expect(code, demo.errors()).toBe(0);
    expect(lines[0]).toMatch(/^Model: a scripted double/);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      ok: true,
      review: {
        shards: 14,
        maxConcurrent: expect.toSatisfy((most: number) => most >= 4 && most <= 8),
        wallMs: expect.any(Number),
        agentMsSum: expect.any(Number),
        checkRuns: 1,
        reviews: 1,
        conclusion: 'failure',
        annotations: 18,
        inlineComments: 18,
        bodyFindings: 0,
      },
      fix: {
        subtasks: 12,
        maxConcurrent: expect.toSatisfy((most: number) => most >= 4 && most <= 8),
        wallMs: expect.any(Number),
        agentMsSum: expect.any(Number),
        merged: 10,
        leftOut: [
          { subtask: 'packages/dates part 2/2', code: 'verification', reason: expect.any(String) },
          {
            subtask: 'packages/text part 2/2',
            code: 'conflict',
            reason: 'conflicts with main in packages/text/src/slugify.js',
          },
        ],
        pullRequest: {
          number: 3,
          draft: true,
          branch: expect.stringMatching(/^patchfleet\/[0-9a-f-]{36}$/),
          testsPass: true,
        },
      },
      batch: { issues: 3, done: 3, pullRequests: 1 },
      sandboxesLeft: 0,
      setupMs: 1234,
    });
    // A line for each shard when its agent begins or ends, since this is no terminal.
    for (let shard = 1; shard <= 14; shard += 1)
      expect(demo.output()).toMatch(new RegExp(`^ {1,2}${shard}  .+  done  `, 'm'));
    expect(demo.output()).not.toContain('\u001B');
    await expect.poll(leftBehind).toEqual(nothing);
  }, 900_000);

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing when %s stops it half-way', async (signal) => {
    const demo = startDemo();
    await until('an agent reviews', () => demo.output().includes('  reviewing  '));
    demo.child.kill(signal);
    expect(await demo.closed).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(JSON.parse(demo.output().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ ok: false });
    expect(demo.errors()).toContain(`stopped by ${signal}`);
    // What was told to end by the end of its input takes a moment.
    await expect.poll(leftBehind).toEqual(nothing);
  });
});
