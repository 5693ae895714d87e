import { describe, expect, it } from 'vitest';
import { fullForm, shortForm } from '../../chaos/storm/form.ts';
import { createRandom } from '../../chaos/storm/random.ts';
import { scheduleStorm } from '../../chaos/storm/schedule.ts';
import { stormTasks } from '../../chaos/storm/tasks.ts';

const seeds = [0, 1, 2, 7, 2 ** 31 - 1];

describe('the full storm', () => {
  it.each(seeds)('has everything that acceptance asks for, with the seed %i', (seed) => {
    const steps = scheduleStorm(fullForm, createRandom(seed));
    const counts = Object.fromEntries(
      [
        ...Map.groupBy(
          steps.flatMap(({ outages }) => outages),
          (outage) => outage,
        ),
      ].map(([name, all]) => [name, all.length]),
    );
    expect({
      kills: steps.length,
      asks: steps.flatMap(({ asks }) => asks),
      counts,
    }).toEqual({
      kills: 100,
      asks: Array.from({ length: 12 }, (_, task) => task),
      counts: {
        'redis flush': 2,
        'redis restart': 2,
        'postgres fast': 1,
        'postgres immediate': 1,
        'docker restart': 1,
      },
    });
  });

  it('asks for rows before it waits for them', () => {
    const steps = scheduleStorm(fullForm, createRandom(1));
    let asked = 0;
    for (const { asks, rowsDone } of steps) {
      asked += asks.length * fullForm.rows;
      expect(rowsDone).toBeLessThan(asked);
    }
  });

  it('has twelve tasks of twenty rows each, none with a file of another', () => {
    const tasks = stormTasks(fullForm);
    const rows = tasks.map(({ files, findings }) => [...Object.keys(files), ...findings]);
    expect(rows.map((own) => own.length)).toEqual(Array.from({ length: 12 }, () => 20));
    expect(new Set(rows.flat()).size).toBe(240);
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(12);
  });
});

it('the short storm has ten kills, and each server goes away once', () => {
  const steps = scheduleStorm(shortForm, createRandom(3));
  expect(steps).toHaveLength(10);
  expect(steps.flatMap(({ outages }) => outages).sort()).toEqual([
    'docker restart',
    'postgres immediate',
    'redis flush',
  ]);
});

describe('chance', () => {
  it('is the same for the same seed, and another for another', () => {
    const draw = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 20 }, () => random.between(1, 1000));
    };
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
    expect(scheduleStorm(fullForm, createRandom(5))).toEqual(scheduleStorm(fullForm, createRandom(5)));
  });

  it('has streams that do not disturb each other', () => {
    const first = createRandom(9);
    const second = createRandom(9);
    first.fork('deliveries').next();
    expect(first.fork('kills').next()).toBe(second.fork('kills').next());
  });

  it('keeps to its ends, and reaches both', () => {
    const random = createRandom(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.between(1, 3)));
    expect([...drawn].sort()).toEqual([1, 2, 3]);
  });
});
