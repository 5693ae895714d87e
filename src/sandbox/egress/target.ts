import type { NetworkRule } from '../../config/sandbox-config.ts';
import type { Judged, Refusal, Target } from './egress.ts';

/** As rules have it: dot-separated labels of letters, digits and inner hyphens, in lower case. */
const hostName = /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/;
const portNumber = /^[1-9][0-9]{0,4}$/;

/**
 * Reads `host:port` or `host`. Names alone: user names, brackets (IPv6), percent signs and letters beyond ASCII are
 * refused rather than interpreted, since two readers may interpret them differently.
 */
export function parseAuthority(authority: string, defaultPort: number | null): Target | Refusal {
  if (authority.includes('@')) return { refused: 'a user name or password before the host is not taken' };
  if (authority.startsWith('[')) return { refused: 'addresses are not reached, only names' };
  const [, name, written] = /^([^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  if (name === undefined) return { refused: 'not a host and a port' };
  const host = name.toLowerCase().replace(/\.$/, '');
  if (host.length > 253 || !hostName.test(host))
    return { refused: 'not a host name (one beyond ASCII is written in its xn-- form)' };
  if (written === undefined)
    return defaultPort === null ? { refused: 'the port is missing' } : { host, port: defaultPort };
  const port = Number(written);
  if (!portNumber.test(written) || port > 65_535) return { refused: 'not a port' };
  return { host, port };
}

/** What looks like an IPv4 address to some reader: its last label is a number, in whatever notation. */
const likeAddress = /(^|\.)(0x[0-9a-f]*|[0-9]+)$/;

/** Whether a rule names exactly this host and port. */
export function judgeTarget(rules: readonly NetworkRule[], { host, port }: Target): Judged {
  const rule = rules.find((one) => one.host === host && one.port === port);
  if (rule !== undefined) return { rule };
  if (likeAddress.test(host)) return { refused: `${host} is an address; only names are reached` };
  const ports = rules.filter((one) => one.host === host).map((one) => one.port);
  const others = ports.length === 0 ? '' : ` (of ${host} only port ${ports.join(', ')} is allowed)`;
  return {
    refused:
      `${host}:${port} may not be reached from this sandbox${others}. If it should be, name it in ` +
      '`setup.network.allow` of .github/patchfleet.yml, and let the operator add it to `sandbox.network.allow`',
  };
}
