import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { plantedFaults } from '../../support/model/planted-faults.ts';

let double: ModelDouble;
beforeAll(async () => {
  double = await createModelDouble({ contextTokens: 1000 });
});
afterAll(() => double.close());
beforeEach(() => double.clearJournal());

const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'search', arguments: '{}' } })),
});
const answer = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' });
const user = { role: 'user', content: 'hello' };
const tool = (name: string, parameters: object) => ({ type: 'function', function: { name, parameters } });

async function post(body: object, headers: Record<string, string> = { authorization: 'Bearer k' }) {
  const response = await fetch(`${double.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: double.model, messages: [user], ...body }),
  });
  return {
    status: response.status,
    body: (await response.json()) as { error?: { message: string; code: string } },
  };
}

describe('the model double', () => {
  it.each<[string, object, number, RegExp]>([
    ['an unknown model', { model: 'gpt-none' }, 404, /does not exist/],
    ['no message', { messages: [] }, 400, /'messages'/],
    ['a message without content', { messages: [{ role: 'user' }] }, 400, /messages\.0\.content/],
    [
      'an empty assistant message',
      { messages: [user, { role: 'assistant', content: null }] },
      400,
      /null only beside/,
    ],
    [
      'an orphaned tool call',
      { messages: [user, calls('a', 'b'), answer('a')] },
      400,
      /did not have response messages: b/,
    ],
    [
      'a tool call answered too late',
      { messages: [user, calls('a'), user, answer('a')] },
      400,
      /did not have response messages: a/,
    ],
    [
      'an answer to no call',
      { messages: [user, answer('a')] },
      400,
      /must be a response to a preceeding message/,
    ],
    [
      'an answer given twice',
      { messages: [user, calls('a'), answer('a'), answer('a')] },
      400,
      /must be a response/,
    ],
    [
      'a tool name out of form',
      { tools: [tool('do it', { type: 'object' })] },
      400,
      /tools\.0\.function\.name/,
    ],
    [
      'a tool twice',
      { tools: [tool('a', { type: 'object' }), tool('a', { type: 'object' })] },
      400,
      /Duplicate function name/,
    ],
    [
      'a schema that is none',
      { tools: [tool('a', { type: 'object', properties: { x: { type: 'text' } } })] },
      400,
      /Invalid schema for function 'a'/,
    ],
    ['a parameter it does not know', { max_output: 3 }, 400, /max_output/],
    [
      'stream options without a stream',
      { stream_options: { include_usage: true } },
      400,
      /only allowed when 'stream'/,
    ],
    [
      'two limits of the output',
      { max_tokens: 1, max_completion_tokens: 1 },
      400,
      /max_tokens and max_completion_tokens/,
    ],
    [
      'a prompt beyond its context',
      { messages: [{ role: 'user', content: 'x'.repeat(5000) }] },
      400,
      /maximum context length is 1000/,
    ],
  ])('refuses %s', async (_, body, status, message) => {
    const refused = await post(body);
    expect([refused.status, refused.body.error?.message]).toEqual([status, expect.stringMatching(message)]);
    expect(double.journal().map((entry) => [entry.status, entry.refusal])).toEqual([
      [status, refused.body.error?.message],
    ]);
  });

  it('refuses a call without a key, and an unknown address', async () => {
    expect((await post({}, {})).status).toBe(401);
    expect((await fetch(`${double.baseUrl}/models`)).status).toBe(404);
  });

  it.each(plantedFaults.map((fault) => [fault.rule, fault] as const))(
    'knows a line planted with %s, as no other fault, and not once it is fixed',
    (_, fault) => {
      const line = fault.plant('sample');
      const matching = (text: string) =>
        plantedFaults.filter((one) => one.pattern.test(text)).map((one) => one.rule);
      expect(matching(line)).toEqual([fault.rule]);
      if (fault.fix) expect(matching(fault.fix(line))).toEqual([]);
    },
  );

  it('runs as a process of its own, told what to do over its control API', async () => {
    const child = spawn(process.execPath, ['test/support/model/main.ts', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      const { baseUrl, control, model } = JSON.parse(line) as Record<'baseUrl' | 'control' | 'model', string>;
      const set = await fetch(`${control}/behaviour`, {
        method: 'POST',
        body: '{"mode": "quota", "times": 1}',
      });
      expect(set.status).toBe(200);
      const refused = await fetch(`${control}/behaviour`, { method: 'POST', body: '{"mode": "sing"}' });
      expect(refused.status).toBe(400);
      const ask = async () => {
        const response = await fetch(`${baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: 'Bearer k' },
          body: JSON.stringify({ model, messages: [user] }),
        });
        // The journal has the status of an answer once all of it was sent.
        await response.arrayBuffer();
        return response.status;
      };
      expect([await ask(), await ask()]).toEqual([429, 200]);
      const journal = (await (await fetch(`${control}/journal`)).json()) as {
        status: number;
        mode: string;
      }[];
      expect(journal.map(({ status, mode }) => [status, mode])).toEqual([
        [429, 'quota'],
        [200, 'review'],
      ]);
    } finally {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      expect(code).toBe(0);
    }
  });
});
