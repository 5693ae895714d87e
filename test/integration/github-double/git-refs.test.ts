import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import { file, fullName, message, missing, openGitData, repo } from './git-data-fixture.ts';

const { double, octokit, as, git, headSha, baseTree, commit, close } = await openGitData();
afterAll(close);

describe('refs', () => {
  const create = (ref: string, sha: string) => message(octokit.git.createRef({ ...repo, ref, sha }));
  const update = (ref: string, sha: string, force = false) =>
    message(octokit.git.updateRef({ ...repo, ref, sha, force }));

  it('are made once, moved forwards, forced, found and deleted', async () => {
    const one = await commit({ x: '1' });
    const two = await commit({ x: '2' }, [one]);
    const ref = 'heads/patchfleet/t1';
    expect([
      await create(`refs/${ref}`, one),
      await create(`refs/${ref}`, one),
      await update(ref, two),
      await update(ref, one),
      await update(ref, one, true),
    ]).toEqual([201, '422 Reference already exists', 200, '422 Update is not a fast forward', 200]);
    const read = await octokit.git.getRef({ ...repo, ref });
    const matching = await octokit.git.listMatchingRefs({ ...repo, ref: 'heads/patchfleet/' });
    expect([read.data.object.sha, matching.data.map((r) => r.ref)]).toEqual([one, [`refs/${ref}`]]);
    expect(await double.refs(fullName, 'refs/heads/patchfleet/')).toEqual({ [`refs/${ref}`]: one });
    expect(await message(octokit.git.deleteRef({ ...repo, ref }))).toBe(204);
    expect([
      await message(octokit.git.getRef({ ...repo, ref })),
      await message(octokit.git.deleteRef({ ...repo, ref })),
      await update(ref, one),
    ]).toEqual(['404 Not Found', '422 Reference does not exist', '422 Reference does not exist']);
  });

  it('are made by one of two requests that come at once', async () => {
    const sha = await commit({ x: 'race' });
    const results = await Promise.all([create('refs/heads/race', sha), create('refs/heads/race', sha)]);
    expect(results.sort()).toEqual([201, '422 Reference already exists']);
  });

  it.each([
    [
      'a name outside refs',
      'heads/x',
      null,
      "Reference name must start with 'refs/' and have at least two slashes.",
    ],
    ['a bad name', 'refs/heads/a..b', null, 'refs/heads/a..b is not a valid ref name.'],
    ['an unknown commit', 'refs/heads/x', missing, 'Object does not exist'],
    ['a pull request’s own', 'refs/pull/9/head', null, 'deny updating a hidden ref'],
    ['a name within another’s', 'refs/heads/main/x', null, 'Reference update failed'],
  ])('are refused for %s', async (_, ref, sha, reason) => {
    expect(await create(ref, sha ?? headSha)).toBe(`422 ${reason}`);
  });

  it('are seen by a git fetch', async () => {
    const sha = await commit({ x: 'fetched' });
    await create('refs/heads/fetched', sha);
    const token = await double.mintToken(fullName, { contents: 'read' });
    const url = double.serverUrl.replace('//', `//x-access-token:${token}@`);
    const { stdout } = await execa('git', ['ls-remote', `${url}/acme/shop.git`, 'refs/heads/fetched']);
    expect(stdout).toBe(`${sha}\trefs/heads/fetched`);
  });

  it('of protected branches stay where they are', async () => {
    await double.setProtected(fullName, 'main');
    const tip = await double.commit(fullName, { branch: 'main', files: { z: '1' } });
    const sha = await commit({ x: 'p' }, [tip]);
    const { data } = await octokit.repos.getBranch({ ...repo, branch: 'main' });
    expect([
      data.protected,
      data.commit.sha,
      await update('heads/main', sha),
      await update('heads/main', await commit({ y: '1' }), true),
      await message(octokit.git.deleteRef({ ...repo, ref: 'heads/main' })),
      await message(octokit.repos.getBranch({ ...repo, branch: 'none' })),
    ]).toEqual([
      true,
      tip,
      '422 Changes must be made through a pull request.',
      '422 Cannot force-push to this branch',
      '422 Cannot delete the default branch',
      '404 Branch not found',
    ]);
    await double.setProtected(fullName, 'main', false);
    expect((await octokit.repos.getBranch({ ...repo, branch: 'main' })).data.protected).toBe(false);
  });
});

describe('permissions', () => {
  it('lets nobody write code who may only read it', async () => {
    const reader = as(await double.mintToken(fullName, { contents: 'read', pull_requests: 'write' }));
    const forbidden = '403 Resource not accessible by integration';
    expect([
      await message(reader.git.createBlob({ ...repo, content: 'x' })),
      await message(reader.git.createTree({ ...repo, tree: [file('x', '')] as never })),
      await message(reader.git.createCommit({ ...repo, message: 'm', tree: baseTree })),
      await message(reader.git.createRef({ ...repo, ref: 'refs/heads/x', sha: headSha })),
      await message(reader.git.getTree({ ...repo, tree_sha: baseTree })),
    ]).toEqual([forbidden, forbidden, forbidden, forbidden, 200]);
  });

  it('guards workflows in trees and in refs, but not those that are there already', async () => {
    const path = '.github/workflows/ci.yml';
    await double.updateInstallation('acme', {
      permissions: { contents: 'write', metadata: 'read', workflows: 'write' },
    });
    const mighty = as(await double.mintToken(fullName));
    const weak = as(await double.mintToken(fullName, { contents: 'write' }));
    const entries = [file(path, 'on: release\n')] as never;
    const { data } = await mighty.git.createTree({ ...repo, base_tree: baseTree, tree: entries });
    const make = { ...repo, message: 'm', tree: data.sha, parents: [headSha] };
    const { sha } = (await weak.git.createCommit(make)).data;
    const ref = { ...repo, ref: 'refs/heads/workflow', sha };
    expect([
      await message(weak.git.createTree({ ...repo, base_tree: baseTree, tree: entries })),
      await message(weak.git.createRef(ref)),
      await message(mighty.git.createRef(ref)),
      await message(weak.git.createRef({ ...ref, ref: 'refs/heads/workflow2' })),
    ]).toEqual([
      '403 Resource not accessible by integration',
      `403 refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`,
      201,
      201,
    ]);
  });
});

describe('checkout', () => {
  it('writes the files of a ref as a clone has them', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'double-checkout-'));
    const to = join(parent, 'tree');
    const sha = await double.commit(fullName, {
      branch: 'out',
      files: { 'run.sh': { mode: '100755', content: 'x' }, 'bin.dat': Buffer.from([0, 255]) },
    });
    expect(await double.checkout(fullName, 'out', to)).toEqual({ sha });
    expect([
      await readFile(join(to, 'app/[id]/ü.js'), 'utf8'),
      [...(await readFile(join(to, 'bin.dat')))],
      (await stat(join(to, 'run.sh'))).mode & 0o111,
    ]).toEqual(['x\n', [0, 255], 0o111]);
    expect([
      await double.fileAt(fullName, 'out', 'run.sh'),
      await double.fileAt(fullName, 'out', 'none'),
      (await double.commitAt(fullName, 'out'))?.tree,
    ]).toEqual(['x', null, (await git('rev-parse', 'out^{tree}')).trim()]);
    await rm(parent, { recursive: true });
  });
});
