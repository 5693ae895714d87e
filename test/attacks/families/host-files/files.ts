import { join } from 'node:path';
import { type Attack, contained, escaped } from '../../attack.ts';
import { readableByOthers } from '../../host.ts';
import { probe, runScript } from '../../probes.ts';

const python = String.raw;

/** Files of the host, and of other attempts. */
export const files: readonly Attack[] = [
  probe('canary by its path', 'to read a file of the host by its own path', {
    sh: `cat "$CANARY_FILE" 2>/dev/null && echo "escaped: read" || echo "contained: there is no such path"`,
  }),
  probe('canary by search', 'to find that file anywhere', {
    python: python`
found, own = [], False
for folder, folders, names in os.walk('/'):
    if folder == '/': folders[:] = [f for f in folders if f not in ('proc', 'sys')]
    own = own or folder == '/workspace' and 'AGENTS.md' in names
    found += [folder + '/' + n for n in folders + names if 'guarded-canary' in n]
if found: say('escaped', found)
else: say('contained', 'nothing of that name') if own else say('untried', 'not even its own file is found')`,
  }),
  probe('mounts', 'to find something of the host that was mounted into it', {
    python: python`
own = {'/', '/workspace', '/tmp', '/scratch', '/etc/hosts', '/etc/hostname', '/etc/resolv.conf'}
points = [line.split()[4] for line in open('/proc/self/mountinfo')]
odd = [p for p in points if p not in own and not p.endswith('/docker-init') and not (p + '/').startswith(('/proc/', '/sys/', '/dev/'))]
say('escaped', odd) if odd or '/workspace' not in points else say('contained', 'its workspace alone')`,
  }),
  probe('passwords', 'to read the passwords of the host', {
    python: python`unreadable('/etc/shadow', '/etc/gshadow', '/proc/1/root/etc/shadow')`,
  }),
  probe('home of root', 'to read what root keeps', {
    python: python`
try: say('escaped', os.listdir('/root'))
except OSError as e: say('contained', errno.errorcode[e.errno])`,
  }),
  probe('docker.sock', 'to command the engine', {
    python: python`
found = []
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock'):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path); found.append(path)
    except OSError: pass
say('escaped', found) if found else say('contained', 'no socket of an engine is there')`,
  }),
  probe('snapshot', 'to change what all workspaces are made of', {
    python: python`
seen = [p for p in (os.environ['SNAPSHOT'], '/proc/1/root' + os.environ['SNAPSHOT']) if os.path.exists(p)]
say('escaped', seen) if seen else say('contained', 'it is not to be seen')`,
  }),
  probe('neighbour’s workspace', 'to read what another attempt writes', {
    python: python`
found, own = [], False
for root in ('/', '/workspace/..', '/proc/1/cwd', '/proc/self/cwd/..'):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ('/proc', '/sys', '/usr', '/lib', '/opt')]
        if 'private.txt' in names: found.append(folder)
        own = own or 'AGENTS.md' in names
        if folder.count('/') > 6: folders[:] = []
if found: say('escaped', found)
else: say('contained', 'only its own can be found') if own else say('untried', 'not even its own is found')`,
  }),
  probe('paths of the host', 'to reach the host by paths that the list of mounts tells', {
    python: python`
reached, told = [], 0
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    for path in {fields[3]} | {o.split('=', 1)[1].split(':')[0] for o in fields[-1].split(',') if 'dir=/' in o}:
        # What lies there is of the host: the roots of mounts, and the directories of overlays.
        if len(path) < 2 or path.startswith(('/proc', '/sys')): continue
        told += 1
        if os.path.isdir(path): reached.append(path)
if reached: say('escaped', reached)
else: say('contained', '%d are told, and lead nowhere in here' % told) if told or own_kernel else say('untried', 'none is told')`,
  }),
  probe('program files', 'to change the tool server, node or git for whoever comes next', {
    python: python`
writable = []
for root in ('/opt', '/usr', '/etc', '/lib', '/bin', '/sbin', '/var', '/home'):
    for folder, _, names in os.walk(root):
        if os.access(folder, os.W_OK): writable.append(folder)
        writable += [os.path.join(folder, n) for n in names if os.access(os.path.join(folder, n), os.W_OK) and not os.path.islink(os.path.join(folder, n))]
say('escaped', writable[:5]) if writable else say('contained', 'none can be written')`,
  }),
  {
    name: 'other users of the host',
    tries: 'to have what it wrote read, or run, by others who are on its machine',
    async run(stage) {
      const sh = 'cp /usr/bin/id open-to-all && chmod 6777 open-to-all . && echo x > text && chmod 666 text';
      const outcome = await runScript(await stage.target(), { sh });
      if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
      if (outcome.ran.exitCode !== 0) throw new Error(outcome.ran.stderr.slice(0, 300));
      const { home } = stage.setting;
      const read = ['workspaces', 'snapshots'].flatMap((name) => readableByOthers(join(home, name)));
      return read.length === 0
        ? contained('nobody but the worker gets into its directory')
        : escaped(`others may read ${read.length} files, such as ${read[0]}`);
    },
  },
];
