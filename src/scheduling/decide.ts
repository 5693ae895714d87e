import type { Action, EndedState, GraphState, ReadyState, Tally } from '../domain/graph.ts';
import type { TaskOutcome } from '../domain/task.ts';
import { forkOf } from './admit-fork.ts';
import { afterFailure } from './after-end.ts';
import { rerunsOf } from './culprits.ts';
import type { DecideLimits } from './limits.ts';

/**
 * The scheduler's one decision: from the open ends of a task to what happens next. Pure; `advance` applies it in one
 * transaction and asks again until nothing is left to decide.
 */
export function decide(state: GraphState, limits: DecideLimits, now: number): Action[] {
  return state.step === 'ended' ? resolve(state, limits, now) : proceed(state);
}

/** Each row that ended is decided, but of those that ask for further rows one alone: the next sees what it gave. */
function resolve(state: EndedState, limits: DecideLimits, now: number): Action[] {
  const integrations = state.ended.filter(
    ({ kind, attempt }) => kind === 'integrate' && attempt === 'succeeded',
  );
  const reruns = rerunsOf(integrations, state.culprits, limits);
  const asking = state.ended.filter(
    ({ attempt, requested }) => attempt === 'succeeded' && requested.length > 0,
  );
  const actions: Action[] = [];
  let used = state.retriesUsed;
  for (const row of state.ended) {
    if (row.attempt !== 'succeeded') {
      const action = afterFailure(row, limits, used, now);
      if (action.type === 'retry' && action.counted) used += 1;
      actions.push(action);
      continue;
    }
    const again = reruns.get(row.id);
    if (again !== undefined) actions.push(...again, { type: 'again', id: row.id });
    else if (row.requested.length === 0) actions.push({ type: 'complete', id: row.id });
    else if (row === asking[0]) actions.push({ type: 'complete', id: row.id }, forkOf(row, state));
  }
  return actions;
}

function proceed({ ready, live, parallel, nextStart, tally }: ReadyState): Action[] {
  const starts = ready.slice(0, Math.max(0, parallel - live)).map((id) => ({ type: 'start' as const, id }));
  if (tally !== null && starts.length === 0) return [{ type: 'settle', outcome: outcomeOf(tally) }];
  return nextStart === null ? starts : [...starts, { type: 'wake', at: nextStart }];
}

/** Rows of agents are the work; rows that integrate can spoil it, not make it. */
function outcomeOf({ agents, integrations }: Tally): TaskOutcome {
  if (agents.succeeded === agents.total && integrations.succeeded === integrations.total) return 'succeeded';
  const spoilt = integrations.total > 0 && integrations.succeeded === 0;
  return agents.succeeded === 0 || spoilt ? 'failed' : 'partial';
}
