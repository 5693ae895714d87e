import { expect, it } from 'vitest';
import { crashHandlerNote } from '../../../src/sandbox/crash-handler.ts';

const standard = { isolation: 'standard', runtime: null } as const;

it('says nothing of files, of programs, which get nothing from sandboxes, nor of a machine that says nothing', () => {
  for (const pattern of ['core\n', 'core.%p', '/var/crash/%e@%p', '|/usr/share/apport/apport -p%p', ''])
    expect(crashHandlerNote(pattern, standard)).toBe(null);
});

it('names the place, what is there and the remedy where crashes go to a socket of the machine', () => {
  for (const pattern of ['@/run/systemd/coredump', '@@/run/systemd/coredump'])
    expect(crashHandlerNote(`${pattern}\n`, standard)).toBe(
      `Recommended: programs that crash in sandboxes are handed to a program on this machine (/proc/sys/kernel/core_pattern is \`${pattern}\`). Set \`kernel.core_pattern=core\` by a file in /etc/sysctl.d, and turn off the service that sets it otherwise (as systemd-coredump does); or set \`sandbox.isolation: strict\`.`,
    );
});

it('says nothing where sandboxes crash on a kernel of their own, and does for any other runtime', () => {
  const said = (isolation: 'standard' | 'strict', runtime: string | null) =>
    crashHandlerNote('@/handler', { isolation, runtime }) !== null;
  expect([
    said('strict', null),
    said('strict', 'kata'),
    said('standard', 'runsc-kvm'),
    said('standard', 'runc'),
    said('standard', 'other'),
  ]).toEqual([false, false, false, true, true]);
});
