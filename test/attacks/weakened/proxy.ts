import { type Weakness, within } from './weakness.ts';

/** What the proxy of a sandbox looks at. */
export const proxyWeaknesses: readonly Weakness[] = [
  ...within('src/sandbox/egress/target.ts', [
    [
      'any port of a host',
      'rules.find((one) => one.host === host && one.port === port)',
      'rules.find((one) => one.host === host)',
      'other port',
    ],
    [
      'any name that ends so',
      'rules.find((one) => one.host === host &&',
      'rules.find((one) => host.endsWith(one.host) &&',
      'other host',
    ],
  ]),
  ...within('src/sandbox/egress/address.ts', [
    [
      'private addresses',
      "if (kind === 'private' && !rule.private)",
      "if (kind === 'private' && rule.port === 0)",
      'name that leads inward',
    ],
    [
      'addresses that hide another',
      "if (kind === 'never')",
      "if (kind === 'never' && address === '')",
      'name that leads inward',
    ],
  ]),
  ...within('src/sandbox/egress/proxy.ts', [
    [
      'a name is resolved twice',
      'connectTo(addresses, target.port, abort)',
      'resolve(target.host, abort).then((again) => connectTo(again, target.port, abort))',
      'rebinding',
    ],
    [
      'nothing is recorded',
      "await records.allowed(target, { method, address: addresses.join(' ').slice(0, 200) });",
      '',
      'what is allowed',
    ],
    [
      'any number of connections',
      'open.size >= maxEgressConnections',
      'open.size >= 9999',
      'many connections',
    ],
    [
      'whatever the proxy is told',
      "if ('refused' in judged) return await no(judged.refused, 403);",
      "if ('refused' in judged) return await connectTo([target.host], target.port, signal);",
      'redirect',
      'channels of its own',
    ],
  ]),
  ...within('src/sandbox/egress/tunnel.ts', [
    [
      'any name in TLS',
      "const why = begun.kind === 'tls' ? wrongName(begun.name, target) : begun.reason;",
      "const why = begun.kind === 'tls' ? null : wrongName('', target) && begun.reason;",
      'name of the certificate',
    ],
    [
      'anything inside a tunnel',
      "if (begun.kind === 'plain') return await inside(passage, target, upstream, signal);",
      "if (begun.kind === 'plain') { await Promise.all([pipeline(client, upstream, { signal }), pipeline(upstream, client, { signal })]); return; }",
      'inside a tunnel',
    ],
  ]),
  ...within('src/sandbox/egress/request.ts', [
    [
      'Host names another place',
      'if (host.host !== target.host || host.port !== target.port)',
      'if (host.host === null)',
      'other Host',
    ],
    ['more than one Host', "if (hosts.length > 1) return bad('more than one Host');", '', 'two Hosts'],
  ]),
];
