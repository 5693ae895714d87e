import { z } from 'zod';
import { greatestMaxBuffer, type ToolRequest } from '../../../sandbox/protocol.ts';

/** Frames come from a container that an agent may have taken over: nothing in them is taken on trust. */

const count = z.int().min(0);
/** What is left out of a stream is said in a line of its own, hence the slack. */
const output = z.string().max(greatestMaxBuffer + 1024);

/** Texts that name what was asked for, which may be long: cut rather than refused. */
const told = z.string().transform((text) => (text.length > 10_000 ? `${text.slice(0, 10_000)}…` : text));

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
  list: z.array(
    z.object({
      name: z.string().max(1024),
      type: z.enum(['file', 'directory', 'symlink', 'other']),
      bytes: count,
    }),
  ),
  read: z.object({
    text: z.string(),
    start: count,
    end: count,
    totalLines: count,
    truncated: z.boolean(),
  }),
  search: z.object({
    matches: z.array(z.object({ path: z.string().max(8192), line: count, text: z.string().max(2000) })),
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
