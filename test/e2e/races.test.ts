import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { until } from '../support/app/until.ts';
import { describeWorld, untilIdle } from '../support/app/until-done.ts';
import { repositoryName, startWorld, type World } from '../support/app/world.ts';
import { type AskedFix, askFix, fixTasks, readFix, untilFixed } from '../support/fixes/read-fix.ts';
import { fixRepository, fixScript, type ValueName } from '../support/fixes/small-fix.ts';

/**
 * What people do while a fix is under way, at the moment at which it matters: after GitHub applied a certain write
 * of the fix and before it answers. Each time GitHub shows a clear outcome, and nobody's work is lost.
 */

/** Writes of a fix, in their order. */
const moments = {
  reaction: 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
  firstComment: 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  /** The candidate is verified, the target was read once. */
  tree: 'POST /repos/{owner}/{repo}/git/trees',
  commit: 'POST /repos/{owner}/{repo}/git/commits',
  branch: 'POST /repos/{owner}/{repo}/git/refs',
  pull: 'POST /repos/{owner}/{repo}/pulls',
} as const;

const changed = (name: ValueName, value: string) => ({
  [`src/${name}.js`]: `export const value = '${value}';\nexport const name = '${name}';\n`,
});

let world: World;
let asked = 0;

beforeAll(async () => {
  world = await startWorld({
    files: fixRepository,
    operator: { limits: { conflict_reruns: 0 }, sandbox: { concurrent_starts: 4 } },
  });
});
afterAll(() => world.close());

/** Does something once, at that moment of the fix that is asked for next. `drop`: GitHub's answer gets lost. */
function at(moment: keyof typeof moments, act: () => Promise<unknown>, answer?: 'drop') {
  let done = false;
  const off = world.github.faults.onWrite(async ({ route }) => {
    if (done || route !== moments[moment]) return undefined;
    done = true;
    await act();
    return answer;
  });
  return { happened: () => done, off };
}

interface Race {
  readonly names?: readonly ValueName[];
  /** On this pull request rather than an issue of its own. */
  readonly pull?: number;
  readonly moment: keyof typeof moments;
  /** `value`: what the fix writes. */
  readonly act: (fix: AskedFix, value: string) => Promise<unknown>;
  readonly drop?: boolean;
}

/** A fix that is disturbed once; what GitHub shows when all is over. */
async function race({ names = ['one', 'two'], pull, moment, act, drop }: Race) {
  asked += 1;
  const value = `new-${asked}`;
  world.model.configure(fixScript(value, { names }));
  const known = Promise.withResolvers<AskedFix>();
  const hook = at(moment, async () => act(await known.promise, value), drop ? 'drop' : undefined);
  try {
    const fix = await askFix(world, pull);
    known.resolve(fix);
    await untilFixed(world, fix);
    await untilIdle(world);
    expect(hook.happened()).toBe(true);
    return { value, fix, ...(await readFix(world, fix)) };
  } finally {
    hook.off();
  }
}

const repository = repositoryName;
const headOf = async (branch: string) => (await world.github.refs(repository))[`refs/heads/${branch}`];
const branchOf = async (fix: AskedFix) => `patchfleet/${(await fixTasks(world, fix))[0]?.id}`;
const shown = (pulls: readonly { draft: boolean; state: string; baseRef: string }[]) =>
  pulls.map(({ draft, state, baseRef }) => `${draft ? 'draft' : 'no draft'}, ${state}, to ${baseRef}`);

/** Nothing of the fix goes out meanwhile: GitHub has not answered its write yet. */
const untilCancelled = (fix: AskedFix) =>
  until('the fix is cancelled', async () => (await fixTasks(world, fix))[0]?.outcome === 'cancelled', {
    describe: () => describeWorld(world),
  });

/** A pull request whose branch the fix is for. */
async function openPull(branch: string, base?: string) {
  const request = { branch, files: { 'NOTES.md': `${branch}\n` }, ...(base === undefined ? {} : { base }) };
  return (await world.github.openPullRequest(repository, request)).number;
}

/** Nothing was published, and the one comment says why. */
const unpublished = { tasks: 1, branches: 0, pulls: [], answers: [expect.any(String)], reactions: ['eyes'] };

