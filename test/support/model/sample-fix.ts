import type { FixAssignment } from '../../../src/agents/port.ts';
import type { MatrixRow } from '../../../src/domain/matrix.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { sampleAssignment } from './sample-assignment.ts';

/** An assignment to change files, with what the agent logged. */
export function sampleFix(
  row: Partial<MatrixRow>,
  sandbox: Sandbox,
  over: Partial<FixAssignment> = {},
): FixAssignment & { readonly log: string[] } {
  const { changes: _, ...assignment } = sampleAssignment([], sandbox);
  return {
    ...assignment,
    checks: [],
    feedback: '',
    startingPoint: '',
    ...over,
    row: { ...assignment.row, goal: 'Make the change.', background: 'Somebody asks for it.', ...row },
  };
}
