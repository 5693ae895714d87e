import { expect, it } from 'vitest';
import type { InstallationClient } from '../../../src/github/port.ts';
import { readOpenIssues } from '../../../src/github/read-issues.ts';

it('gives the beginning of an open issue without half a character, and no pull requests', async () => {
  const data = [
    { number: 2, title: 'a', body: `${'x'.repeat(499)}😀 more` },
    { number: 1, title: 'b', body: null },
    { number: 3, title: 'c', body: '', pull_request: {} },
  ];
  const client = { rest: { issues: { listForRepo: async () => ({ data }) } } };
  const repository = { installationId: 1, id: 1, owner: 'octo', name: 'shop' };
  expect(await readOpenIssues(client as unknown as InstallationClient, repository)).toEqual([
    { number: 2, title: 'a', excerpt: `${'x'.repeat(499)}\ufffd` },
    { number: 1, title: 'b', excerpt: '' },
  ]);
});
