import type { Family } from '../attack.ts';
import { neighbours } from './network/neighbours.ts';
import { places } from './network/places.ts';
import { sockets } from './network/sockets.ts';

/** A sandbox has no network: every way out that needs none of our proxy. */
export const network: Family = {
  name: 'network',
  title: 'getting out by the network',
  attacks: [...places, ...sockets, ...neighbours],
};
