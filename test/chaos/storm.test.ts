import { expect, it } from 'vitest';
import { whyNoEngine } from '../support/second-engine.ts';
import { shortForm } from './storm/form.ts';
import { renderReport } from './storm/result.ts';
import { runStorm } from './storm/storm.ts';

/** The short form of `npm run chaos`: see storm/README.md. */

const seed = 4;

it('a fleet loses nothing and does nothing twice while its processes and servers are killed', async ({
  signal,
}) => {
  const why = whyNoEngine();
  if (why !== null) console.info(`Docker is not restarted: ${why}`);
  const form = why === null ? shortForm : { ...shortForm, dockerRestarts: 0 };
  const report = await runStorm(form, { seed, say: () => {}, signal, logsDir: null });
  console.info(renderReport(report));
  const { modelTurnsPaidTwice, modelTurnsInFlight, wallMs: _, ...result } = report.result;
  expect({ ...result, faults: report.faults, problems: report.problems }).toEqual({
    kills: 10,
    tasks: 3,
    lost: 0,
    duplicatePublications: 0,
    stuckChecks: 0,
    orphanSandboxes: 0,
    faults: [],
    problems: [],
  });
  expect(modelTurnsPaidTwice).toBeLessThanOrEqual(modelTurnsInFlight);
});
