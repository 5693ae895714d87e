import { describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';
import type { Files } from '../support/github/commits.ts';

const fault = 'export const run = (text) => eval(text);';
const filler = Array.from({ length: 12 }, (_, line) => `export const value${line} = ${line};`);

/** Files with a fault, by path: its line. Each name or content is odd in a way of its own. */
const odd: Readonly<Record<string, { before?: string; after: string; line: number }>> = {
  'app/[id]/page.tsx': { after: `${fault}\n`, line: 1 },
  'odd/new\nline.js': { after: `\n${fault}\n`, line: 2 },
  'odd/"quoted" \'name\'.js': { after: `${fault}\n`, line: 1 },
  'odd/back\\slash.js': { after: `${fault}\n`, line: 1 },
  '-dash.js': { after: `${fault}\n`, line: 1 },
  'größe/日本 語.js': { after: `// ü\n${fault}\n`, line: 2 },
  'odd/*star?.js': { after: `${fault}\n`, line: 1 },
  'crlf.js': {
    before: 'const a = 1;\r\nconst b = 2;\r\n',
    after: `const a = 1;\r\n${fault}\r\nconst b = 2;\r\n`,
    line: 2,
  },
  'no-newline.js': { before: 'const a = 1;', after: `const a = 1;\n${fault}`, line: 2 },
  'bom.js': { before: '\uFEFFconst a = 1;\n', after: `\uFEFFconst a = 1;\n${fault}\n`, line: 2 },
};

describe('files with odd names and contents', () => {
  it('are reviewed with exact anchors, or named as skipped', async () => {
    const files: Record<string, Files[string]> = {
      'package.json': '{ "name": "odd" }\n',
      'image.bin': Buffer.from([0, 1, 2, 255]),
      'gone.js': 'export const gone = 1;\n',
      'mode.sh': '#!/bin/sh\n',
      'old-name.js': `${filler.join('\n')}\n`,
      'moved.js': `${filler.join('\n')}\n// moved\n`,
    };
    const change: Record<string, Files[string]> = {
      'image.bin': Buffer.from([0, 1, 3, 255]),
      'gone.js': null,
      'mode.sh': { mode: '100755', content: '#!/bin/sh\n' },
      'old-name.js': null,
      'new-name.js': `${filler.slice(0, 6).join('\n')}\n${fault}\n${filler.slice(6).join('\n')}\n`,
      'moved.js': null,
      'elsewhere/moved.js': `${filler.join('\n')}\n// moved\n`,
      'link.js': { mode: '120000', content: 'package.json' },
      'vendor/library': { mode: '160000', content: 'c'.repeat(40) },
    };
    for (const [path, { before, after }] of Object.entries(odd)) {
      if (before !== undefined) files[path] = before;
      change[path] = after;
    }
    await using world = await startWorld({ files });
    const { github, repository } = world;
    const pull = await github.openPullRequest(repository, { branch: 'odd', files: change });
    const run = await untilDone(world, pull.headSha);
    await untilIdle(world);

    const expected = [
      ...Object.entries(odd).map(([path, { line }]) => `${JSON.stringify(path)}:${line}`),
      '"new-name.js":7',
    ].toSorted();
    const [review, ...others] = await github.reviews(repository, pull.number);
    expect(others).toEqual([]);
    expect(review?.comments.map(({ path, line }) => `${JSON.stringify(path)}:${line}`).toSorted()).toEqual(
      expected,
    );
    expect(
      run.annotations.map(({ path, start_line }) => `${JSON.stringify(path)}:${start_line}`).toSorted(),
    ).toEqual(expected);
    expect(run.conclusion).toBe('failure');
    expect(run.summary).toMatch(/Covered: 17 files changed, \d+ reviewed, \d+ skipped\./);
    expect(run.summary).toContain('`image.bin`: binary file');
    expect(run.summary).toContain('`mode.sh`: only its mode changed');
    expect(run.summary).toContain('`elsewhere/moved.js`: renamed without an edit');
    const named = ['gone.js', 'link.js', 'vendor/library'].map((path) => run.text?.includes(`\`${path}\``));
    expect(named).toEqual([true, true, true]);
    await assertStrict(world);
  });
});
