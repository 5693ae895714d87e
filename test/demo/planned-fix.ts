import type { BehaviourInput } from '../support/model/behaviour.ts';

/** What the demo asks for besides the review, and what it plants in it. */

export const instruction = 'move the hard-coded strings of every package into its config module';

/** Row of the plan whose agent makes a mistake that the tests see. */
export const breaking = 'packages/dates part 2/2';
/** Row of the plan that changes a line which a commit changes meanwhile. */
export const conflicting = 'packages/text part 2/2';

const slug = 'packages/text/src/slugify.js';
const before = "const end = cut.lastIndexOf('-');";
const after = "const end = cut.lastIndexOf('-', maxLength);";

/** The commit that lands on the target while the rows work: right by itself. */
export function landingCommit(base: Readonly<Record<string, string>>): Record<string, string> {
  const text = base[slug];
  if (text === undefined || text.split(before).length !== 2) throw new Error(`${slug} is not as it was`);
  return { [slug]: text.replace(before, after) };
}

export const issues = [
  {
    title: 'Negative counts have no singular',
    body: 'plural(-1, "cup") gives "-1 cups". The sign should not matter.',
    path: 'packages/text/src/plural.js',
    find: 'count === 1',
    replace: 'Math.abs(count) === 1',
  },
  {
    title: 'Nobody knows the sign of compareDates',
    body: 'One has to read the code to know which date is the earlier one. Please say it.',
    path: 'packages/dates/src/compare.js',
    find: 'export function compareDates',
    replace: '/** Days from `b` to `a`: negative where `a` is earlier. */\nexport function compareDates',
  },
  {
    title: 'The error of a refund does not say who paid',
    body: 'It should say that it is more than the customer paid.',
    path: 'packages/orders/src/refund.js',
    find: "'more than was paid'",
    replace: "'more than the customer paid'",
  },
] as const;

/** How the scripted model answers all of that. */
export const script: BehaviourInput = {
  parts: 2,
  plans: issues.map(({ title, path }) => ({
    when: title,
    rows: [{ title: path, goal: `${title}: correct it.`, writes: [path], inputs: [path] }],
  })),
  fixes: [
    { when: '', rule: 'strings-to-config' },
    {
      when: 'In part 2 of packages/dates:',
      path: 'packages/dates/src/weekday.js',
      find: '+ 3)',
      replace: '+ 2)',
    },
    ...issues.map(({ title, path, find, replace }) => ({ when: title, path, find, replace })),
  ],
};
