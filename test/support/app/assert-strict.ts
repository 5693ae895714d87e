import { expect } from 'vitest';
import { sandboxesOf } from './data-directory.ts';
import type { World } from './world.ts';

/**
 * What holds after every scenario: nothing was asked that GitHub or the model would not take, no container left.
 * `refusals`: those of the model that the scenario is about.
 */
export async function assertStrict(world: World, refusals: readonly unknown[] = []): Promise<void> {
  const { github, model } = world;
  await github.settled();
  const left = await Promise.all(world.apps.map((app) => sandboxesOf(app.dataDir)));
  expect({
    unexpected: github.unexpected,
    violations: github.violations,
    refusals: model.journal().flatMap(({ refusal }) => refusal ?? []),
    sandboxes: left.flat().map(({ Id }) => Id),
  }).toEqual({ unexpected: [], violations: [], refusals, sandboxes: [] });
}
