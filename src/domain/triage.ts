import { z } from 'zod';

/** What triage found out about an issue. Nothing here closes anything. */
export const triageSchema = z.object({
  /** Of the repository's own list; others are refused. */
  labels: z.array(z.string()).max(10),
  /** Numbers of open issues that say the same. */
  duplicates: z.array(z.int().positive()).max(5),
  /** What the author should be asked, once; null: nothing is missing. */
  question: z.string().max(4000).nullable(),
  /** A sentence or two for the comment. */
  summary: z.string().max(2000),
});
export type Triage = z.infer<typeof triageSchema>;
