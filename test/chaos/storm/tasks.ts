import type { Files } from '../../support/github/commits.ts';
import type { GitHubDouble } from '../../support/github/create-github-double.ts';
import type { BehaviourInput } from '../../support/model/behaviour.ts';
import { plantedFaults } from '../../support/model/planted-faults.ts';
import { countTasks, type StormForm } from './form.ts';

/** A piece of work whose whole result is known before it is asked for. */
export interface StormTask {
  /** `fix-2`: also the beginning of its files' names, so that no two tasks share a file. */
  readonly name: string;
  readonly kind: 'fix' | 'review' | 'batch';
  readonly repository: string;
  /** What its rows must put on GitHub, one of each per row: files of the pull request, or places of findings. */
  readonly files: Readonly<Record<string, string>>;
  readonly findings: readonly string[];
}

/** A task as it was asked for. */
export interface AskedTask extends StormTask {
  /** The issue with the command, or the pull request. */
  readonly number: number;
  /** Issues that get a comment each: that one, and those of a batch; none for a review. */
  readonly commented: readonly number[];
  /** The head under review; empty for what changes something. */
  readonly headSha: string;
}

/** Two for fixes: queue shards and mirrors are by repository. */
const repositories = { fix: ['tea/cups', 'tea/pots'], review: ['tea/shop'], batch: ['tea/inbox'] } as const;
export const stormRepositories = Object.values(repositories).flat();
const batchLabel = 'storm';
const oldText = "export const value = 'old';\n";

const two = (number: number) => String(number).padStart(2, '0');
const newText = (name: string) => `export const value = 'new of ${name}';\n`;

/** In the order they are asked for: kinds take turns. */
export function stormTasks(form: StormForm): StormTask[] {
  const left = { ...form.tasks };
  const tasks: StormTask[] = [];
  while (tasks.length < countTasks(form))
    for (const kind of ['fix', 'review', 'batch'] as const) {
      if (left[kind] === 0) continue;
      left[kind] -= 1;
      tasks.push(taskOf(kind, form.tasks[kind] - left[kind], form.rows));
    }
  return tasks;
}

function taskOf(kind: StormTask['kind'], number: number, rows: number): StormTask {
  const name = `${kind}-${number}`;
  const places = repositories[kind];
  const paths = Array.from({ length: rows }, (_, row) => `src/${name}/part-${two(row + 1)}`);
  return {
    name,
    kind,
    repository: places[(number - 1) % places.length] ?? places[0],
    files: kind === 'review' ? {} : Object.fromEntries(paths.map((path) => [`${path}.js`, newText(name)])),
    // The fault is the second line of each file.
    findings: kind === 'review' ? paths.map((path) => `${path}.ts:2`) : [],
  };
}

/** What the repositories hold at first: a passing test suite that takes no side on what the values are. */
export function filesOf(repository: string, tasks: readonly StormTask[]): Files {
  const reviews = repository === repositories.review[0];
  const own = tasks
    .filter((task) => task.repository === repository)
    .flatMap(({ files }) => Object.keys(files));
  return {
    'README.md': `# ${repository}\n`,
    'package.json': '{ "name": "storm", "type": "module", "scripts": { "test": "node --test" } }\n',
    '.github/patchfleet.yml': reviews ? 'review: {}\n' : 'review:\n  enabled: false\n',
    'test/values.test.js': testSuite,
    ...Object.fromEntries(own.map((path) => [path, oldText])),
  };
}

const testSuite = `import { equal } from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';

for (const path of globSync('src/**/*.js'))
  test(path, async () => equal(typeof (await import(\`../\${path}\`)).value, 'string'));
`;

/** What the model plans and does for all of them. */
export function scriptOf(tasks: readonly StormTask[], latencyMs: number): BehaviourInput {
  const row = (path: string) => ({
    title: path,
    goal: `Give the value in ${path} its new text.`,
    writes: [path],
    inputs: [path],
  });
  const changing = tasks.filter(({ kind }) => kind !== 'review');
  return {
    latencyMs,
    plans: changing.flatMap(({ kind, name, files }) =>
      kind === 'fix'
        ? [{ when: wordFor(name), contract: 'Names stay.', rows: Object.keys(files).map(row) }]
        : Object.keys(files).map((path) => ({ when: wordFor(path), contract: '', rows: [row(path)] })),
    ),
    fixes: changing.map(({ name }) => ({
      path: `src/${name}/*.js`,
      find: "'old'",
      replace: `'new of ${name}'`,
    })),
  };
}

/** What the model knows a request by; nothing else in a prompt has it. */
function wordFor(name: string): string {
  return `[the job ${name}]`;
}

/** A person asks for it. */
export async function askFor(github: GitHubDouble, task: StormTask): Promise<AskedTask> {
  const { repository, name, kind } = task;
  if (kind === 'review') {
    const fault = plantedFaults[0];
    if (fault === undefined) throw new Error('no fault is known');
    const paths = task.findings.map((place) => place.replace(/:\d+$/, ''));
    const files = Object.fromEntries(
      paths.map((path, at) => [path, `// ${path}\n${fault.plant(`value${at + 1}`)}\n`]),
    );
    const request = { branch: name, title: name, body: '', files };
    const pull = await github.openPullRequest(repository, request);
    return { ...task, number: pull.number, commented: [], headSha: pull.headSha };
  }
  const author = 'wilma';
  const issues: number[] = [];
  if (kind === 'batch')
    for (const path of Object.keys(task.files)) {
      const body = `The value is too old. ${wordFor(path)}`;
      const issue = { title: path, body, author: 'otto', labels: [batchLabel] };
      issues.push((await github.openIssue(repository, issue)).number);
    }
  const { number } = await github.openIssue(repository, { title: name, author });
  const command =
    kind === 'fix' ? `fix ${wordFor(name)} give every value its new text` : `batch label:${batchLabel}`;
  await github.comment(repository, number, { author, body: `/patchfleet ${command}` });
  return { ...task, number, commented: [number, ...issues], headSha: '' };
}
