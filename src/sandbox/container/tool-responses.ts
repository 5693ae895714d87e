import { z } from 'zod';
import { greatestMaxBuffer, maxFrameBytes, type ToolRequest } from '../../../sandbox/protocol.ts';

/** Entries of a directory, and matches of a search, that are asked for at most. */
export const mostEntries = 10_000;
export const mostMatches = 2000;

/** Frames come from a container that an agent may have taken over: nothing in them is taken on trust. */

const count = z.int().min(0);
/** Without halves of surrogate pairs, as a cut leaves them: neither providers of models nor the store take those. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .transform((said) => said.toWellFormed());
/** What is left out of a stream is said in a line of its own, hence the slack. */
const output = text(greatestMaxBuffer + 1024);

/** Texts that name what was asked for, which may be long: cut rather than refused. */
const told = z
  .string()
  .transform((said) => (said.length > 10_000 ? `${said.slice(0, 10_000)}…` : said).toWellFormed());

/** One that has more is not looked into: each item that is wrong would be an issue of its own, and a frame has millions. */
const few = <Item extends z.ZodType>(item: Item, most: number) =>
  z.custom<unknown[]>((value) => Array.isArray(value) && value.length <= most).pipe(z.array(item));

export const helloSchema = z.object({
  hello: z.object({ protocol: z.int(), egress: z.enum(['socket', 'stream']).nullish() }),
});

export const responseSchema = z.union([
  z
    .object({ id: z.int(), result: z.unknown() })
    .refine((frame) => 'result' in frame && frame.result !== undefined),
  z.object({ id: z.int(), error: told }),
]);

export const resultSchemas = {
  list: few(
    z.object({
      name: text(1024),
      type: z.enum(['file', 'directory', 'symlink', 'other']),
      bytes: count,
    }),
    mostEntries,
  ),
  read: z.object({
    text: text(maxFrameBytes),
    start: count,
    end: count,
    totalLines: count,
    truncated: z.boolean(),
  }),
  search: z.object({
    matches: few(z.object({ path: text(8192), line: count, text: text(2000) }), mostMatches),
    truncated: z.boolean(),
  }),
  run: z.object({
    exitCode: z.int().nullable(),
    signal: z.string().max(20).nullable(),
    stdout: output,
    stderr: output,
    timedOut: z.boolean(),
    isCanceled: z.boolean(),
    isMaxBuffer: z.boolean(),
    spawnError: told.nullable(),
    durationMs: z.number().min(0),
    peakMemoryBytes: z.number().min(0).nullable(),
    outOfMemory: z.boolean(),
  }),
  write: z.object({}),
  edit: z.object({ edited: z.boolean(), line: count.nullable(), explanation: told }),
  remove: z.object({}),
} as const satisfies Record<ToolRequest['op'], z.ZodType>;

export type ResultOf<Op extends ToolRequest['op']> = z.infer<(typeof resultSchemas)[Op]>;
