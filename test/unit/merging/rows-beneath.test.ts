import { describe, expect, it } from 'vitest';
import { rowsBeneath } from '../../../src/merging/integrate-rows.ts';
import type { TaskView } from '../../../src/store/port/views.ts';

const row = (id: string, kind: 'agent' | 'integrate', issue: number | null) => ({ id, kind, issue });
const agents = [row('a', 'agent', 1), row('b', 'agent', 2), row('c', 'agent', 2)];
const beneath = (...integrations: ReturnType<typeof row>[]) =>
  rowsBeneath({ subtasks: [...agents, ...integrations] } as unknown as TaskView, { issue: 2 }, [
    'a',
    'b',
  ]).map(({ id }) => id);

describe('a row builds upon', () => {
  it('what it waits for, where all go into one pull request', () => {
    expect(beneath(row('all', 'integrate', null))).toEqual(['a', 'b']);
  });

  it('its own issue alone, where each has its pull request', () => {
    expect(beneath(row('one', 'integrate', 1), row('two', 'integrate', 2))).toEqual(['b']);
  });
});
