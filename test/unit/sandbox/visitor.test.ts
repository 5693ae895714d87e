import { expect, it } from 'vitest';
import { isVisiting, visitorName } from '../../../src/sandbox/visitor.ts';

const now = 1_800_000_000_000;
const minutes = (count: number) => now + count * 60_000;

it('a visitor is about for half an hour, and nobody else is a visitor', () => {
  const name = visitorName(now);
  expect([now, minutes(29), minutes(30), minutes(-1)].map((at) => isVisiting(name, at))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  for (const other of ['visitor-1-00000000', 'host-7-0f0f0f0f', `x${name}`, `${name}0`])
    expect([other, isVisiting(other, now)]).toEqual([other, false]);
});
