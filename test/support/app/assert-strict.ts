import { expect } from 'vitest';
import { sandboxesOf } from './data-directory.ts';
import { until } from './until.ts';
import { describeWorld } from './until-done.ts';
import type { World } from './world.ts';

/**
 * What holds after every scenario: nothing was asked that GitHub or the model would not take, no container left.
 * `refusals`: those of the model that the scenario is about.
 */
export async function assertStrict(world: World, refusals: readonly unknown[] = []): Promise<void> {
  const { github, model } = world;
  await github.settled();
  const left = async () => (await Promise.all(world.apps.map((app) => sandboxesOf(app.dataDir)))).flat();
  // What was started ahead and nobody wants goes by itself, a moment after.
  await until('no sandbox is left', async () => (await left()).length === 0, {
    describe: () => describeWorld(world),
  });
  expect({
    unexpected: github.unexpected,
    violations: github.violations,
    refusals: model.journal().flatMap(({ refusal }) => refusal ?? []),
  }).toEqual({ unexpected: [], violations: [], refusals });
}
