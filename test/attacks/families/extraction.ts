import type { Family } from '../attack.ts';
import { disk } from './extraction/disk.ts';
import { kinds } from './extraction/kinds.ts';
import { links } from './extraction/links.ts';
import { names } from './extraction/names.ts';
import { race } from './extraction/race.ts';
import { readingOf } from './extraction/reading.ts';
import { repositories } from './extraction/repositories.ts';

/** Reading a workspace after an agent: nothing is followed, run, opened or waited for. */
export const extraction: Family = {
  name: 'extraction',
  title: 'what an agent leaves in its workspace',
  attacks: [...readingOf([...links, ...kinds, ...names, ...repositories]), ...race, ...disk],
};
