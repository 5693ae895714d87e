import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressKind, isPublicAddress, judgeAddresses } from '../../../../src/sandbox/egress/address.ts';
import { rule } from '../egress-setting.ts';

const byte = fc.integer({ min: 0, max: 255 });
const v4 = fc.tuple(byte, byte, byte, byte);
const hex = (a: number, b: number) => (a * 256 + b).toString(16);

describe('the kind of an address', () => {
  it.each([
    ['public', ['1.1.1.1', '93.184.216.34', '172.15.255.255', '172.32.0.0', '100.63.0.1', '100.128.0.1']],
    ['public', ['2606:4700::1111', '2a00::', '64:ff9b::1.1.1.1', '64:ff9b::101:101']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '127.0.0.1', '127.255.255.254']],
    ['private', ['100.64.0.1', '100.127.255.255', '::1', 'fc00::1', 'fdff::1', '0:0:0:0:0:0:0:1']],
    ['never', ['169.254.169.254', '169.254.0.1', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']],
    ['never', ['fd00:ec2::23', 'fd00:ec2:1::1', 'fd20:ce::254', 'fd00:42::42']],
    ['never', ['0.0.0.0', '0.1.2.3', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255']],
    ['never', ['192.0.0.192', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.9']],
    [
      'never',
      ['::', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::', '2001::1'],
    ],
    ['never', ['::ffff:8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1']],
    ['never', ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b:1::1.1.1.1']],
    [
      'never',
      ['', 'localhost', '0x7f.1', '127.1', '2130706433', '017700000001', '1.1.1.1 ', '[::1]', '1.1.1'],
    ],
  ])('is %s of %j', (kind, addresses) => {
    expect(addresses.map((address) => [address, addressKind(address)])).toEqual(
      addresses.map((address) => [address, kind]),
    );
  });

  it('is the same however an IPv6 address is written', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const often = fc.oneof(
      groups,
      groups.map((all) => all.map((one, at) => (at > 0 && at < 7 ? 0 : one))),
    );
    fc.assert(
      fc.property(often, (all) => {
        const full = all.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        expect(addressKind(short)).toBe(addressKind(full));
      }),
    );
  });

  it('is never public for an IPv4 address wrapped in IPv6, but by NAT64 of a public one', () => {
    fc.assert(
      fc.property(v4, ([a, b, c, d]) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const low = `${hex(a, b)}:${hex(c, d)}`;
        for (const wrapped of [
          `::ffff:${dotted}`,
          `::ffff:${low}`,
          `::${dotted}`,
          `2002:${low}::`,
          `2001::${low}`,
        ])
          expect(isPublicAddress(wrapped)).toBe(false);
        expect(isPublicAddress(`64:ff9b::${low}`)).toBe(isPublicAddress(dotted));
      }),
    );
  });
});

it('one address that may not be reached condemns a name, wherever it stands', () => {
  const open = fc.array(v4.map((all) => all.join('.')).filter(isPublicAddress), { maxLength: 4 });
  const shut = fc.constantFrom('127.0.0.1', '10.1.1.1', '169.254.169.254', '::', 'fe80::1', 'x');
  fc.assert(
    fc.property(open, open, shut, (before, after, bad) => {
      const isPublic = rule('a.test', 443, false);
      if (before.length > 0) expect(judgeAddresses(before, isPublic)).toBe(null);
      expect(judgeAddresses([...before, bad, ...after], isPublic)).toContain('a.test leads to');
    }),
  );
  const isPrivate = rule('a.test', 443, true);
  expect(judgeAddresses(['10.0.0.1', '::1', '1.1.1.1'], isPrivate)).toBe(null);
  expect(judgeAddresses(['10.0.0.1', '169.254.169.254'], isPrivate)).toContain('never reached');
  expect(judgeAddresses([], isPrivate)).toBe('a.test has no address');
});
