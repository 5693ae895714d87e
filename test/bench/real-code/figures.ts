import { mostAtOnce } from '../../demo/measure.ts';
import { rounded } from '../result.ts';
import type { Usage } from '../stage/processes.ts';

/** The figures of a load, from the rows and from what the kernel says of the workers. */

export interface LoadAttempt {
  readonly agent: string;
  readonly status: string;
  readonly worker: string | null;
  readonly containerId: string | null;
  readonly claimedAt: Date | null;
  readonly agentStartedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface WorkerSeries {
  readonly pid: number;
  readonly samples: readonly (Usage & { readonly at: number })[];
}

/** A worker that used, or did, this many times the mean is not one of several that share the work. */
const unevenFrom = 1.5;
/** A worker that grew by this part of its memory within a second. */
const spikeFrom = 0.5;
const spikeMs = 1000;

export function measureLoad(attempts: readonly LoadAttempt[], workers: readonly WorkerSeries[]) {
  const done = attempts.filter(({ claimedAt, finishedAt }) => claimedAt !== null && finishedAt !== null);
  const lasted = (list: readonly LoadAttempt[]) =>
    list.map(({ claimedAt, finishedAt }) => ms(finishedAt) - ms(claimedAt)).toSorted((a, b) => a - b);
  const times = lasted(done);
  const failed = attempts.filter(({ status }) => status !== 'succeeded').length;
  const sessions = attempts.flatMap(({ containerId }) => containerId ?? []);
  const perWorker = workers.map(({ pid, samples }) => {
    const own = done.filter(({ worker }) => worker?.includes(`-${pid}-`) === true).length;
    const memory = samples.map(({ rssMiB }) => rssMiB);
    const [min, max] = [Math.min(...memory), Math.max(...memory)];
    return {
      attempts: own,
      share: rounded(own / Math.max(1, done.length)),
      cpuMs: (samples.at(-1)?.cpuMs ?? 0) - (samples[0]?.cpuMs ?? 0),
      rssMiB: { min: Math.round(min), max: Math.round(max), swing: Math.round(max - min) },
      largestStep: rounded(largestStep(samples)),
    };
  });
  const cpu = maxOverMean(perWorker.map(({ cpuMs }) => cpuMs));
  const spike = Math.max(0, ...perWorker.map(({ largestStep: step }) => step));
  const duplicates = sessions.length - new Set(sessions).size;
  return {
    attempts: attempts.length,
    errorRate: rounded(failed / Math.max(1, attempts.length)),
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    maxMs: times.at(-1) ?? 0,
    byKind: Object.fromEntries(
      [...Map.groupBy(done, ({ agent }) => agent)].map(([agent, list]) => {
        const own = lasted(list);
        const share = rounded(list.length / done.length);
        return [
          agent,
          { attempts: own.length, share, p50Ms: quantile(own, 0.5), p95Ms: quantile(own, 0.95) },
        ];
      }),
    ),
    maxConcurrent: mostAtOnce(
      done.map(({ agentStartedAt, finishedAt }, index) => ({
        from: ms(agentStartedAt),
        to: ms(finishedAt),
        owner: String(index),
      })),
    ),
    workers: perWorker,
    /** Of attempts over workers: the busiest over the mean. */
    balance: rounded(maxOverMean(perWorker.map(({ attempts: own }) => own))),
    signs: {
      unevenCpu: { maxOverMean: rounded(cpu), seen: cpu >= unevenFrom },
      memorySpikes: { largestStep: spike, seen: spike >= spikeFrom },
      sessionIds: { sessions: sessions.length, duplicates, seen: duplicates > 0 },
    },
  };
}

/** The most that memory grew within a second, as a part of what it was. */
function largestStep(samples: WorkerSeries['samples']): number {
  let largest = 0;
  for (const [index, { at, rssMiB }] of samples.entries()) {
    for (let before = index - 1; before >= 0; before -= 1) {
      const earlier = samples[before];
      if (earlier === undefined || at - earlier.at > spikeMs) break;
      largest = Math.max(largest, rssMiB / earlier.rssMiB - 1);
    }
  }
  return largest;
}

function maxOverMean(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return mean === 0 ? 1 : Math.max(...values) / mean;
}

/** Of sorted values: the least that is not below that part of them. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

function ms(date: Date | null): number {
  return date?.getTime() ?? 0;
}
