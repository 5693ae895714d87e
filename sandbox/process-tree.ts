import { readdirSync, readFileSync } from 'node:fs';

/** Environment variable that marks every process of a run, however far it went from its parent. */
export const runMarker = 'PATCHFLEET_RUN';

interface ProcessSeen {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

interface Look {
  readonly seen: readonly ProcessSeen[];
  /** A process ended while we looked: it may have left a child that was born too late to be seen. */
  readonly steady: boolean;
}

/** Every process of this PID namespace but init and this one. `dead` are those found as zombies so far. */
function look(dead: Set<number>): Look {
  const seen: ProcessSeen[] = [];
  let steady = true;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The command name, in parentheses, may hold anything: the fields begin after the last one.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const pid = Number(name);
      if (pid === 1 || pid === process.pid) continue;
      if (fields[0] === 'Z') {
        // A zombie that nobody collects must not unsettle every look.
        if (!dead.has(pid)) steady = false;
        dead.add(pid);
        continue;
      }
      seen.push({ pid, parent: Number(fields[1]), session: Number(fields[3]) });
    } catch {
      steady = false;
    }
  }
  return { seen, steady };
}

function isMarked(pid: number, marks: ReadonlySet<string>): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((variable) => marks.has(variable));
  } catch {
    return false;
  }
}

/** Ids of runs and the processes they began with, each the leader of a session. */
export type Runs = ReadonlyMap<string, number>;

/**
 * Processes of runs: what descends from their roots, belongs to the roots' sessions, or carries their mark.
 * Only the mark finds a process that left the session and whose parent has ended.
 */
function membersOf(all: readonly ProcessSeen[], runs: Runs): Set<number> {
  const roots = new Set(runs.values());
  const marks = new Set([...runs.keys()].map((run) => `${runMarker}=${run}`));
  const members = new Set<number>();
  for (const { pid, session } of all) {
    if (roots.has(pid) || roots.has(session) || isMarked(pid, marks)) members.add(pid);
  }
  return withDescendants(all, members);
}

function withDescendants(all: readonly ProcessSeen[], members: Set<number>): Set<number> {
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, parent } of all) {
      if (members.has(parent) && !members.has(pid)) {
        members.add(pid);
        grew = true;
      }
    }
  }
  return members;
}

/**
 * Kills everything a run started that can be told to be its own, and where this process is `alone` in its PID
 * namespace, save for init, also what neither a live run nor this process accounts for: what emptied its environment
 * and left both its session and its parent. `ended`: its program is over, there may be nothing left. Gives the ids of
 * what was killed, which may take a moment to be gone.
 */
export function killRun(
  root: number,
  run: string,
  place: { readonly alone: boolean; readonly live: Runs; readonly ended: boolean },
): ReadonlySet<number> {
  const own = (all: readonly ProcessSeen[]) => membersOf(all, new Map([[run, root]]));
  if (!place.alone) return killInMotion(own);
  const ofNobody = (all: readonly ProcessSeen[]) => own(all).union(straysOf(all, place.live));
  if (place.ended && isNothingLeft(place.live.size === 0 ? allOf : ofNobody)) return new Set();
  return killHeldStill(ofNobody);
}

function straysOf(all: readonly ProcessSeen[], live: Runs): Set<number> {
  const children = new Set(all.filter(({ parent }) => parent === process.pid).map(({ pid }) => pid));
  const accounted = membersOf(all, live).union(withDescendants(all, children));
  return new Set(all.map(({ pid }) => pid)).difference(accounted);
}

/** Kills everything but init and this process. Only for a process that is alone in its PID namespace, save for init. */
export function killAll(): void {
  killHeldStill(allOf);
}

function allOf(all: readonly ProcessSeen[]): Set<number> {
  return new Set(all.map(({ pid }) => pid));
}

/** Whether none of the processes runs any more. */
export function areGone(pids: ReadonlySet<number>): boolean {
  return [...pids].every((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
    } catch {
      return true;
    }
  });
}

type Choose = (all: readonly ProcessSeen[]) => ReadonlySet<number>;

/** Looks again until a steady look finds nothing, for a process may fork between the look and the kill. */
function killInMotion(choose: Choose): ReadonlySet<number> {
  const dead = new Set<number>();
  const killed = new Set<number>();
  // Bounded, for a killed process may take its time.
  for (let round = 0; round < 200; round += 1) {
    const { seen, steady } = look(dead);
    const found = choose(seen);
    if (found.size === 0 && steady) break;
    kill(found, killed);
  }
  return killed;
}

/** A few looks, for live runs may never be steady. */
function isNothingLeft(choose: Choose): boolean {
  const dead = new Set<number>();
  for (let round = 0; round < 20; round += 1) {
    const { seen, steady } = look(dead);
    if (choose(seen).size > 0) return false;
    if (steady) return true;
  }
  return false;
}

/**
 * All processes of the namespace are held still first, in one step of the kernel: what is stopped does not fork (a bomb
 * begins as many anew as are killed one by one), leaves the CPU to us, and holds no lock that looking at it waits for,
 * as it does in a fork. What is then killed cannot even run again. Starts no process, so it works where none can be
 * started.
 */
function killHeldStill(choose: Choose): ReadonlySet<number> {
  const dead = new Set<number>();
  const killed = new Set<number>();
  signalAll('SIGSTOP');
  for (let round = 0; round < 20; round += 1) {
    const found = choose(look(dead).seen);
    if (found.isSubsetOf(killed)) break;
    kill(found, killed);
  }
  signalAll('SIGCONT');
  return killed;
}

function kill(found: ReadonlySet<number>, killed: Set<number>): void {
  for (const pid of found) {
    signal(pid, 'SIGKILL');
    killed.add(pid);
  }
}

/** To all processes of the namespace but init and this one. */
function signalAll(name: 'SIGSTOP' | 'SIGCONT'): void {
  // As root it might be a whole machine: no sandbox is.
  if (process.getuid?.() !== 0) signal(-1, name);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone, or not ours to kill.
  }
}
