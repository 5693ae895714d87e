import type { Stage } from './stage.ts';

/**
 * What came of an attack. `contained`: it was tried, and stopped. `escaped`: it got what it wanted, or host or
 * neighbour suffered. `inconclusive`: it could not be tried here.
 */
export type Verdict = 'contained' | 'escaped' | 'inconclusive';

export interface Finding {
  readonly verdict: Verdict;
  /** What stopped it, what it got, or why it could not be tried. */
  readonly how: string;
}

export interface Attack {
  /** Unique in its family. */
  readonly name: string;
  /** What the attacker wants, in a few words. */
  readonly tries: string;
  /** Carries it out in sandboxes of the stage and says what came of it. A rejection is `inconclusive`. */
  run(stage: Stage): Promise<Finding>;
}

export interface Family {
  readonly name: string;
  readonly title: string;
  readonly attacks: readonly Attack[];
}

export const contained = (how: string): Finding => ({ verdict: 'contained', how });
export const escaped = (how: string): Finding => ({ verdict: 'escaped', how });
export const inconclusive = (how: string): Finding => ({ verdict: 'inconclusive', how });

/** Carries an attack out, and looks at host and neighbour after it: what they suffered is an escape, too. */
export async function carryOut(attack: Attack, stage: Stage): Promise<Finding> {
  let finding: Finding;
  try {
    finding = await attack.run(stage);
  } catch (thrown) {
    finding = inconclusive(
      `it could not be tried: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  }
  const damage = await stage.damage();
  return damage === null || finding.verdict === 'escaped' ? finding : escaped(damage);
}
