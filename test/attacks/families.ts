import type { Family } from './attack.ts';
import { exhaustion } from './families/exhaustion.ts';
import { extraction } from './families/extraction.ts';
import { hostFiles } from './families/host-files.ts';
import { kernel } from './families/kernel.ts';
import { network } from './families/network.ts';
import { proxy } from './families/proxy.ts';
import { scope } from './families/scope.ts';
import { toolServer } from './families/tool-server.ts';

/** All of them, in the order they are told. */
export const families: readonly Family[] = [
  kernel,
  hostFiles,
  exhaustion,
  network,
  proxy,
  extraction,
  toolServer,
  scope,
];
