import { PatchfleetError } from '../../../../src/domain/failure.ts';
import { until } from '../../../support/app/until.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { probe, runScript, verdictOf } from '../../probes.ts';

const python = String.raw;

const wallMs = 60_000;

/** Descriptors by which vulnerable runtimes have left directories of the host open. */
const leaked = [7, 8, 9];

/** The moment at which something of the host comes in: the engine starts a check. */
export const entry: readonly Attack[] = [
  {
    name: 'program that enters',
    tries: 'to take over what the engine starts in here while it is not yet in (CVE-2019-5736)',
    async run(stage) {
      const sandbox = await stage.fresh();
      const signal = AbortSignal.timeout(2 * wallMs);
      const exists = (name: string) =>
        sandbox.read(name, { signal }).then(
          () => true,
          () => false,
        );
      try {
        const env = { CANARY_FILE: stage.canary.file, RUNTIME: stage.runtime };
        const script = python`
known = set(os.listdir('/proc'))
open('/workspace/watching', 'w').close()
entered, bad, canary = set(), set(), os.environ['CANARY_FILE']
while not os.path.exists('/workspace/enough'):
    for name in os.listdir('/proc'):
        if not name.isdigit() or name in known: continue
        if not entered: open('/workspace/seen', 'w').close()
        entered.add(name)
        place = '/proc/' + name
        for flags in (os.O_WRONLY, os.O_RDWR):
            if opens(place + '/exe', flags) == '': bad.add('exe')
        try: fds = os.listdir(place + '/fd')
        except OSError: fds = []
        for leads in ['/cwd', '/root'] + ['/fd/' + fd for fd in fds]:
            try:
                mode = os.stat(place + leads).st_mode
                if stat.S_ISDIR(mode) and any(os.path.exists(place + leads + up + canary) for up in ('', '/../../../../..')): bad.add(leads)
                if stat.S_ISREG(mode) and opens(place + leads, os.O_WRONLY) == '': bad.add(leads + ' ' + os.readlink(place + leads))
            except OSError: pass
if bad: say('escaped', bad)
elif entered: say('contained', 'nothing of %d that came in can be had' % len(entered))
else: say('untried', 'nothing was seen to come in')`;
        const watching = runScript(sandbox, { python: script }, { wallMs, env });
        await until('the attacker watches', () => exists('watching'), { limitMs: wallMs });
        // The first one lasts until something was seen to come in; the next is met by one who looks already.
        const entering = ['until [ -e /workspace/seen ]; do sleep 0.1; done', 'sleep 0.1'];
        for (const sh of entering) await sandbox.runByEngine(['sh', '-c', sh], { signal, wallMs });
        await sandbox.write('enough', '', { signal });
        const outcome = await watching;
        if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
        return verdictOf(outcome.ran);
      } finally {
        await sandbox.close();
      }
    },
  },
  {
    name: 'directory of a check',
    tries: 'to have a check begin in a directory of the host that was left open (CVE-2024-21626)',
    async run(stage) {
      const sandbox = await stage.fresh();
      const signal = AbortSignal.timeout(2 * wallMs);
      try {
        const links = [...leaked.map((fd) => `ln -s /proc/self/fd/${fd} fd${fd}`), 'ln -s /scratch honest'];
        await runScript(sandbox, { sh: links.join('\n') });
        // From there the root of the host would be a few directories up.
        const ups = Array.from({ length: 8 }, (_, depth) => `.${'/..'.repeat(depth)}${stage.canary.file}`);
        const look = ['sh', '-c', `pwd -P; cat ${ups.join(' ')}`];
        const begin = (cwd: string) =>
          sandbox.runByEngine(look, { cwd, signal, wallMs }).then(
            ({ stdout }) => stdout,
            (thrown: unknown) => {
              if (thrown instanceof PatchfleetError) return thrown.code;
              throw thrown;
            },
          );
        if (!(await begin('honest')).startsWith('/scratch')) throw new Error('no symlink is followed');
        const said = await Promise.all(leaked.map((fd) => begin(`fd${fd}`)));
        const got = said.filter((text) => text.includes(stage.canary.secret));
        if (got.length > 0) return escaped(`${got.length} of them read a file of the host`);
        return contained([...new Set(said.map((text) => text.trim().slice(0, 60)))].join(', '));
      } finally {
        await sandbox.close();
      }
    },
  },
  probe('keystrokes', 'to type into a terminal of whoever started it (TIOCSTI, TIOCLINUX)', {
    python: python`
import fcntl
results = {}
def push(name, fd):
    for request in (0x5412, 0x541c):
        try: fcntl.ioctl(fd, request, b'\x03'); results[name, request] = ''
        except OSError as e: results[name, request] = 'ENODEV' if e.errno in (errno.ENOTTY, errno.EINVAL) else errno.errorcode[e.errno]
for fd in (0, 1, 2): push(fd, fd)
for path in ('/dev/tty', '/dev/console', '/proc/1/fd/0', '/proc/1/fd/1', '/proc/%d/fd/0' % tool_server()):
    try: fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as e: results[path] = 'ENODEV' if e.errno in (errno.ENXIO, errno.ENOENT) else errno.errorcode[e.errno]; continue
    push(path, fd); os.close(fd)
all_refused(results)`,
  }),
];
