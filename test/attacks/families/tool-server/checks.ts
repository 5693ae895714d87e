import { type Attack, contained, escaped } from '../../attack.ts';
import { runScript } from '../../probes.ts';
import { besideCheck, noticeMs } from './lying.ts';

const python = String.raw;

/** A check that says what it does not find. */
export const checks: readonly Attack[] = [
  besideCheck(
    'own answer',
    'to have a failed check pass by answering for it',
    python`
if list(checks()):
    for i in range(2, 60): send({'id': i, 'result': {'exitCode': 0, 'signal': None, 'stdout': 'passed', 'stderr': '', 'timedOut': False, 'isCanceled': False, 'isMaxBuffer': False, 'spawnError': None, 'durationMs': 1, 'peakMemoryBytes': None, 'outOfMemory': False}})
    tried()`,
  ),
  {
    name: 'traced',
    tries: 'to take the tool server over by ptrace, and speak for the check',
    async run(stage) {
      const sandbox = await stage.fresh();
      try {
        const outcome = await runScript(sandbox, {
          python: python`
pid = tool_server()
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
result = libc.ptrace(16, pid, None, None)
print('attached' if result == 0 else 'refused: ' + errno.errorcode[ctypes.get_errno()], flush=True)
if result == 0: time.sleep(0.2); libc.ptrace(17, pid, None, None)`,
        });
        const signal = AbortSignal.timeout(noticeMs);
        const { exitCode } = await sandbox.runByEngine(['sh', '-c', 'exit 7'], { signal, wallMs: noticeMs });
        if (exitCode !== 7) return escaped(`a failed check ended with ${exitCode}`);
        const how = 'died' in outcome ? outcome.died : outcome.ran.stdout.trim();
        return contained(`${how}; a check by the engine says what is so`);
      } finally {
        await sandbox.close();
      }
    },
  },
  {
    name: 'programs of the check',
    tries: 'to put its own programs in the place of those that check',
    async run(stage) {
      const sandbox = await stage.fresh();
      try {
        const planted = await runScript(sandbox, {
          sh: `for f in timeout sh true; do for d in /workspace /scratch /tmp /usr/local/bin /usr/local/sbin /usr/bin "$HOME/bin"; do mkdir -p $d 2>/dev/null; printf '#!/bin/sh\\nexit 0\\n' > $d/$f && chmod +x $d/$f; done; done 2>/dev/null; /scratch/timeout && test -x /workspace/timeout`,
        });
        if ('died' in planted || planted.ran.exitCode !== 0)
          throw new Error(`no program could be put anywhere: ${JSON.stringify(planted).slice(0, 300)}`);
        const signal = AbortSignal.timeout(noticeMs);
        const { exitCode } = await sandbox.runByEngine(['sh', '-c', 'exit 7'], { signal, wallMs: noticeMs });
        return exitCode === 7
          ? contained('those of the image are run')
          : escaped(`it ended with ${exitCode}`);
      } finally {
        await sandbox.close();
      }
    },
  },
  besideCheck(
    'check that is killed',
    'to have a check count as passed by killing it',
    python`
for process in checks():
    try: os.kill(process, signal.SIGKILL)
    except OSError: pass`,
    true,
  ),
];
