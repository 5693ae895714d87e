import { describe, expect, it } from 'vitest';
import { readOperatorConfig } from '../../../src/config/read-operator-config.ts';
import { readRepositoryConfig } from '../../../src/config/read-repository-config.ts';
import { formatProblem, type Read } from '../../../src/config/read-yaml-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

function problems(read: Read<unknown>): string[] {
  return read.ok ? [] : read.problems.map((problem) => formatProblem('f', problem));
}

const command = 'name: lint\n    kind: command\n    command: [lint]\n    format: lines';

const agents = [
  { name: 'ops', kind: 'command' },
  { name: 'writer', kind: 'model' },
] as const;

describe('the repository file', () => {
  it.each([
    ['missing', null],
    ['empty', ''],
    ['a comment alone', '# nothing\n'],
  ])('has its defaults where it is %s', (_name, text) => {
    expect(readRepositoryConfig(text, [])).toEqual({ ok: true, value: repositoryConfigSchema.parse({}) });
  });

  it('is read', () => {
    const read = readRepositoryConfig(
      `review:\n  fail_on: never\n  agents: [lint, ops]\ncommands:\n  - ${command}\n`,
      agents,
    );
    expect(read.ok && [read.value.review.fail_on, read.value.commands[0]?.success_codes]).toEqual([
      'never',
      [0, 1],
    ]);
  });

  it.each([
    [
      'a wrong choice',
      'review:\n  drafts: true\n  fail_on: eror',
      ['f:3: `review.fail_on`: "eror" is not valid. Valid: one of `error`, `warning`, `note`, `never`'],
    ],
    [
      'a wrong type',
      '\nreview:\n  drafts: "yes"',
      ['f:3: `review.drafts`: "yes" is not valid. Valid: `true` or `false`'],
    ],
    [
      'a section that is empty',
      'review:',
      [
        'f:1: `review`: null is not valid. Valid: a mapping with the keys enabled, drafts, agents, ignore, instructions, fail_on',
      ],
    ],
    [
      'an unknown key',
      'reviews: {}',
      [
        'f:1: `reviews`: unknown key `reviews`. Valid: did you mean `review`? Known keys: review, setup, sandbox, verify, fix, triage, batch, campaigns, commands',
      ],
    ],
    [
      'an unknown key like no other',
      'xyzzy: 1',
      [
        'f:1: `xyzzy`: unknown key `xyzzy`. Valid: Known keys: review, setup, sandbox, verify, fix, triage, batch, campaigns, commands',
      ],
    ],
    [
      'a missing key, at its parent',
      'commands:\n  - name: lint\n    kind: command\n    format: lines',
      ['f:2: `commands[0].command`: is missing. Valid: a list, not empty, each text, not empty'],
    ],
    [
      'a name of the wrong form',
      `commands:\n  - ${command.replace('lint\n', 'Lint It\n')}`,
      [
        'f:2: `commands[0].name`: "Lint It" is not valid. Valid: lower-case letters, digits and hyphens, at most 40, e.g. `eslint` (text)',
      ],
    ],
    [
      'a number out of range',
      `commands:\n  - ${command}\n    success_codes: [0, 300]`,
      ['f:6: `commands[0].success_codes[1]`: 300 is not valid. Valid: a whole number from 0 to 255'],
    ],
    [
      'a pattern that does not compile',
      `commands:\n  - ${command}\n    pattern: "(?<path>"`,
      [
        expect.stringMatching(
          /^f:6: `commands\[0\]\.pattern`: the regular expression does not compile: .*Valid: a regular expression with the named groups path, line and message$/,
        ),
      ],
    ],
    [
      'a pattern without its groups',
      `commands:\n  - ${command}\n    pattern: "(?<path>.*)"`,
      [
        'f:6: `commands[0].pattern`: the regular expression lacks the group line, message. Valid: a regular expression with the named groups path, line and message',
      ],
    ],
    [
      'a name of the operator',
      `commands:\n  - ${command.replace('lint\n', 'ops\n')}`,
      ['f:2: `commands[0].name`: the agent name `ops` is used twice. Valid: a name other than ops, writer'],
    ],
    [
      'an agent that does not exist',
      'review:\n  agents:\n    - ops\n    - osp',
      [
        'f:4: `review.agents[1]`: there is no agent `osp`. Valid: did you mean `ops`? Known agents: ops, writer',
      ],
    ],
    [
      'a fixer that does not exist',
      'fix: {agents: [writre]}',
      [
        'f:1: `fix.agents[0]`: there is no agent `writre`. Valid: did you mean `writer`? Known model agents: writer',
      ],
    ],
    [
      'a fixer that is no model',
      'fix:\n  agents: [ops]',
      ['f:2: `fix.agents[0]`: the agent `ops` is no model agent. Valid: Known model agents: writer'],
    ],
    [
      'a campaign named twice',
      'campaigns:\n  - &c {name: docs, branch: main, instruction: x}\n  - {name: docs, branch: next, instruction: y}',
      ['f:3: `campaigns[1].name`: the campaign name `docs` is used twice. Valid: a name of its own'],
    ],
    [
      'a list at the top',
      '- a',
      [
        'f:1: ["a"] is not valid. Valid: a mapping with the keys review, setup, sandbox, verify, fix, triage, batch, campaigns, commands',
      ],
    ],
    [
      'broken YAML',
      'review:\n  drafts: [true\n',
      [expect.stringMatching(/^f:\d: not valid YAML: .*Valid: YAML 1\.2;/s)],
    ],
    [
      'a key given twice',
      'review: {}\nreview: {}',
      [expect.stringMatching(/^f:2: not valid YAML: the key `review` stands twice/)],
    ],
    ['two documents', 'review: {}\n---\nreview: {}', [expect.stringMatching(/^f:\d: not valid YAML: /)]],
    ['an alias to nothing', 'review: *x', [expect.stringMatching(/^f:1: .*alias/i)]],
    [
      'U+0000 in a text',
      'review:\n  instructions: "a\\0b"',
      ['f:2: a text holds the character U+0000. Valid: text without it'],
    ],
    [
      'too much text',
      `# ${'x'.repeat(200_000)}`,
      ['f:1: the file is larger than 128 KiB. Valid: a smaller file'],
    ],
  ])('with %s is refused, naming key, line and a valid value', (_name, text, expected) => {
    expect(problems(readRepositoryConfig(text, agents))).toEqual(expected);
  });

  it('is refused when its aliases unfold without bound', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let i = 0; i < 8; i += 1)
      bomb.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i === 0 ? '' : i - 1}`)
          .join(', ')}]`,
      );
    const took = cpuTimeOf(() => {
      expect(problems(readRepositoryConfig(bomb.join('\n'), []))).toEqual([
        expect.stringMatching(/^f:1: the aliases cannot be resolved/),
      ]);
    });
    expect(took).toBeLessThan(10_000);
  });

  it.each([
    ['values', `review: {ignore: [${'1,'.repeat(12_000)}1]}`, 12_001],
    ['keys', Array.from({ length: 4000 }, (_, index) => `k${index}: 1`).join('\n'), 4000],
    ['agents', `review: {agents: [${'nobody,'.repeat(4000)}nobody]}`, 4001],
  ])('is refused with a hundred of its problems where it has tens of thousands: %s', (_name, text, count) => {
    const told = problems(readRepositoryConfig(text, agents));
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toBe(`f: ${count - 100} more problems are not shown. Valid: none`);
  });

  it('tells all its problems at once, by line', () => {
    const text = 'commands: 3\nreview:\n  drafts: 1\n  nope: 2\n  ignore: [1]\n';
    expect(problems(readRepositoryConfig(text, [])).map((line) => line.split(':')[1])).toEqual([
      '1',
      '3',
      '4',
      '5',
    ]);
  });
});

