/**
 * The main process of a sandbox: does what the worker asks on its standard input, answers on its standard
 * output, ends (and everything with it) when its input closes, as it does when the worker dies.
 *
 *     node tool-server.ts [--container] [--egress] [WORKSPACE]
 *
 * With `--container` it takes itself to be alone in its PID namespace, and kills whatever no run accounts for.
 * With `--egress` it opens the port of the worker's proxy.
 */
import { mkdirSync } from 'node:fs';
import { editFile, removeFile, writeWhole } from './change-files.ts';
import { createChannels } from './channels.ts';
import { egressArgument } from './egress-place.ts';
import { openEgressPort } from './egress-port.ts';
import { listDirectory, readLines } from './look-at-files.ts';
import { killAll } from './process-tree.ts';
import {
  createFrameDecoder,
  encodeChannelFrame,
  encodeFrame,
  lookupLimitMs,
  protocolVersion,
  type RequestFrame,
  type ResponseFrame,
  type ToolRequest,
} from './protocol.ts';
import { type RunOutcome, runCommand } from './run-command.ts';
import { searchFiles } from './search-files.ts';

const args = process.argv.slice(2);
const alone = args.includes('--container');
const hasEgress = args.includes(egressArgument);
const workspace = args.find((arg) => !arg.startsWith('--')) ?? '/workspace';

const inFlight = new Map<number, AbortController>();

async function handle(request: ToolRequest, signal: AbortSignal): Promise<unknown> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(lookupLimitMs)]);
  switch (request.op) {
    case 'list':
      return await listDirectory(workspace, request);
    case 'read':
      return await readLines(workspace, request, limited);
    case 'search':
      return await searchFiles(workspace, request, limited);
    case 'run':
      return await runCommand({ workspace, alone }, request, signal);
    case 'write':
      return await oneByOne(() => writeWhole(workspace, request));
    case 'edit':
      return await oneByOne(() => editFile(workspace, request));
    case 'remove':
      return await oneByOne(() => removeFile(workspace, request));
  }
}

/** Changes are made in the order they came, so that no edit is lost to one at the same time. */
let changes: Promise<unknown> = Promise.resolve();
function oneByOne<T>(change: () => Promise<T>): Promise<T> {
  const mine = changes.then(change);
  changes = mine.catch(() => undefined);
  return mine;
}

function send(frame: ResponseFrame): void {
  process.stdout.write(encodeFrame(frame));
}

async function answer(id: number, request: ToolRequest): Promise<void> {
  const abort = new AbortController();
  inFlight.set(id, abort);
  let frame: ResponseFrame;
  try {
    frame = { id, result: await handle(request, abort.signal) };
  } catch (thrown) {
    frame = { id, error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  inFlight.delete(id);
  try {
    send(frame);
  } catch (thrown) {
    // JSON can make six bytes of one; what is left of both streams then fits in any case.
    if (!(thrown instanceof RangeError)) throw thrown;
    send(
      request.op === 'run' && 'result' in frame
        ? { id, result: shortened(frame.result as RunOutcome) }
        : tooLarge(id),
    );
  }
}

function shortened(outcome: RunOutcome): RunOutcome {
  const shorten = (text: string) => {
    const kept = 512 * 1024;
    return text.length <= 2 * kept ? text : `${text.slice(0, kept)}\n[... cut ...]\n${text.slice(-kept)}`;
  };
  return { ...outcome, stdout: shorten(outcome.stdout), stderr: shorten(outcome.stderr), isMaxBuffer: true };
}

const tooLarge = (id: number): ResponseFrame => ({ id, error: 'the answer is too large; ask for less' });

function end(code: number): never {
  for (const abort of inFlight.values()) abort.abort();
  if (alone) killAll();
  process.exit(code);
}

// HOME and TMPDIR lie on an empty scratch file system.
for (const name of ['HOME', 'TMPDIR', 'GOTMPDIR']) {
  const directory = process.env[name];
  if (alone && directory !== undefined) mkdirSync(directory, { recursive: true });
}

const channels = createChannels((frame) => process.stdout.write(encodeChannelFrame(frame)), null);
const decode = createFrameDecoder();
process.stdin.on('data', (chunk: Buffer) => {
  for (const frame of decode(chunk) as (RequestFrame | Buffer)[]) {
    if (Buffer.isBuffer(frame)) channels.receive(frame);
    else if ('cancel' in frame) inFlight.get(frame.cancel)?.abort();
    else void answer(frame.id, frame.request);
  }
});
process.stdin.on('end', () => end(0));
process.stdin.on('error', () => end(1));
process.stdout.on('error', () => end(1));
process.on('SIGTERM', () => end(0));
send({
  hello: { protocol: protocolVersion, egress: hasEgress ? await openEgressPort(channels.open) : null },
});
