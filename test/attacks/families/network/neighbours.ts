import { type Attack, escaped } from '../../attack.ts';
import { runScript, verdictOf, whileItHolds } from '../../probes.ts';
import { tools } from './reaching.ts';

const python = String.raw;

/** Something that the neighbour runs, for as long as an attacker looks for it. */
function beside(name: string, tries: string, owner: string, attacker: string): Attack {
  return {
    name,
    tries,
    async run(stage) {
      const env = { RUNTIME: stage.runtime };
      const neighbour = { sandbox: stage.neighbour, script: owner, env };
      const { held, used } = await whileItHolds(neighbour, async () =>
        runScript(await stage.target(), { python: `${tools}\n${attacker}` }, { env }),
      );
      if ('died' in used || 'died' in held) throw new Error('a sandbox ended');
      if (held.ran.stdout.includes('reached')) return escaped('it was reached');
      if (!held.ran.stdout.includes('offered'))
        throw new Error(`nothing was offered: ${held.ran.stderr.slice(-200)}`);
      return verdictOf(used.ran);
    },
  };
}

/** What another attempt runs. */
export const neighbours: readonly Attack[] = [
  beside(
    'abstract socket of a neighbour',
    'to speak to what another attempt runs',
    python`
s = socket.socket(socket.AF_UNIX); s.bind(b'\0attack-neighbour'); s.listen(); s.setblocking(False)
print('offered', flush=True)
hold()
try: s.accept(); print('reached')
except BlockingIOError: pass`,
    python`
none_of({'it': connects(socket.AF_UNIX, socket.SOCK_STREAM, b'\0attack-neighbour')})`,
  ),
  beside(
    'port of a neighbour',
    'to speak to a server that another attempt tests',
    python`
s = socket.socket(); s.bind(('0.0.0.0', 8123)); s.listen(); s.setblocking(False)
print('offered', flush=True)
hold()
try: s.accept(); print('reached')
except BlockingIOError: pass`,
    python`
none_of({h: connects(socket.AF_INET, socket.SOCK_STREAM, (h, 8123)) for h in ('127.0.0.1', '0.0.0.0', '172.17.0.2', '172.17.0.3', '172.17.0.4')})`,
  ),
  beside(
    'shared memory of a neighbour',
    'to read what another attempt shares among its processes',
    python`
i = call('shmget', 0x5ec0de, 4096, 0o1666)[0]
if i != -1: print('offered', flush=True)
hold()
libc.shmctl(i, 0, None)`,
    python`
found, error = call('shmget', 0x5ec0de, 0, 0)
say('escaped', 'it was found') if found != -1 else say('contained', error)`,
  ),
];
