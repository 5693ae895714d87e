import { describe, expect, it } from 'vitest';
import { allowedNetwork } from '../../../src/config/allowed-network.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';

const operator = sandboxConfigSchema.parse({
  network: {
    allow: [
      { host: 'registry.npmjs.org' },
      { host: 'proxy.golang.org' },
      { host: 'packages.example', port: 8443, private: true },
    ],
  },
});
const none = sandboxConfigSchema.parse({});
const repository = (...allow: string[]) => repositoryConfigSchema.parse({ setup: { network: { allow } } });

describe('what the sandboxes of a repository may reach', () => {
  it.each<[string, string[], string[]]>([
    ['nothing, where nothing is named', [], []],
    ['what is named, at 443', ['registry.npmjs.org'], ['registry.npmjs.org:443']],
    ['the same, with its port', ['registry.npmjs.org:443'], ['registry.npmjs.org:443']],
    ['each once', ['registry.npmjs.org:443', 'Registry.NPMjs.org'], ['registry.npmjs.org:443']],
    [
      'in one order',
      ['registry.npmjs.org', 'packages.example:8443'],
      ['packages.example:8443', 'registry.npmjs.org:443'],
    ],
  ])('is %s', (_name, named, expected) => {
    const rules = allowedNetwork(operator, repository(...named));
    expect(rules.map(({ host, port }) => `${host}:${port}`)).toEqual(expected);
  });

  it("is by the operator's rule: only that says what may be private", () => {
    expect(allowedNetwork(operator, repository('packages.example:8443'))).toEqual([
      { host: 'packages.example', port: 8443, private: true },
    ]);
  });

  it.each([
    ['another port', 'packages.example', 'the operator does not allow `packages.example:443`'],
    ['another host', 'evil.example', 'the operator does not allow `evil.example:443`'],
    ['a name below', 'a.registry.npmjs.org', 'the operator does not allow `a.registry.npmjs.org:443`'],
    ['a wildcard', '*.npmjs.org', '`*.npmjs.org` is no `host` or `host:port`'],
    ['a URL', 'https://registry.npmjs.org', '`https://registry.npmjs.org` is no `host` or `host:port`'],
    ['a user', 'a@registry.npmjs.org', '`a@registry.npmjs.org` is no `host` or `host:port`'],
    ['what would leave its code span', 'a`\n# b', '`a # b` is no `host` or `host:port`'],
  ])('is refused for %s', (_name, named, problem) => {
    expect(() => allowedNetwork(operator, repository('registry.npmjs.org', named))).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        detail: `.github/patchfleet.yml: setup.network.allow: ${problem} (allowed: \`registry.npmjs.org:443\`, \`proxy.golang.org:443\`, \`packages.example:8443\`)`,
      }),
    );
  });

  it('is nothing by default, and all that was named is told', () => {
    expect(() => allowedNetwork(none, repository('a.example', 'b.example:80'))).toThrow(
      'setup.network.allow: the operator does not allow `a.example:443`; the operator does not allow `b.example:80` (the operator allows none)',
    );
  });
});