describe('the target moves between verification and publishing', () => {
  it('without a conflict: it is integrated again and published on the new head', async () => {
    let pushed = '';
    const result = await race({
      moment: 'tree',
      act: async () => {
        const files = { 'README.md': '# Values, moved\n' };
        pushed = (await world.github.push(repository, { branch: 'main', files })).sha;
      },
    });
    expect(result).toMatchObject({
      tasks: 1,
      outcome: 'succeeded',
      rounds: 2,
      branches: 1,
      isCandidate: true,
    });
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
    expect(result.head?.parents).toEqual([pushed]);
    expect(await world.github.fileAt(repository, await branchOf(result.fix), 'README.md')).toBe(
      '# Values, moved\n',
    );
    expect(result.answers).toEqual([expect.stringContaining('2 of 2 subtasks merged')]);
  });

  it('after the commit was written: the same, and the first commit is never seen', async () => {
    let pushed = '';
    const result = await race({
      moment: 'commit',
      act: async () => {
        const files = { 'README.md': '# Values, moved again\n' };
        pushed = (await world.github.push(repository, { branch: 'main', files })).sha;
      },
    });
    expect(result).toMatchObject({ rounds: 2, branches: 1, isCandidate: true });
    expect(result.head?.parents).toEqual([pushed]);
  });

  it('with a conflict: what conflicts is left out by name, the rest is published on the new head', async () => {
    let pushed = '';
    const files = changed('three', 'by hand');
    const result = await race({
      names: ['two', 'three'],
      moment: 'tree',
      act: async () => {
        pushed = (await world.github.push(repository, { branch: 'main', files })).sha;
      },
    });
    const branch = await branchOf(result.fix);
    expect(result).toMatchObject({ tasks: 1, rounds: 2, branches: 1, isCandidate: true });
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
    expect(result.head?.parents).toEqual([pushed]);
    expect(await world.github.fileAt(repository, branch, 'src/two.js')).toContain(result.value);
    expect(await world.github.fileAt(repository, branch, 'src/three.js')).toContain('by hand');
    expect(result.pulls[0]?.body).toContain('conflicts with main in src/three.js');
    expect(result.answers).toEqual([expect.stringContaining('1 of 2 subtasks merged')]);
    expect(result.answers[0]).toContain('conflict');
  });

  it('with nothing but conflicts: no pull request, and the comment says what conflicts', async () => {
    const branch = 'topic-conflict';
    const pull = await openPull(branch);
    const result = await race({
      names: ['one'],
      pull,
      moment: 'tree',
      act: () => world.github.push(repository, { branch, files: changed('one', 'by hand') }),
    });
    expect({ ...result, pulls: shown(result.pulls) }).toMatchObject(unpublished);
    expect(result.answers[0]).toContain('No pull request');
    expect(result.answers[0]).toContain(`conflicts with ${branch} in src/one.js`);
  });
});

describe('the branch of the fix is there already', () => {
  it("as somebody else's: it stays as it is, and the comment says so", async () => {
    const foreign = (await headOf('main')) ?? '';
    const result = await race({
      moment: 'firstComment',
      act: async (fix) => world.github.setBranch(repository, await branchOf(fix), foreign),
    });
    expect(result.pulls).toEqual([]);
    expect(result.head?.sha).toBe(foreign);
    expect(result.answers).toHaveLength(1);
    expect(result.answers[0]).toContain('No pull request');
    expect(result.answers[0]).toContain('exists and holds something else');
  });

  it('as our own, whose making was never answered: it is taken up, once', async () => {
    const result = await race({ moment: 'branch', act: async () => {}, drop: true });
    expect(result).toMatchObject({ tasks: 1, outcome: 'succeeded', branches: 1, isCandidate: true });
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
    expect(result.answers).toEqual([expect.stringContaining('2 of 2 subtasks merged')]);
  });

  it('as the same change on the same head, made meanwhile: it is taken up as it is', async () => {
    let made = '';
    const result = await race({
      moment: 'commit',
      act: async (fix, value) => {
        const files = { ...changed('one', value), ...changed('two', value) };
        made = await world.github.commit(repository, { branch: await branchOf(fix), files });
      },
    });
    expect(result).toMatchObject({ tasks: 1, outcome: 'succeeded', branches: 1, isCandidate: true });
    expect(result.head?.sha).toBe(made);
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
  });
});

describe('the pull request', () => {
  it('is closed by somebody at once: it stays closed, is not opened twice, and the comment says so', async () => {
    const result = await race({
      moment: 'pull',
      act: async (fix) => {
        const branch = await branchOf(fix);
        const pulls = await world.github.pullRequests(repository);
        const own = pulls.find(({ headRef }) => headRef === branch);
        await world.github.closePullRequest(repository, own?.number ?? 0);
      },
      drop: true,
    });
    expect(result).toMatchObject({ tasks: 1, outcome: 'succeeded', branches: 1, isCandidate: true });
    expect(shown(result.pulls)).toEqual(['draft, closed, to main']);
    expect(result.answers).toEqual([expect.stringContaining('Somebody closed it meanwhile')]);
  });

  it('that the fix is for is closed: the fix is cancelled, and the comment says why', async () => {
    const pull = await openPull('topic-closed');
    const result = await race({
      pull,
      moment: 'firstComment',
      act: async (fix) => {
        await world.github.closePullRequest(repository, pull);
        await untilCancelled(fix);
      },
    });
    expect(result).toMatchObject(unpublished);
    expect(result.answers[0]).toMatch(/cancelled.*Nothing was published: \S+ closed the pull request/);
  });
});

