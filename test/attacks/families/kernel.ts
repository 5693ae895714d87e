import type { Family } from '../attack.ts';
import { calls } from './kernel/calls.ts';
import { entry } from './kernel/entry.ts';
import { mounts } from './kernel/mounts.ts';
import { namespaces } from './kernel/namespaces.ts';
import { rights } from './kernel/rights.ts';

/** The kernel below: namespaces, mounts, devices, and what only its owner may ask of it. */
export const kernel: Family = {
  name: 'kernel',
  title: 'the kernel: namespaces, mounts, devices, privileged calls',
  attacks: [...namespaces, ...mounts, ...calls, ...rights, ...entry],
};
