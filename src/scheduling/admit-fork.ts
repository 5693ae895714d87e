import { admitRequested } from '../domain/fork.ts';
import type { EndedRow, EndedState, ForkAction } from '../domain/graph.ts';

/** Which of the rows that an agent asks for join the graph. They work for its issue, within its limits. */
export function forkOf(requester: EndedRow, { rows, maxRows, protectedGlobs = [] }: EndedState): ForkAction {
  const { id, row, issue, matrix, requested } = requester;
  const merged = rows.some(
    (other) => other.kind === 'integrate' && (other.issue === null || other.issue === issue),
  );
  if (!merged) {
    const reason = 'this task changes nothing';
    return { type: 'fork', id, rows: [], refused: requested.map(({ title }) => ({ title, reason })) };
  }
  const agents = rows
    .filter(({ kind }) => kind === 'agent')
    // The requester is over: what it wrote is what those it asks for build upon.
    .map((other) => (other.id === id ? { ...other, status: 'succeeded' as const } : other));
  const { accepted, refused } = admitRequested(requested, {
    requester: { id, row, issue },
    rows: agents,
    maxRows,
    protectedGlobs,
  });
  return {
    type: 'fork',
    id,
    rows: accepted.map(({ requested: { title, goal, writes, inputs, verification }, dependsOn }) => ({
      title,
      matrix: { ...matrix, goal, writes: [...writes], inputs: [...inputs], verification },
      dependsOn: [...new Set([...dependsOn, id])],
    })),
    refused,
  };
}
