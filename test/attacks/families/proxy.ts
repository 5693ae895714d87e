import type { Family } from '../attack.ts';
import { places } from './proxy/places.ts';
import { requests } from './proxy/requests.ts';
import { strain } from './proxy/strain.ts';

/** With something allowed: nothing but that is reached, whatever the request looks like. */
export const proxy: Family = {
  name: 'proxy',
  title: 'getting out by the proxy of what is allowed',
  attacks: [...places, ...requests, ...strain],
};
