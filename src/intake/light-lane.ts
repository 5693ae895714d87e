import type { Publisher } from '../publishing/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { parseCommands } from './command-grammar.ts';
import { isVerb, type Verb } from './render-replies.ts';
import { isBot, issueCommentPayload, repositoryOf } from './trigger-payloads.ts';

/**
 * What people wait for is admitted by the process that took the delivery in, beside the queue: however much waits
 * there, a command is seen, and what it can be told at once it is told. The lane is short, so that a flood of comments
 * does not eat what it is for.
 */
export interface LightLane {
  /**
   * Whether the lane sees to the delivery, which is stored. False: the queue has to. Where the lane is full, a comment
   * that only asks is refused, which people see; what asks for work is never refused.
   */
  offer(delivery: LightDelivery): boolean;
  /** Takes nothing more, and waits for what runs; what waits is left to the reconciler. */
  stop(): Promise<void>;
}

export interface LightDelivery {
  readonly id: string;
  readonly event: string;
  readonly action: string | null;
  readonly payload: unknown;
}

export interface LightLanePorts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly queue: Pick<Queue, 'enqueue'>;
  readonly publisher: Pick<Publisher, 'react'>;
  readonly admit: (deliveryId: string, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  readonly size?: LaneSize;
}

export interface LaneSize {
  /** Admissions at once. They wait for GitHub, which takes ten requests of an installation at once from us. */
  readonly atOnce: number;
  /** Deliveries that may wait, and refusals: at four at once and half a second each, the last waits some ten seconds. */
  readonly waiting: number;
}

const usualSize: LaneSize = { atOnce: 4, waiting: 80 };

/** Commands that only ask: to be asked again costs nothing. */
const asking: ReadonlySet<Verb> = new Set(['help', 'status']);

export function createLightLane(ports: LightLanePorts): LightLane {
  const { store, queue, publisher, admit, log, size = usualSize } = ports;
  const stopping = new AbortController();
  const admissions = createLane(size.atOnce, size.waiting, stopping.signal);
  const refusals = createLane(1, size.waiting, stopping.signal);

  async function admitNow(id: string): Promise<void> {
    try {
      await admit(id, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.warn({ err: error, delivery: id }, 'admission goes on in the queue');
      await askQueue(id);
    }
  }

  async function refuse(id: string, comment: Comment): Promise<void> {
    try {
      await store.deliveries.settle(id, 'ignored', 'too many commands at once: it was refused');
      await publisher.react(comment.repository, comment.id, 'confused');
    } catch (error) {
      log.warn({ err: error, delivery: id }, 'a refusal could not be told');
    }
  }

  async function askQueue(id: string): Promise<void> {
    await queue.enqueue('admit', id, { priority: 10 }).catch((error: unknown) => {
      log.warn({ err: error, delivery: id }, 'admission will wait for the reconciler');
    });
  }

  return {
    offer({ id, event, action, payload }) {
      if (event === 'issues' && action === 'opened') return admissions.add(() => admitNow(id));
      if (event !== 'issue_comment' || action !== 'created') return false;
      const comment = readComment(payload);
      if (comment === null) return false;
      if (admissions.add(() => admitNow(id))) return true;
      if (!comment.onlyAsks || !refusals.add(() => refuse(id, comment))) return false;
      log.warn({ delivery: id, comment: comment.id }, 'a command was refused: too many at once');
      return true;
    },
    async stop() {
      stopping.abort(new Error('shutting down'));
      await Promise.all([admissions.ended(), refusals.ended()]);
    },
  };
}

interface Comment {
  readonly repository: Parameters<Publisher['react']>[0];
  readonly id: number;
  readonly onlyAsks: boolean;
}

/** A comment with commands by a person; null for others. */
function readComment(payload: unknown): Comment | null {
  const { data } = issueCommentPayload.safeParse(payload);
  if (data === undefined || isBot(data.sender)) return null;
  const commands = parseCommands(data.comment.body);
  if (commands.length === 0) return null;
  const onlyAsks = commands.every(({ verb }) => !isVerb(verb) || asking.has(verb));
  return { repository: repositoryOf(data), id: data.comment.id, onlyAsks };
}

/** Runs jobs in their order, `atOnce` of them; `waiting` more may wait. Jobs never reject. */
function createLane(atOnce: number, waiting: number, stopping: AbortSignal) {
  const queue: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  const next = () => {
    while (running.size < atOnce && !stopping.aborted) {
      const job = queue.shift();
      if (job === undefined) return;
      const run: Promise<void> = job().finally(() => {
        running.delete(run);
        next();
      });
      running.add(run);
    }
  };
  return {
    /** False: it is full. */
    add(job: () => Promise<void>): boolean {
      if (stopping.aborted || (running.size >= atOnce && queue.length >= waiting)) return false;
      queue.push(job);
      next();
      return true;
    },
    ended: async () => {
      await Promise.all(running);
    },
  };
}
