import { countTasks, type StormForm } from './form.ts';
import type { Random } from './random.ts';

/** What happens to a server. */
export type Outage =
  | 'redis flush'
  | 'redis restart'
  | 'postgres fast'
  | 'postgres immediate'
  | 'docker restart';

/** When a server was away, milliseconds since the epoch. */
export interface Away {
  readonly outage: Outage;
  readonly from: number;
  to: number;
}

/** One kill: the pause before it, and what comes before the pause. */
export interface Step {
  readonly pauseMs: number;
  /** Tasks (by position) that are asked for. */
  readonly asks: readonly number[];
  readonly outages: readonly Outage[];
  /** Rows that must be done before: kills are spread over the work, however fast the machine is. */
  readonly rowsDone: number;
}

/** Of the kills, the part within which all tasks are asked for; the rest meets what is open then. */
const askedWithin = 0.7;
/** The last kill comes when this part of all rows is done. Less than what is asked for by then, or none would be left to do. */
const killedWithin = 0.65;
/** Servers go away within this part, so that there is work before and after. */
const outagesWithin = [0.1, 0.85] as const;

/** The whole storm, one step for each kill. What is killed is drawn when it happens: who is alive is not known before. */
export function scheduleStorm(form: StormForm, random: Random): Step[] {
  const { kills } = form;
  const tasks = countTasks(form);
  const asks = Array.from({ length: tasks }, (_, task) => Math.floor((task / tasks) * kills * askedWithin));
  const outages = outagesOf(form, random);
  const [from, to] = outagesWithin;
  // Each in a stretch of its own: they meet each other only where chance has them at its ends.
  const stretch = ((to - from) * kills) / Math.max(1, outages.length);
  const at = outages.map((_, index) => Math.floor(from * kills + (index + random.next()) * stretch));
  return Array.from({ length: kills }, (_, kill) => ({
    pauseMs: random.between(...form.pauseMs),
    asks: asks.flatMap((when, task) => (when === kill ? [task] : [])),
    outages: outages.filter((_, index) => at[index] === kill),
    rowsDone: Math.floor((kill / kills) * killedWithin * tasks * form.rows),
  }));
}

/** In random order; the two ways for Postgres to stop take turns. */
function outagesOf(form: StormForm, random: Random): Outage[] {
  const times = <T>(count: number, of: (index: number) => T) =>
    Array.from({ length: count }, (_, i) => of(i));
  const all: Outage[] = [
    ...times(form.flushes, () => 'redis flush' as const),
    ...times(form.redisRestarts, () => 'redis restart' as const),
    ...times(form.postgresRestarts, (index) => (index % 2 === 0 ? 'postgres immediate' : 'postgres fast')),
    ...times(form.dockerRestarts, () => 'docker restart' as const),
  ];
  return all
    .map((outage) => ({ outage, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ outage }) => outage);
}
