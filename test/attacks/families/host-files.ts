import type { Family } from '../attack.ts';
import { files } from './host-files/files.ts';
import { knobs } from './host-files/knobs.ts';
import { preparedLayers } from './host-files/layers.ts';
import { processes } from './host-files/processes.ts';
import { shared } from './host-files/shared.ts';

/** What lies on the host: files, secrets of processes, knobs of the kernel. */
export const hostFiles: Family = {
  name: 'host-files',
  title: 'reading and writing what is the host’s',
  attacks: [...files, ...processes, ...knobs, ...shared, ...preparedLayers],
};
