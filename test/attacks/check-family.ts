import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carryOut, type Family } from './attack.ts';
import { openStage, type Stage } from './stage.ts';

/** One test for each attack of a family, under the engine's default runtime. */
export function checkFamily(family: Family): void {
  describe(family.title, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage();
    });
    afterAll(async () => await stage?.end());

    it.each(family.attacks.map((attack) => [attack.name, attack] as const))(
      'contains %s',
      async (_, attack) => {
        const finding = await carryOut(attack, stage);
        expect(finding).toEqual({ verdict: 'contained', how: finding.how });
      },
    );
  });
}
