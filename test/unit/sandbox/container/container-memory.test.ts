import { describe, expect, it } from 'vitest';
import { cameToLimit } from '../../../../sandbox/cgroup-memory.ts';
import {
  endedForMemory,
  memoryExhausted,
  parseMemoryState,
} from '../../../../src/sandbox/container/container-memory.ts';

const mib = 1024 * 1024;

/** As `grep -sH '' FILES` prints them in a container of an engine with either version of control groups. */
const v1 = `
/sys/fs/cgroup/memory/memory.usage_in_bytes:${150 * mib}
/sys/fs/cgroup/memory/memory.max_usage_in_bytes:${192 * mib}
/sys/fs/cgroup/memory/memory.limit_in_bytes:${192 * mib}
/sys/fs/cgroup/memory/memory.stat:cache 1
/sys/fs/cgroup/memory/memory.stat:inactive_file 1
/sys/fs/cgroup/memory/memory.stat:total_inactive_file ${30 * mib}
/sys/fs/cgroup/memory/memory.stat:total_active_file ${20 * mib}
/sys/fs/cgroup/memory/memory.oom_control:oom_kill_disable 0
/sys/fs/cgroup/memory/memory.oom_control:under_oom 0
/sys/fs/cgroup/memory/memory.oom_control:oom_kill 2
`;
const v2 = `
/sys/fs/cgroup/memory.current:${150 * mib}
/sys/fs/cgroup/memory.peak:${180 * mib}
/sys/fs/cgroup/memory.max:${192 * mib}
/sys/fs/cgroup/memory.stat:anon 7
/sys/fs/cgroup/memory.stat:inactive_file ${30 * mib}
/sys/fs/cgroup/memory.stat:active_file ${20 * mib}
/sys/fs/cgroup/memory.stat:slab_reclaimable ${10 * mib}
/sys/fs/cgroup/memory.events:low 0
/sys/fs/cgroup/memory.events:oom 1
/sys/fs/cgroup/memory.events:oom_kill 3
/sys/fs/cgroup/memory.events:oom_group_kill 9
`;

describe('the account of memory that the kernel keeps of a container', () => {
  it('is read in either version of control groups', () => {
    expect(parseMemoryState(v1)).toEqual({
      ...{ usedBytes: 100 * mib, highestBytes: 192 * mib, limitBytes: 192 * mib },
      oomKills: 2,
    });
    expect(parseMemoryState(v2)).toEqual({
      ...{ usedBytes: 90 * mib, highestBytes: 180 * mib, limitBytes: 192 * mib },
      oomKills: 3,
    });
  });

  it('has nothing of what is not there', () => {
    const nothing = { usedBytes: null, highestBytes: null, limitBytes: null, oomKills: null };
    expect(parseMemoryState('')).toEqual(nothing);
    expect(parseMemoryState('grep: no such file\n')).toEqual(nothing);
    const older = v2.split('\n').filter((line) => !line.includes('memory.peak'));
    expect(parseMemoryState(older.join('\n'))).toMatchObject({ highestBytes: null, oomKills: 3 });
  });

  it('knows what stands for no limit', () => {
    const of = (file: string, value: string) =>
      parseMemoryState(`/sys/fs/cgroup/memory.current:1\n/sys/fs/cgroup/${file}:${value}`).limitBytes;
    expect(of('memory.max', 'max')).toBeNull();
    expect(
      parseMemoryState('/sys/fs/cgroup/memory/memory.limit_in_bytes:9223372036854771712').limitBytes,
    ).toBeNull();
  });

  it('tells a container that came to its limit from a machine that did', () => {
    const state = parseMemoryState(v1);
    expect(cameToLimit(state)).toBe(true);
    expect(cameToLimit({ ...state, highestBytes: 100 * mib })).toBe(false);
    expect(cameToLimit({ ...state, highestBytes: null })).toBe(true);
  });
});

describe('the end of a container', () => {
  it('is for memory where its main process was the one that was killed', () => {
    const state = { OOMKilled: true, Running: false, ExitCode: 137 };
    expect(endedForMemory(state)).toBe(true);
    // Some child was, a while ago.
    expect(endedForMemory({ ...state, ExitCode: 0 })).toBe(false);
    expect(endedForMemory({ ...state, Running: true })).toBe(false);
    expect(endedForMemory({ ...state, OOMKilled: false })).toBe(false);
  });

  it('is told with what is known of limit and peak', () => {
    const told = (limitBytes: number | null, peakBytes: number | null) =>
      memoryExhausted('it ran out', { limitBytes, peakBytes }).detail;
    expect(told(192 * mib, 190 * mib)).toBe('it ran out (the limit is 192 MiB, at most 190 MiB were in use)');
    expect(told(192 * mib, null)).toBe('it ran out (the limit is 192 MiB)');
    expect(told(null, null)).toBe('it ran out');
  });
});
