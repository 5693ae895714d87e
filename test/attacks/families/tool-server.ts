import type { Family } from '../attack.ts';
import { checks } from './tool-server/checks.ts';
import { frames } from './tool-server/frames.ts';
import { server } from './tool-server/server.ts';

/** The tool server has no more rights than the agent, and its word is not believed. */
export const toolServer: Family = {
  name: 'tool-server',
  title: 'lying to the worker, and killing what speaks to it',
  attacks: [...server, ...frames, ...checks],
};
