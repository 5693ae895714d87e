import type { Json } from './router.ts';
import type { IssueComment } from './state.ts';

const contents = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'] as const;

/** Counts of reactions, as GitHub adds them to a comment or issue. */
export function reactionRollup(url: string, comment: Pick<IssueComment, 'reactions'>): Json {
  const count = (content: string) => comment.reactions.filter((r) => r.content === content).length;
  const counts = Object.fromEntries(contents.map((content) => [content, count(content)]));
  return { url: `${url}/reactions`, total_count: comment.reactions.length, ...counts };
}
