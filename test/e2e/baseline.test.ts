import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, leftOutOf, ownPulls } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { badFixes, goodFixes, row, testedRepository, twoRows } from '../support/app/tested-repository.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: testedRepository, operator: { limits: { verification_reruns: 0 } } });
});
afterAll(() => world.close());

async function repositoryWith(name: string, files: Record<string, string>) {
  const { github } = world;
  await github.createRepository({ fullName: name, files: { ...testedRepository, ...files } });
  await github.setPermission(name, 'wilma', 'write');
  return github.openIssue(name, { title: 'Words', body: 'Better ones.', author: 'otto' });
}

const failing = `import { test } from 'node:test';

test('the moon is made of cheese', () => {
  throw new Error('it is not');
});
`;

/** Fails every time, and never twice by the same name: as a test over random cases does. */
const flaky = `import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

test(\`holds for \${randomUUID()}\`, () => {
  throw new Error('a race was lost');
});
`;

describe('a repository whose tests fail already', () => {
  it('gets what makes no new failure, and is told what failed before', async () => {
    const issue = await repositoryWith('tea/red', { 'test/moon.test.js': failing });
    world.model.configure({ plans: twoRows, fixes: [badFixes.add, goodFixes.greet] });
    await ask(world, issue.number, '/patchfleet fix the words', { repository: 'tea/red' });
    expect(await leftOutOf(world)).toEqual([
      { title: 'Sum better', code: 'verification', reason: expect.stringContaining('add adds') },
    ]);
    const [pull] = await ownPulls(world, 'tea/red');
    expect(pull?.body).toContain('1 test failed before and still does');
    expect(pull?.body).toContain('the moon is made of cheese');
    await assertStrict(world);
  });

  it('or fail now and then, condemns no patch for it, and the report says so', async () => {
    const issue = await repositoryWith('tea/flaky', { 'test/random.test.js': flaky });
    world.model.configure({
      plans: [{ rows: [row('Greet better', 'src/greet.js')] }],
      fixes: [goodFixes.greet],
    });
    await ask(world, issue.number, '/patchfleet fix the words', { repository: 'tea/flaky' });
    expect(await leftOutOf(world)).toEqual([]);
    const [pull] = await ownPulls(world, 'tea/flaky');
    expect(pull?.body).toContain('Failed once and passed when run again (not counted)');
    await assertStrict(world);
  });
});

describe('a repository that wants all or nothing', () => {
  it('gets nothing where a part of it fails, and is told so', async () => {
    const file = 'fix:\n  on_partial: all_or_nothing\n';
    const issue = await repositoryWith('tea/whole', { '.github/patchfleet.yml': file });
    world.model.configure({ plans: twoRows, fixes: [badFixes.add, goodFixes.greet] });
    const place = { repository: 'tea/whole' };
    const asked = await ask(world, issue.number, '/patchfleet fix the words', place);
    expect(await ownPulls(world, 'tea/whole')).toEqual([]);
    expect(asked.answers).toHaveLength(1);
    expect(asked.answers[0]).toContain('wants all or nothing');
    expect(asked.answers[0]).toContain('**Greet better**: fine by itself, not published.');

    world.model.configure({ plans: twoRows, fixes: [goodFixes.add, goodFixes.greet] });
    await ask(world, issue.number, '/patchfleet fix the words again', place);
    expect(await ownPulls(world, 'tea/whole')).toHaveLength(1);
    await assertStrict(world);
  });
});
