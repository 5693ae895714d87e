import { describe, expect, it } from 'vitest';
import type { TreeEntry } from '../../../../src/sandbox/bases/mirror-reader.ts';
import { setupInputs } from '../../../../src/sandbox/bases/setup-inputs.ts';

const tree = (files: Readonly<Record<string, string>>): TreeEntry[] =>
  Object.entries(files).map(([path, oid]) => ({ mode: '100644', oid, path: Buffer.from(path) }));
const files = {
  'package.json': '1',
  'apps/web/pnpm-lock.yaml': '2',
  'src/a.js': '3',
  'patches/x.patch': '4',
};
const digest = (change: Readonly<Record<string, string>>, globs: readonly string[] | null = null) =>
  setupInputs(tree({ ...files, ...change }), globs);

describe('the files that decide what a setup brings', () => {
  it('are lockfiles and manifests, in whatever directory', () => {
    expect(digest({ 'src/a.js': '9', 'src/b.js': '9' })).toBe(digest({}));
    expect(digest({ 'package.json': '9' })).not.toBe(digest({}));
    expect(digest({ 'apps/web/pnpm-lock.yaml': '9' })).not.toBe(digest({}));
    expect(digest({ 'tools/requirements-dev.txt': '9' })).not.toBe(digest({}));
    expect(digest({ '.npmrc': '9' })).not.toBe(digest({}));
  });

  it('count by path, mode and content', () => {
    const moved = tree({ ...files });
    const at = moved.findIndex(({ path }) => path.toString() === 'package.json');
    const entry = moved[at];
    if (entry === undefined) throw new Error('no entry');
    expect(setupInputs(moved.with(at, { ...entry, mode: '100755' }), null)).not.toBe(digest({}));
    expect(setupInputs(moved.with(at, { ...entry, path: Buffer.from('b/package.json') }), null)).not.toBe(
      digest({}),
    );
  });

  it('are those that are named, and no others', () => {
    const globs = ['patches/**', 'src/*.js'];
    expect(digest({ 'package.json': '9' }, globs)).toBe(digest({}, globs));
    expect(digest({ 'patches/x.patch': '9' }, globs)).not.toBe(digest({}, globs));
    expect(digest({ 'src/a.js': '9' }, globs)).not.toBe(digest({}, globs));
  });

  it('are all where none is known or found', () => {
    const plain = { 'src/a.js': '1', README: '2' };
    const other = { ...plain, README: '9' };
    expect(setupInputs(tree(other), null)).not.toBe(setupInputs(tree(plain), null));
    expect(setupInputs(tree(other), ['*.lock'])).not.toBe(setupInputs(tree(plain), ['*.lock']));
    expect(setupInputs(tree(plain), [])).toBe(setupInputs(tree(plain), null));
  });
});
