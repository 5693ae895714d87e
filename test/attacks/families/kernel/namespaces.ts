import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

/** A namespace that could be made, by either call. */
const namespace = (name: string, flag: number) =>
  probe(`${name} namespace`, `to be root in a new ${name} namespace`, {
    python: python`
made, error = call('unshare', ${flag})
child, cloned = call('clone', ${flag} | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0: os._exit(0)
all_refused({'unshare': error, 'clone': cloned})`,
  });

/** Being root, or somebody else, in a namespace of its own. */
export const namespaces: readonly Attack[] = [
  namespace('user', 0x1000_0000),
  namespace('mount', 0x2_0000),
  namespace('network', 0x4000_0000),
  namespace('process', 0x2000_0000),
  namespace('user and mount', 0x1002_0000),
  probe('clone3', 'to make a namespace by the call whose flags no filter sees', {
    python: python`
args = struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
child, error = call('clone3', ctypes.create_string_buffer(args), 64)
if child == 0: os._exit(0)
all_refused({'clone3': error})`,
  }),
  probe('unshare program', 'to be root by the program of that name', {
    sh: `command -v unshare > /dev/null || { echo 'untried: there is no such program'; exit; }
out=$(unshare -Urm sh -c 'id -u; mount -t tmpfs none /mnt' 2>&1) && echo "escaped: $out" || echo "contained: $out" | tr '\\n' ' '; echo`,
  }),
  probe('setns', 'to join the namespaces of the first process, or of its own again', {
    python: python`
results = {}
for pid in ('1', 'self'):
    for kind in ('mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup'):
        try: fd = os.open('/proc/%s/ns/%s' % (pid, kind), os.O_RDONLY)
        except OSError: continue
        results[pid, kind] = call('setns', fd, 0)[1]
        os.close(fd)
all_refused(results)`,
  }),
];
