import { readdirSync, readFileSync } from 'node:fs';

/** Environment variable that marks every process of a run, however far it went from its parent. */
export const runMarker = 'PATCHFLEET_RUN';

interface ProcessSeen {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly state: string;
}

/** Every process of this PID namespace. Those that end while we look are left out. */
function processes(): ProcessSeen[] {
  const seen: ProcessSeen[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The command name, in parentheses, may hold anything: the fields begin after the last one.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      seen.push({
        pid: Number(name),
        state: fields[0] ?? '',
        parent: Number(fields[1]),
        session: Number(fields[3]),
      });
    } catch {
      // Gone.
    }
  }
  return seen;
}

function isMarked(pid: number, run: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${runMarker}=${run}`);
  } catch {
    return false;
  }
}

/**
 * Processes of a run: descendants of its root, members of the root's session, and whatever carries its mark.
 * Only the mark finds a process that left the session and whose parent has ended.
 */
function membersOf(root: number, run: string): number[] {
  const all = processes().filter((seen) => seen.state !== 'Z' && seen.pid !== process.pid && seen.pid !== 1);
  const members = new Set<number>();
  for (const seen of all) {
    if (seen.pid === root || seen.session === root || isMarked(seen.pid, run)) members.add(seen.pid);
  }
  for (let grew = true; grew; ) {
    grew = false;
    for (const seen of all) {
      if (members.has(seen.parent) && !members.has(seen.pid)) {
        members.add(seen.pid);
        grew = true;
      }
    }
  }
  return [...members];
}

/**
 * Kills everything a run started. Looks again until nothing is left, for a process may fork between the look
 * and the kill. `root` is the leader of the session that the run began with.
 */
export function killRun(root: number, run: string): void {
  killUntilNone(() => membersOf(root, run));
}

/**
 * Kills every process of the container but init, this one and `spared`. Catches what emptied its environment
 * and left its session. Only for a server that is alone in its PID namespace.
 */
export function killStrays(spared: ReadonlySet<number>): void {
  killUntilNone(() =>
    processes()
      .filter(
        (seen) => seen.state !== 'Z' && seen.pid !== 1 && seen.pid !== process.pid && !spared.has(seen.pid),
      )
      .map((seen) => seen.pid),
  );
}

function killUntilNone(find: () => number[]): void {
  // A killed process may show up a few times more until the kernel is done with it.
  for (let round = 0; round < 100; round += 1) {
    const found = find();
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone, or not ours to kill.
      }
    }
  }
}
