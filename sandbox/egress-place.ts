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

const proxy = `http://127.0.0.1:${egressPort}`;
const direct = 'localhost,127.0.0.1,::1';

/** What tells programs of the proxy: curl, git, pip, go and cargo, npm and pnpm, yarn, and what runs on Node. */
export const proxyVariables: readonly string[] = [
  ...[`HTTP_PROXY=${proxy}`, `HTTPS_PROXY=${proxy}`, `NO_PROXY=${direct}`],
  ...[`http_proxy=${proxy}`, `https_proxy=${proxy}`, `no_proxy=${direct}`],
  ...[`npm_config_proxy=${proxy}`, `npm_config_https_proxy=${proxy}`, `npm_config_noproxy=${direct}`],
  ...[`YARN_HTTP_PROXY=${proxy}`, `YARN_HTTPS_PROXY=${proxy}`],
  'NODE_USE_ENV_PROXY=1',
];
