import { expect, it } from 'vitest';
import {
  mountPoints,
  optionProblem,
  overlayOptions,
} from '../../../../src/sandbox/workspaces/overlay-mount.ts';

it('pins the options of an overlay, the topmost layer first', () => {
  expect(overlayOptions(['lower1', 'lower0'], 'upper', 'work')).toBe(
    'nosuid,nodev,lowerdir=lower1:lower0,upperdir=upper,workdir=work,userxattr,index=off,xino=off,redirect_dir=nofollow,metacopy=off',
  );
});

it.each([
  ['/data/workspaces', null],
  ['/data/ü b', null],
  ['/data/a,b', 'the path "/data/a,b" has a "," in it'],
  ['/data/a:b', 'the path "/data/a:b" has a ":" in it'],
  ['/data/a\\b', 'the path "/data/a\\\\b" has a "\\\\" in it'],
  ['/data/a\nb', 'the path "/data/a\\nb" has a "\\n" in it'],
])('says why %j cannot be among them', (path, problem) => {
  expect(optionProblem(path)).toBe(problem);
});

it('reads mount points as the kernel writes them', () => {
  const mountinfo = [
    '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '45 27 0:39 / /data/a\\040b\\011c\\134d\\012e/merged rw,nosuid - overlay patchfleet rw,lowerdir=lower0',
    '',
  ].join('\n');
  expect(mountPoints(mountinfo)).toEqual(['/', '/data/a b\tc\\d\ne/merged']);
});
