import type { Published, StormFacts, TaskFacts } from './facts.ts';
import type { AskedTask } from './tasks.ts';

/** What is wrong, each in one line; the figures are the lengths. */
export interface Judgement {
  readonly lost: readonly string[];
  readonly duplicatePublications: readonly string[];
  readonly stuckChecks: readonly string[];
  readonly orphanSandboxes: readonly string[];
}

/**
 * Pure: what was asked for against what was found. Nothing passes for being absent: each row's result is looked
 * for by itself, and what is on GitHub beside the results counts as published twice.
 */
export function judgeStorm(asked: readonly AskedTask[], facts: StormFacts): Judgement {
  return {
    lost: asked.flatMap((task, at) => lostOf(task, facts.tasks[at], facts.published)),
    duplicatePublications: duplicatesIn(asked, facts),
    stuckChecks: facts.published.checkRuns
      .filter(({ status }) => status !== 'completed')
      .map(({ repository, headSha, status }) => `check run of ${repository} ${headSha} is ${status}`),
    orphanSandboxes: facts.sandboxes,
  };
}

function lostOf(task: AskedTask, found: TaskFacts | undefined, published: Published): string[] {
  const lost = (what: string) => `${task.name}: ${what}`;
  const [row] = found?.rows ?? [];
  if (found === undefined || row === undefined) return [lost('there is no such task')];
  const rows = Object.keys(task.files).length + task.findings.length;
  const agents = found.subtasks.filter(({ kind }) => kind === 'agent');
  return [
    ...(row.phase === 'finished' && row.outcome === 'succeeded'
      ? []
      : [lost(`it is ${row.phase}, ${row.outcome ?? 'without an outcome'} ${row.failure ?? ''}`.trimEnd())]),
    ...(agents.length === rows ? [] : [lost(`${agents.length} rows are planned, not ${rows}`)]),
    ...found.subtasks
      .filter(({ status }) => status !== 'succeeded')
      .map(({ title, status, failure }) => lost(`the row ${title} is ${status} ${failure ?? ''}`.trimEnd())),
    ...(task.kind === 'review'
      ? lostReview(task, published)
      : lostChange(task, row.id, found, published)
    ).map(lost),
  ];
}

function lostReview(task: AskedTask, { checkRuns, reviews }: Published): string[] {
  const run = checkRuns.find((one) => isAt(task, one) && one.headSha === task.headSha);
  const places = reviews
    .filter((one) => isAt(task, one) && one.number === task.number)
    .flatMap((one) => one.places);
  return [
    ...(run === undefined ? ['it has no check run'] : []),
    // Every planted fault is an error, which fails the check.
    ...(run !== undefined && run.conclusion !== 'failure' ? [`its check run says ${run.conclusion}`] : []),
    ...(run !== undefined && run.annotations.length < task.findings.length
      ? [`its check run has ${run.annotations.length} annotations, not ${task.findings.length}`]
      : []),
    ...task.findings.filter((place) => !places.includes(place)).map((place) => `the finding at ${place}`),
  ];
}

function lostChange(task: AskedTask, id: string, found: TaskFacts, published: Published): string[] {
  const pull = published.pulls.some((one) => isAt(task, one) && belongsTo(id, one.headRef));
  const silent = task.commented.filter(
    (issue) => !published.comments.some((one) => isAt(task, one) && one.number === issue),
  );
  return [
    ...(pull ? [] : ['it has no pull request']),
    ...silent.map((issue) => `issue ${issue} has no comment`),
    ...Object.entries(task.files)
      .filter(([path, text]) => found.files[path] !== text)
      .map(([path]) => `${path} is not changed in the pull request`),
  ];
}

/** What is there more than once, and what belongs to nothing that was asked for. */
function duplicatesIn(asked: readonly AskedTask[], { tasks, published }: StormFacts): string[] {
  const { checkRuns, reviews, comments, pulls, branches } = published;
  const ids = asked.map((_, at) => tasks[at]?.rows[0]?.id ?? null);
  const ownerOf = (repository: string, ref: string) =>
    asked.findIndex((task, at) => task.repository === repository && belongsTo(ids[at] ?? null, ref));
  return [
    ...asked.flatMap(({ name }, at) => more(`tasks for ${name}`, tasks[at]?.rows ?? [])),
    ...beyondOne('check runs', checkRuns, ({ repository, headSha }) => {
      const task = asked.find((one) => one.repository === repository && one.headSha === headSha);
      return task === undefined ? null : task.name;
    }),
    ...checkRuns.flatMap(({ headSha, annotations }) =>
      repeated(annotations).map((one) => `annotation of ${headSha}: ${one}`),
    ),
    ...beyondOne('reviews', reviews, ({ repository, number }) => {
      const task = asked.find(
        (one) => one.kind === 'review' && one.repository === repository && one.number === number,
      );
      return task === undefined ? null : task.name;
    }),
    ...reviews.flatMap(({ number, places }) =>
      repeated(places).map((one) => `inline comment of #${number} at ${one}`),
    ),
    ...beyondOne('comments', comments, ({ repository, number }) => {
      const task = asked.find((one) => one.repository === repository && one.commented.includes(number));
      return task === undefined ? null : `${task.name} on #${number}`;
    }),
    ...beyondOne(
      'pull requests',
      pulls,
      ({ repository, headRef }) => asked[ownerOf(repository, headRef)]?.name ?? null,
    ),
    ...beyondOne(
      'branches',
      branches,
      ({ repository, name }) => asked[ownerOf(repository, name)]?.name ?? null,
    ),
  ];
}

/** `owner` null: it belongs to nothing. */
function beyondOne<T extends object>(
  what: string,
  items: readonly T[],
  owner: (item: T) => string | null,
): string[] {
  const owned = Map.groupBy(items, owner);
  return [...owned].flatMap(([name, all]) =>
    name === null
      ? all.map((one) => `${what} that nobody asked for: ${JSON.stringify(one)}`)
      : more(`${what} of ${name}`, all),
  );
}

function more(what: string, all: readonly object[]): string[] {
  return all.slice(1).map((one) => `${what}, ${all.length}: ${JSON.stringify(one)}`);
}

function repeated(items: readonly string[]): string[] {
  return items.filter((item, at) => items.indexOf(item) !== at);
}

function isAt(task: AskedTask, one: { readonly repository: string }): boolean {
  return one.repository === task.repository;
}

/** Branches are `patchfleet/<task>`, with the issue behind where each has its own. */
function belongsTo(id: string | null, ref: string): boolean {
  return id !== null && (ref === `patchfleet/${id}` || ref.startsWith(`patchfleet/${id}/`));
}
