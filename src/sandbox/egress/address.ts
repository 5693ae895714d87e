import { isIPv4, isIPv6 } from 'node:net';
import type { NetworkRule } from '../../config/sandbox-config.ts';

/**
 * - `public`: of the Internet.
 * - `private`: of somebody's own network or this machine's loopback; a rule must say `private`.
 * - `never`: nothing a package could come from (link-local, metadata services, multicast, reserved), or an address
 *   that hides another.
 */
export type AddressKind = 'public' | 'private' | 'never';

/** Metadata services outside of the link-local blocks: Azure, Alibaba; AWS (all it has there), Google and Scaleway by IPv6. */
const metadata = blocks([
  ...['168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128'],
]);

const privateV4 = blocks(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10']);
const neverV4 = blocks([
  ...['0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
]);
const privateV6 = blocks(['::1/128', 'fc00::/7']);
/** NAT64: the way to the Internet of machines without IPv4. It goes where the IPv4 address in it goes. */
const nat64 = blocks(['64:ff9b::/96']);
const globalV6 = blocks(['2000::/3']);
/** Within the global block: protocol assignments and Teredo, documentation, 6to4, documentation again. */
const neverV6 = blocks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** What kind of address a text is; a text that is none is `never`. */
export function addressKind(address: string): AddressKind {
  const bytes = bytesOf(address);
  if (bytes === null || within(bytes, metadata)) return 'never';
  if (bytes.length === 4) {
    if (within(bytes, neverV4)) return 'never';
    return within(bytes, privateV4) ? 'private' : 'public';
  }
  if (within(bytes, privateV6)) return 'private';
  if (within(bytes, nat64)) return addressKind(bytes.slice(12).join('.')) === 'public' ? 'public' : 'never';
  // Everything else outside of the global block is reserved, local, multicast, or wraps an IPv4 address.
  return within(bytes, globalV6) && !within(bytes, neverV6) ? 'public' : 'never';
}

export const isPublicAddress = (address: string): boolean => addressKind(address) === 'public';

/**
 * Whether what a name resolved to may be connected to: null, or why not. One bad address condemns them all: a name
 * that leads both out and in is not a name to be trusted with the choice.
 */
export function judgeAddresses(addresses: readonly string[], rule: NetworkRule): string | null {
  if (addresses.length === 0) return `${rule.host} has no address`;
  for (const address of addresses) {
    const kind = addressKind(address);
    if (kind === 'never') return `${rule.host} leads to ${shown(address)}, which is never reached`;
    if (kind === 'private' && !rule.private) {
      return (
        `${rule.host} leads to the private address ${shown(address)}. If that is meant, the operator says ` +
        '`private: true` in `sandbox.network.allow`'
      );
    }
  }
  return null;
}

const shown = (address: string) => address.slice(0, 60);

/** 4 or 16 bytes. Null for anything else, an address with a zone too. */
function bytesOf(address: string): readonly number[] | null {
  if (isIPv4(address)) return address.split('.').map(Number);
  if (!isIPv6(address) || address.includes('%')) return null;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, before = '', a, b, c, d] = dotted ?? [];
  const group = (high: string | undefined, low: string | undefined) =>
    (Number(high) * 256 + Number(low)).toString(16);
  const text = dotted === null ? address : `${before}${group(a, b)}:${group(c, d)}`;
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [left, right] = [groups(head), tail === undefined ? [] : groups(tail)];
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].flatMap((hex) => {
    const value = Number.parseInt(hex, 16);
    return [value >> 8, value & 255];
  });
}

interface Block {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function blocks(texts: readonly string[]): readonly Block[] {
  return texts.map((text) => {
    const [address = '', bits] = text.split('/');
    return { bytes: bytesOf(address) ?? [], bits: Number(bits) };
  });
}

function within(bytes: readonly number[], all: readonly Block[]): boolean {
  return all.some((block) => {
    if (block.bytes.length !== bytes.length) return false;
    return bytes.every((byte, index) => {
      const bits = Math.max(0, Math.min(8, block.bits - index * 8));
      const mask = (0xff << (8 - bits)) & 0xff;
      return (byte & mask) === ((block.bytes[index] ?? 0) & mask);
    });
  });
}