describe('the issue', () => {
  it('is closed while the fix runs: the fix is cancelled, and the comment says why', async () => {
    const result = await race({
      moment: 'firstComment',
      act: async (fix) => {
        await world.github.closeIssue(repository, fix.number);
        await untilCancelled(fix);
      },
    });
    expect(result).toMatchObject(unpublished);
    expect(result.answers[0]).toMatch(/cancelled.*Nothing was published: \S+ closed the issue/);
  });

  it('is deleted while the fix runs: nothing is published', async () => {
    const result = await race({
      moment: 'firstComment',
      act: ({ number }) => world.github.deleteIssue(repository, number),
    });
    expect(result).toMatchObject({ tasks: 1, branches: 0, pulls: [] });
  });
});

describe('the command', () => {
  it('is deleted while the fix runs: the fix goes on and its comment stays', async () => {
    const result = await race({
      moment: 'firstComment',
      act: ({ commandId }) => world.github.deleteComment(repository, commandId),
    });
    expect(result).toMatchObject({ tasks: 1, outcome: 'succeeded', branches: 1, isCandidate: true });
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
    expect(result.answers).toEqual([expect.stringContaining('2 of 2 subtasks merged')]);
  });

  it('has its answer deleted: the pull request is opened, and no second answer is written', async () => {
    const result = await race({
      moment: 'tree',
      act: async ({ number }) => {
        const comments = await world.github.comments(repository, number);
        await world.github.deleteComment(repository, comments.at(-1)?.id ?? 0);
      },
    });
    expect(result).toMatchObject({ tasks: 1, branches: 1, isCandidate: true, answers: [] });
    expect(shown(result.pulls)).toEqual(['draft, open, to main']);
  });
});

describe('the branches of the pull request that the fix is for', () => {
  it('the head is force-pushed: what fits is published on the new head', async () => {
    const branch = 'topic-forced';
    const pull = await openPull(branch);
    const main = (await headOf('main')) ?? '';
    let pushed = '';
    const result = await race({
      pull,
      moment: 'tree',
      act: async (_, value) => {
        const files = { ...changed('two', `not ${value}`), 'NOTES.md': 'other notes\n' };
        pushed = (await world.github.push(repository, { branch, files, parent: main })).sha;
      },
    });
    expect(result).toMatchObject({ tasks: 1, rounds: 2, branches: 1, isCandidate: true });
    expect(shown(result.pulls)).toEqual([`draft, open, to ${branch}`]);
    expect(result.head?.parents).toEqual([pushed]);
    expect(await world.github.fileAt(repository, await branchOf(result.fix), 'NOTES.md')).toBe(
      'other notes\n',
    );
    expect(result.answers).toEqual([expect.stringContaining('1 of 2 subtasks merged')]);
    expect(result.answers[0]).toContain(`conflicts with ${branch} in src/two.js`);
    // Nobody's branch was written to.
    expect(await headOf(branch)).toBe(pushed);
  });

  it('the head is deleted: nothing is published, and the comment says so', async () => {
    const branch = 'topic-deleted';
    const pull = await openPull(branch);
    const result = await race({
      pull,
      moment: 'tree',
      act: () => world.github.deleteBranch(repository, branch),
    });
    expect(result).toMatchObject(unpublished);
    expect(result.answers[0]).toContain('No pull request');
    expect(result.answers[0]).toContain(`The branch ${branch} is gone`);
    expect(result.answers[0]).toContain('not published');
  });

  it('the base is deleted, which closes it: the fix is cancelled, and the comment says why', async () => {
    await world.github.commit(repository, { branch: 'release', files: { 'RELEASE.md': 'soon\n' } });
    const pull = await openPull('topic-base', 'release');
    const result = await race({
      pull,
      moment: 'firstComment',
      act: async (fix) => {
        await world.github.deleteBranch(repository, 'release');
        await untilCancelled(fix);
      },
    });
    expect(result).toMatchObject(unpublished);
    expect(result.answers[0]).toMatch(/cancelled.*Nothing was published: \S+ closed the pull request/);
  });
});

describe('the default branch', () => {
  it.each([
    ['while the fix runs', 'firstComment'],
    ['between verification and publishing', 'tree'],
  ] as const)('is deleted %s: nothing is published, and the comment says so', async (_, moment) => {
    const main = (await headOf('main')) ?? '';
    const result = await race({ moment, act: () => world.github.deleteBranch(repository, 'main') });
    await world.github.setBranch(repository, 'main', main);
    expect(result).toMatchObject(unpublished);
    expect(result.answers[0]).toMatch(/the branch main is gone/i);
  });
});

it('asked nothing of GitHub or the model that they refuse, and left no container', async () => {
  await assertStrict(world);
});
