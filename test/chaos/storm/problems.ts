import type { Away } from './schedule.ts';
import type { Life } from './supervisor.ts';
import type { StormWorld } from './world.ts';

/** What a storm must not lead to, whatever it does to the results. */
export function problemsOf(
  { github, model, relay, apps }: StormWorld,
  seen: { readonly away: readonly Away[]; readonly late: readonly Life[]; readonly settled: boolean },
): string[] {
  return [
    ...(seen.settled ? [] : ['not all work was done in time']),
    ...crashes(apps.lives, seen.away),
    ...seen.late.map(({ slot }) => `${slot} did not stop when it was told to`),
    ...relay.refused.map((answer) => `a webhook was refused: ${answer}`),
    ...github.unexpected.map((request) => `GitHub has no such route: ${request}`),
    ...github.violations.map((problem) => `against GitHub's description: ${problem}`),
    ...model.journal().flatMap(({ refusal }) => (refusal === null ? [] : [`the model refused: ${refusal}`])),
  ];
}

/** Processes that ended by themselves, except those that were starting when a database was away: nobody can start then. */
export function crashes(lives: readonly Life[], away: readonly Away[]): string[] {
  return lives
    .filter(({ end, readyAt, startedAt, endedAt }) => {
      if (end !== 'itself') return false;
      const at = endedAt ?? Number.POSITIVE_INFINITY;
      const excused = away.some(
        ({ outage, from, to }) => outage.startsWith('postgres') && at >= from && startedAt <= to,
      );
      return readyAt !== null || !excused;
    })
    .map(({ slot, pid, code, readyAt }) => {
      const when = readyAt === null ? 'while it started' : 'while it ran';
      return `${slot} (process ${pid}) ended by itself ${when}: ${code}`;
    });
}
