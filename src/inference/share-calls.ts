import type { ModelReply } from './port.ts';

/** One caller of a call that several may share. */
export interface Caller {
  readonly signal: AbortSignal;
  /** Makes the call on the caller's own account. */
  readonly call: () => Promise<ModelReply>;
  /** Waits, and shows signs of life meanwhile. */
  readonly wait: <T>(work: Promise<T>) => Promise<T>;
  /** Whether a failure is of the caller alone (its budget, its abort), and says nothing about the call. */
  readonly isOwn: (error: unknown) => boolean;
}

/**
 * Identical calls in flight share one answer: the first caller makes it and pays, those that come meanwhile wait and
 * are charged nothing. Where the first fails or gives up, one that waits makes the call in its place. Where that one
 * fails too, the others stop waiting for each other and call by themselves, so that a channel that is down is not
 * tried by one after the other. Nothing is remembered once no call is in flight.
 */
export function createCallSharing(): (key: string, caller: Caller) => Promise<ModelReply> {
  const flights = new Map<string, Flight>();
  return async (key, caller) => {
    caller.signal.throwIfAborted();
    const known = flights.get(key);
    if (known === undefined) {
      const flight: Flight = { waiting: [], failures: 0 };
      flights.set(key, flight);
      return await lead(flight, caller, () => flights.delete(key));
    }
    const turn = await caller.wait(waitIn(known, caller.signal));
    if (turn.role === 'served') return turn.reply;
    if (turn.role === 'alone') return await caller.call();
    return await lead(known, caller, () => flights.delete(key));
  };
}

interface Flight {
  /** Those that wait, in the order they came. */
  waiting: ((turn: Turn) => void)[];
  /** Calls that failed, those not counted that failed for their caller alone. */
  failures: number;
}

type Turn =
  | { readonly role: 'served'; readonly reply: ModelReply }
  /** Makes the call for those that still wait. */
  | { readonly role: 'leader' }
  | { readonly role: 'alone' };

/** Failures after which nobody waits for another any more. */
const maxFailures = 2;

async function lead(flight: Flight, caller: Caller, forget: () => void): Promise<ModelReply> {
  try {
    const reply = await caller.call();
    forget();
    const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, estimated: false };
    for (const tell of flight.waiting.splice(0)) tell({ role: 'served', reply: { ...reply, usage } });
    return reply;
  } catch (error) {
    if (!caller.signal.aborted && !caller.isOwn(error)) flight.failures += 1;
    const next = flight.failures < maxFailures ? flight.waiting.shift() : undefined;
    if (next === undefined) {
      forget();
      for (const tell of flight.waiting.splice(0)) tell({ role: 'alone' });
    } else next({ role: 'leader' });
    throw error;
  }
}

function waitIn(flight: Flight, signal: AbortSignal): Promise<Turn> {
  return new Promise((resolve, reject) => {
    const told = (turn: Turn) => {
      signal.removeEventListener('abort', leave);
      resolve(turn);
    };
    const leave = () => {
      flight.waiting = flight.waiting.filter((other) => other !== told);
      reject(signal.reason);
    };
    flight.waiting.push(told);
    signal.addEventListener('abort', leave, { once: true });
  });
}
