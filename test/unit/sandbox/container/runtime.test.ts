import { expect, it } from 'vitest';
import { ownThreads, runtimeOf, runtimeProblem } from '../../../../src/sandbox/container/runtime.ts';

const standard = { isolation: 'standard', runtime: null } as const;
const strict = { isolation: 'strict', runtime: null } as const;

it('takes the engine’s default, runsc for strict isolation, or what the operator names', () => {
  expect([
    runtimeOf(standard),
    runtimeOf(strict),
    runtimeOf({ ...standard, runtime: 'kata' }),
    runtimeOf({ ...strict, runtime: 'runsc-kvm' }),
  ]).toEqual([null, 'runsc', 'kata', 'runsc-kvm']);
});

it('finds nothing wrong where the engine offers it', () => {
  expect(runtimeProblem(standard, [])).toBe(null);
  expect(runtimeProblem(strict, ['runc', 'runsc'])).toBe(null);
  expect(runtimeProblem({ ...strict, runtime: 'kata' }, ['kata'])).toBe(null);
  expect(runtimeProblem({ ...standard, runtime: 'runc' }, ['runc'])).toBe(null);
});

it('refuses strict isolation where the engine has no gVisor, and says what to do', () => {
  expect(runtimeProblem(strict, ['runc', 'crun'])).toBe(
    'The Docker engine does not offer the runtime runsc (it offers runc, crun). Install gVisor (on Debian: `apt-get install runsc`), add it to the engine with `runsc install` and restart the engine, or set `sandbox.isolation: standard`.',
  );
});

it('refuses a runtime that the engine does not offer', () => {
  expect(runtimeProblem({ ...standard, runtime: 'kata' }, ['runc'])).toBe(
    'The Docker engine does not offer the runtime kata (it offers runc). Add it to the engine (`runtimes` in /etc/docker/daemon.json) and restart the engine, or name another one in `sandbox.runtime`.',
  );
});

it('refuses strict isolation by a runtime that shares the kernel of the host', () => {
  for (const runtime of ['runc', 'crun', 'io.containerd.runc.v2'])
    expect(runtimeProblem({ ...strict, runtime }, [runtime])).toContain(
      'which shares the kernel of the host',
    );
});

it('gVisor has room for its own threads, by whatever name it is offered', () => {
  expect([ownThreads(null), ownThreads('runc'), ownThreads('runsc'), ownThreads('runsc-kvm')]).toEqual([
    0, 0, 512, 512,
  ]);
});
