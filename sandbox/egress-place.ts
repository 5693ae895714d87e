/** Where both sides look for the way out of a sandbox. Imports nothing: the worker uses it too. */

/** Port of the proxy on the container's own loopback; each container has a loopback of its own. */
export const egressPort = 3128;

/** Directory of the container in which the worker's socket lies, where one is mounted. */
export const egressDirectory = '/run/patchfleet';
export const egressSocketName = 'egress.sock';

/** Argument that tells the tool server to open {@link egressPort}. */
export const egressArgument = '--egress';

/** How a sandbox's connections get to the worker: by its socket, or over the tool server's own stream. */
export type EgressTransport = 'socket' | 'stream';

/** Connections of one sandbox at a time; more are closed at once. */
export const maxEgressConnections = 64;
