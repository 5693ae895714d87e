import { close, open } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Role, type SpawnedApp, spawnApp } from '../../support/app/start-app.ts';
import type { Random } from './random.ts';

/** One life of a process. Times are milliseconds since the epoch, null while it is not so far. */
export interface Life {
  /** `work-2`. */
  readonly slot: string;
  readonly role: Role;
  readonly pid: number;
  /** Its key for the model: what it asked there is told by it. */
  readonly modelKey: string;
  readonly startedAt: number;
  readyAt: number | null;
  endedAt: number | null;
  /** By our SIGKILL, by our SIGTERM at the end, or by itself. */
  end: 'killed' | 'stopped' | 'itself' | null;
  /** Exit code or signal. */
  code: number | NodeJS.Signals | null;
}

/** Keeps processes of Patchfleet running: one that ends, however, is started again after a moment. */
export interface Supervisor {
  /** All that were started so far, the oldest first. */
  readonly lives: readonly Life[];
  /** How many are ready of those that are to run. */
  ready(): { readonly ready: number; readonly of: number };
  /** Addresses of the `serve` that are ready. */
  urls(): string[];
  /** SIGKILL of one that runs, ready or not, picked by chance; null where none runs. */
  kill(random: Random): Life | null;
  /** Starts nothing more, and SIGTERM for all; one that does not stop in time is killed and is in the answer. */
  stop(): Promise<Life[]>;
}

/** Between the end of a process and its next start, milliseconds. */
const restartMs = [0, 1500] as const;
const stopLimitMs = 45_000;
/** Of the kills, the part that is meant for processes that are ready; the others may meet one that starts. */
const readyShare = 0.8;

interface Running {
  readonly life: Life;
  readonly app: SpawnedApp;
  url: string;
}

export function superviseApps(options: {
  readonly counts: Readonly<Record<'serve' | 'work', number>>;
  /** Environment of a process, given its key for the model. */
  readonly env: (modelKey: string) => Readonly<Record<string, string>>;
  readonly logsDir: string;
  readonly random: Random;
}): Supervisor {
  const lives: Life[] = [];
  const running = new Map<string, Running>();
  const stopping = new AbortController();

  async function live(slot: string, role: Role, number: number): Promise<void> {
    const modelKey = `sk-storm-${slot}-${String(number).padStart(4, '0')}`;
    const log = await promisify(open)(join(options.logsDir, `${slot}-${number}.log`), 'a');
    const app = spawnApp({ role, env: options.env(modelKey), stderr: log });
    await promisify(close)(log);
    const life: Life = {
      slot,
      role,
      pid: app.pid,
      modelKey,
      startedAt: Date.now(),
      readyAt: null,
      endedAt: null,
      end: null,
      code: null,
    };
    lives.push(life);
    const entry: Running = { life, app, url: '' };
    running.set(slot, entry);
    void app.ready.then((url) => {
      if (url === null) return;
      life.readyAt = Date.now();
      entry.url = url;
    });
    life.code = await app.exited;
    life.endedAt = Date.now();
    life.end ??= 'itself';
    running.delete(slot);
  }

  async function keep(slot: string, role: Role, random: Random): Promise<void> {
    for (let number = 1; !stopping.signal.aborted; number += 1) {
      await live(slot, role, number);
      await delay(random.between(...restartMs), undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const slots = (['serve', 'work'] as const).flatMap((role) =>
    Array.from({ length: options.counts[role] }, (_, index) => ({ role, slot: `${role}-${index + 1}` })),
  );
  const kept = slots.map(({ slot, role }) => keep(slot, role, options.random.fork(slot)));

  return {
    lives,
    ready: () => ({
      ready: [...running.values()].filter(({ life }) => life.readyAt !== null && life.end === null).length,
      of: slots.length,
    }),
    urls: () => [...running.values()].flatMap(({ url }) => (url === '' ? [] : [url])),
    kill(random) {
      const alive = [...running.values()].filter(({ life }) => life.end === null);
      const ready = alive.filter(({ life }) => life.readyAt !== null);
      const among = ready.length > 0 && random.next() < readyShare ? ready : alive;
      if (among.length === 0) return null;
      const { life, app } = random.pick(among);
      life.end = 'killed';
      app.child.kill('SIGKILL');
      return life;
    },
    async stop() {
      stopping.abort();
      const late: Life[] = [];
      const timers = [...running.values()].map(({ life, app }) => {
        life.end ??= 'stopped';
        app.child.kill('SIGTERM');
        return setTimeout(() => {
          late.push(life);
          app.child.kill('SIGKILL');
        }, stopLimitMs);
      });
      await Promise.all(kept);
      for (const timer of timers) clearTimeout(timer);
      return late;
    },
  };
}
