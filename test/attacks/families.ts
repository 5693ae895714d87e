import type { Family } from './attack.ts';
import { exhaustion } from './families/exhaustion.ts';
import { hostFiles } from './families/host-files.ts';
import { kernel } from './families/kernel.ts';

/** All of them, in the order they are told. */
export const families: readonly Family[] = [kernel, hostFiles, exhaustion];