describe('the operator file', () => {
  const env = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: 'k', MODEL: 'm' };

  it('may be missing where the environment names a model: one agent over the channel `default`', () => {
    const read = readOperatorConfig(null, env);
    expect(
      read.ok && [
        read.value.agents,
        read.value.channels.map((c) => [c.name, c.base_url, c.key_env, c.model]),
      ],
    ).toEqual([
      [{ name: 'reviewer', kind: 'model', channel: 'default', files: ['**'], instructions: '' }],
      [['default', 'http://127.0.0.1:1/v1', 'OPENAI_API_KEY', 'm']],
    ]);
  });

  it('gives the default agent the only channel there is', () => {
    const read = readOperatorConfig('channels: [{name: local, base_url: http://x/v1, model: m}]', {});
    expect(read.ok && read.value.agents[0]).toMatchObject({ name: 'reviewer', channel: 'local' });
  });

  it('keeps its own channel `default` over that of the environment', () => {
    const read = readOperatorConfig('channels: [{name: default, base_url: http://x/v1, model: own}]', env);
    expect(read.ok && read.value.channels.map((c) => c.model)).toEqual(['own']);
  });

  it.each([
    [
      'no agents at all',
      null,
      {},
      [
        'f:1: `agents`: there are no agents. Valid: an agent under `agents`, a channel under `channels`, or the environment variables OPENAI_BASE_URL, OPENAI_API_KEY, MODEL',
      ],
    ],
    [
      'a model named by half',
      null,
      { MODEL: 'm' },
      [expect.stringMatching(/environment variables OPENAI_BASE_URL, OPENAI_API_KEY$/)],
    ],
    [
      'a channel that does not exist',
      'agents:\n  - name: r\n    kind: model\n    channel: fast',
      env,
      ['f:4: `agents[0].channel`: there is no channel `fast`. Valid: one of default'],
    ],
    [
      'a fallback that does not exist, or is the agent itself',
      'agents:\n  - {name: r, kind: model, fallbacks: [s]}\n  - {name: t, kind: model, fallbacks: [t, r]}',
      env,
      [
        'f:2: `agents[0].fallbacks[0]`: there is no agent `s`. Valid: one of t',
        'f:3: `agents[1].fallbacks[0]`: an agent does not follow itself. Valid: one of r',
      ],
    ],
    [
      'a name used twice',
      'agents:\n  - {name: r, kind: model}\n  - {name: r, kind: model}',
      env,
      ['f:3: `agents[1].name`: the agent name `r` is used twice. Valid: a name other than r'],
    ],
    [
      'a channel named twice',
      'channels:\n  - &c {name: c, base_url: http://x, model: m}\n  - *c',
      {},
      ['f:3: `channels[1].name`: the channel name `c` is used twice. Valid: a name of its own'],
    ],
    [
      'an unknown kind of agent',
      'agents:\n  - name: r\n    kind: human',
      env,
      ['f:3: `agents[0].kind`: "human" is not valid. Valid: one of `command`, `model`'],
    ],
    [
      'a limit out of range',
      'limits:\n  parallel: 0',
      env,
      ['f:2: `limits.parallel`: 0 is not valid. Valid: a whole number from 1 to 1000, e.g. 8'],
    ],
    [
      'a URL that is none',
      'channels:\n  - name: c\n    base_url: nowhere\n    model: m',
      {},
      ['f:3: `channels[0].base_url`: "nowhere" is not valid. Valid: a URL'],
    ],
  ])('with %s is refused, naming key, line and a valid value', (_name, text, variables, expected) => {
    expect(problems(readOperatorConfig(text, variables))).toEqual(expected);
  });
});
