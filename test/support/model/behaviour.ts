import { z } from 'zod';

/** How the double answers. */
export const modes = [
  /** As a reviewer would. */
  'review',
  /** HTTP 500. */
  'error500',
  /** Takes the request and never answers. */
  'hang',
  /** One kind of nonsense after the other, by the number of the call. */
  'nonsense',
  /** Text without any tool call. */
  'nonsense_text',
  /** A tool call whose arguments are no JSON. */
  'nonsense_tools',
  /** A web page, with status 200. */
  'nonsense_html',
  /** An event stream whose data is no JSON. */
  'nonsense_sse',
  /** HTTP 429 `insufficient_quota`. */
  'quota',
  /** HTTP 429 `rate_limit_exceeded`, with `retry-after: 1`. */
  'rate_limit',
  /** An answer cut off by its length limit. */
  'length',
  /** An answer stopped by the content filter. */
  'content_filter',
  /** The connection breaks in the middle of the answer. */
  'cut',
  /** As `review`, without usage. */
  'no_usage',
  /** A key the provider does not know; the refusal quotes it, as OpenAI's does. */
  'bad_key',
] as const;
export type Mode = (typeof modes)[number];

/** The paces a stream may have, milliseconds between two pieces. */
export const paces = [50, 200, 1000] as const;

export const behaviourSchema = z.strictObject({
  mode: z.enum(modes).default('review'),
  /** Only this many calls are answered in that mode, the later ones as a reviewer would; null: all. */
  times: z.int().min(0).nullable().default(null),
  /** Only calls whose prompt contains this text are answered in that mode; empty: all. */
  only: z.string().default(''),
  /** Milliseconds before the answer begins. */
  latencyMs: z.int().min(0).default(0),
  /** Milliseconds between two pieces of the stream, one of {@link paces}; 0: at once. */
  pieceMs: z.literal([0, ...paces]).default(0),
});
export type Behaviour = z.infer<typeof behaviourSchema>;
