import picomatch from 'picomatch';
import type { Script, ScriptedFix } from './behaviour.ts';
import type { ChatRequest, ScriptedReply } from './chat-request.ts';
import { moveStrings } from './move-strings.ts';
import { call, type PastCall, pastTurns, promptOf, readList } from './prompt.ts';

/**
 * What a fixer would answer, from its row alone: it reads the files it is to change, changes them by the rules of
 * `script.fixes`, runs what it is told to run, and finishes. Each step is a turn; the past turns say which.
 */
export function fixerReply(request: ChatRequest, script: Script): ScriptedReply {
  const prompt = promptOf(request);
  const turns = pastTurns(request);
  const past = turns.flat();
  const row = { inputs: readList(prompt, 'Inputs'), scope: readList(prompt, 'Scope') };
  const fixes = script.fixes.filter((fix) => prompt.includes(fix.when));
  const answer = (content: string, calls: readonly { name: string; args: object }[]): ScriptedReply => ({
    content,
    toolCalls: calls.map(({ name, args }, index) => call(name, args, past.length + index)),
  });
  const steps: (() => ScriptedReply | null)[] = [
    () => {
      const reads = filesToRead(fixes, row).map((path) => ({ name: 'read_file', args: { path } }));
      return answer('I look at what I am to change.', [...reads, { name: 'list_files', args: {} }]);
    },
    () => (script.fixMs > 0 ? answer('', [run(['sleep', String(script.fixMs / 1000)])]) : null),
    () => {
      const calls = changes(fixes, row, filesRead(past));
      return calls.length > 0 ? answer('I make the change.', calls) : null;
    },
    () => {
      const check = script.runChecks ? firstCheck(prompt) : null;
      return check === null ? null : answer('I run the checks.', [run(check)]);
    },
  ];
  const open = steps.flatMap((step, index) => {
    const reply = step();
    return reply === null ? [] : [{ index, reply }];
  });
  const next = open[turns.length]?.reply;
  return next ?? answer('', [{ name: 'finish', args: conclusion(past) }]);
}

interface Row {
  readonly inputs: readonly string[];
  readonly scope: readonly string[];
}

/** Files an entry is about: as the row knows them. */
function targets(path: string, { inputs, scope }: Row): string[] {
  const literal = new Set(scope);
  const inScope = picomatch([...scope], { dot: true, nonegate: true });
  const writable = (file: string) => literal.has(file) || inScope(file);
  if (!/[*?{]/.test(path)) return writable(path) ? [path] : [];
  const matches = picomatch(path, { dot: true, nonegate: true });
  const known = [...new Set([...inputs, ...scope.filter((pattern) => !/[*?{]/.test(pattern))])];
  return known.filter((file) => matches(file) && writable(file));
}

function filesToRead(fixes: readonly ScriptedFix[], row: Row): string[] {
  return [
    ...new Set(
      fixes.flatMap((fix) => {
        if ('find' in fix) return targets(fix.path, row);
        return 'rule' in fix ? row.inputs : [];
      }),
    ),
  ];
}

/** Text of each file that was read whole, by path. */
function filesRead(past: readonly PastCall[]): Map<string, string[]> {
  return new Map(
    past
      .filter((one) => one.name === 'read_file' && !one.result.startsWith('error:'))
      .map((one) => [
        String(one.arguments.path),
        one.result.split('\n').flatMap((line) => /^ *\d+\|(.*)$/s.exec(line)?.[1] ?? []),
      ]),
  );
}

function changes(
  fixes: readonly ScriptedFix[],
  row: Row,
  read: ReadonlyMap<string, readonly string[]>,
): { name: string; args: object }[] {
  return fixes.flatMap((fix) => {
    if ('run' in fix) return [run(fix.run)];
    if ('request' in fix) return [{ name: 'request_subtask', args: fix.request }];
    if ('outside' in fix) return [write(fix.outside, fix.content)];
    if ('rule' in fix) return moveStrings(row, read);
    const paths = targets(fix.path, row);
    if ('content' in fix) return paths.map((path) => write(path, fix.content));
    if ('delete' in fix) return paths.map((path) => ({ name: 'delete_file', args: { path } }));
    return paths
      .filter((path) => read.get(path)?.join('\n').includes(fix.find))
      .map((path) => ({
        name: 'edit_file',
        args: { path, old_text: fix.find, new_text: fix.replace },
      }));
  });
}

function write(path: string, content: string) {
  return { name: 'write_file', args: { path, content } };
}

function run(argv: readonly string[]) {
  return { name: 'run_command', args: { argv } };
}

function firstCheck(prompt: string): string[] | null {
  const line = /^## Checks\n- .*?: (\[.*\])/m.exec(prompt)?.[1];
  return line === undefined ? null : (JSON.parse(line) as string[]);
}

function conclusion(past: readonly PastCall[]): { summary: string; no_change_reason?: string } {
  const done = past.filter((one) => /^(?:edited|written|deleted)/.test(one.result));
  const files = [...new Set(done.map((one) => String(one.arguments.path)))];
  if (files.length > 0)
    return { summary: `Changed ${files.length === 1 ? '1 file' : `${files.length} files`} as the row asks.` };
  const ran = past.some((one) => one.name === 'run_command');
  return {
    summary: ran ? 'Ran what the row asks.' : 'Nothing was to be changed.',
    no_change_reason: ran ? 'A command made the change.' : 'The inputs have nothing that the goal is about.',
  };
}
