import { z } from 'zod';

/** How the double answers. */
export const modes = [
  /** As the agent would whose tools are offered: reviewer, fixer, triager or planner. */
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

/** Text that the first prompt must contain for an entry to count; empty: always. Titles are not in it, goals are. */
const when = z.string().default('');

/** A plan that is handed in as it is. The first entry whose `when` fits counts. */
const plannedSchema = z.strictObject({
  when,
  contract: z.string().default(''),
  rows: z.array(
    z.strictObject({
      title: z.string(),
      goal: z.string(),
      writes: z.array(z.string()).readonly(),
      inputs: z.array(z.string()).readonly().default([]),
      depends_on: z.array(z.int()).readonly().default([]),
      verification: z.string().default('The tests pass.'),
    }),
  ),
});

/**
 * What a fixer does. Every entry whose `when` fits and whose `path` (a glob) is in the row's scope is done, in
 * order. Paths are looked up among the row's inputs and the literal paths of its scope; a path without wildcards
 * is taken as it is.
 */
const fixSchema = z.union([
  /** Replaces text that occurs in the file; what does not occur is passed over. */
  z.strictObject({ when, path: z.string(), find: z.string().min(1), replace: z.string() }),
  z.strictObject({ when, path: z.string(), content: z.string() }),
  z.strictObject({ when, path: z.string(), delete: z.literal(true) }),
  /** A program, whatever it does: it may write where the tools refuse to. */
  z.strictObject({ when, run: z.array(z.string()).min(1) }),
  /** Writes though the scope does not have the path: the tool refuses. */
  z.strictObject({ when, outside: z.string(), content: z.string() }),
  /** Asks for a further row of the plan. */
  z.strictObject({
    when,
    request: z.strictObject({
      title: z.string(),
      goal: z.string(),
      writes: z.array(z.string()).readonly(),
      inputs: z.array(z.string()).readonly().default([]),
      verification: z.string().default('The tests pass.'),
    }),
  }),
  /** Moves string literals into the module under `src/config/` that the row's scope names. */
  z.strictObject({ when, rule: z.literal('strings-to-config') }),
]);
export type ScriptedFix = z.infer<typeof fixSchema>;

const triageSchema = z.strictObject({
  when,
  labels: z.array(z.string()).default([]),
  duplicates: z.array(z.int()).default([]),
  question: z.string().nullable().default(null),
  summary: z.string().default('Sorted as scripted.'),
});

export const behaviourSchema = z.strictObject({
  mode: z.enum(modes).default('review'),
  /** Only this many calls are answered in that mode, the later ones as an agent would; null: all. */
  times: z.int().min(0).nullable().default(null),
  /** Only calls whose prompt contains this text are answered in that mode; empty: all. */
  only: z.string().default(''),
  /** Milliseconds before the answer begins. */
  latencyMs: z.int().min(0).default(0),
  /** Milliseconds between two pieces of the stream, one of {@link paces}; 0: at once. */
  pieceMs: z.literal([0, ...paces]).default(0),
  /** Plans by what is asked for; where none fits, see planner-script.ts. */
  plans: z.array(plannedSchema).default([]),
  /** Rows the planner's own rule makes of each package. */
  parts: z.int().min(1).default(2),
  fixes: z.array(fixSchema).default([{ when: '', rule: 'strings-to-config' }]),
  /** Milliseconds a fixer's row works in its sandbox (by a real `sleep`), so that rows overlap in time. */
  fixMs: z.int().min(0).default(0),
  /** The fixer runs the first check of its row before it finishes. */
  runChecks: z.boolean().default(false),
  /** Triage by what the issue says; where none fits, see triager-script.ts. */
  triages: z.array(triageSchema).default([]),
});
export type Behaviour = z.infer<typeof behaviourSchema>;
/** As it is given: what is left out has its default. */
export type BehaviourInput = z.input<typeof behaviourSchema>;
/** The part that scripts go by. */
export type Script = Pick<Behaviour, 'plans' | 'parts' | 'fixes' | 'fixMs' | 'runChecks' | 'triages'>;
