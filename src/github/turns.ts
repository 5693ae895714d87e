import { PatchfleetError } from '../domain/failure.ts';
import { createGate } from '../domain/gate.ts';

/**
 * Runs the work of one key after the other; a failure does not stop the ones behind it. Work whose signal aborts
 * while it waits fails with `cancelled` at once, however long the work before it goes on.
 */
export function createTurns(): <T>(key: number, signal: AbortSignal, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<number, { readonly gate: ReturnType<typeof createGate>; users: number }>();
  return async (key, signal, work) => {
    const line = lines.get(key) ?? { gate: createGate(1), users: 0 };
    lines.set(key, line);
    line.users += 1;
    let began = false;
    try {
      return await line.gate(signal, () => {
        began = true;
        return work();
      });
    } catch (error) {
      if (began) throw error;
      throw new PatchfleetError('cancelled', 'it was stopped while it waited for its turn', { cause: error });
    } finally {
      line.users -= 1;
      if (line.users === 0) lines.delete(key);
    }
  };
}
