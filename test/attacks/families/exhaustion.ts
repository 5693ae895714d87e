import type { Family } from '../attack.ts';
import { counted } from './exhaustion/counted.ts';
import { disk } from './exhaustion/disk.ts';
import { memory } from './exhaustion/memory.ts';
import { processes } from './exhaustion/processes.ts';
import { time } from './exhaustion/time.ts';

/** Using up what is shared: processes, memory, disk, descriptors, processors, output. */
export const exhaustion: Family = {
  name: 'exhaustion',
  title: 'bombs: processes, memory, disk, descriptors, processors, output',
  attacks: [...processes, ...memory, ...disk, ...counted, ...time],
};
