import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  process.env['PATCHFLEET_TEST_CANARY'] = 'canary-7f3a';
  setting = createSetting();
  sandbox = await setting.acquire();
});
afterAll(async () => {
  delete process.env['PATCHFLEET_TEST_CANARY'];
  await setting.end();
});

const sh = (script: string, on = sandbox) => on.run(['sh', '-c', script], { signal, wallMs: 60_000 });

it('a sandbox reaches no listener of the host, by no address', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const hosts = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address: host }) => host),
  );
  const script = `
    const net = require('node:net');
    Promise.all(${JSON.stringify(hosts)}.map((host) => new Promise((resolve) => {
      const socket = net.connect({ host, port: ${port}, timeout: 2000 });
      socket.on('connect', () => resolve(host + ' connected')).on('timeout', () => resolve('timeout'));
      socket.on('error', (error) => resolve('refused'));
    }))).then((all) => { console.log(all.some((one) => one.includes('connected')) ? all : 'none'); process.exit(0); });`;
  const result = await sandbox.run(['node', '-e', script], { signal, wallMs: 60_000 });
  // The same from the host shows that the listener listens.
  await fetch(`http://127.0.0.1:${port}`).catch(() => {});
  server.close();
  expect({ stdout: result.stdout, connections }).toEqual({ stdout: 'none\n', connections: 1 });
  expect((await sh('ls /sys/class/net')).stdout).toBe('lo\n');
});

it('is not root, has no capability and cannot get any', async () => {
  const status = (await sh('id -u; grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status'))
    .stdout;
  expect(status.replaceAll('\t', ' ').split('\n')).toEqual([
    expect.not.stringMatching(/^0$/),
    'CapPrm: 0000000000000000',
    'CapEff: 0000000000000000',
    'CapBnd: 0000000000000000',
    'NoNewPrivs: 1',
    'Seccomp: 2',
    '',
  ]);
});

it('makes the sockets that programs need, and none for which the kernel would load a module', async () => {
  const script = `
import ctypes, errno, socket as s
def made(make):
    try: make(); return 'made'
    except OSError as e: return errno.errorcode[e.errno]
kinds = {'tcp': (2, 1, 0), 'tcp of ipv6': (10, 1, 6), 'udp': (2, 2 | s.SOCK_NONBLOCK, 17), 'unix': (1, 5, 0), 'routes': (16, 3, 0),
    'sctp': (2, 1, 132), 'dccp': (10, 6, 33), 'mptcp': (2, 1, 262), 'packet filter': (16, 3, 12), 'algorithms': (38, 5, 0), 'tipc': (30, 1, 0)}
for name, kind in kinds.items(): print(name, made(lambda: s.socket(*kind)))
print('pair', made(lambda: s.socketpair()), 'pair of tipc', made(lambda: s.socketpair(30, 1, 0)))
libc = ctypes.CDLL(None, use_errno=True)
context = ctypes.c_ulong(0)
libc.syscall({'x86_64': 206, 'aarch64': 0}[__import__('platform').machine()], 65536, ctypes.byref(context))
print('io_setup', errno.errorcode[ctypes.get_errno()])`;
  const { stdout, stderr } = await sandbox.run(['python3', '-c', script], { signal, wallMs: 60_000 });
  expect((stdout + stderr).trim().split('\n')).toEqual([
    ...['tcp made', 'tcp of ipv6 made', 'udp made', 'unix made', 'routes made'],
    ...['sctp EPERM', 'dccp EPERM', 'mptcp EPERM', 'packet filter EPERM', 'algorithms EPERM', 'tipc EPERM'],
    ...['pair made pair of tipc EPERM', 'io_setup ENOSYS'],
  ]);
});

it('finds its own servers by the names that tests give them, and changes nothing of that', async () => {
  const script = `
const { createServer } = require('node:http');
const own = require('node:os').hostname();
const ask = (host) => new Promise((resolve) => {
  const server = createServer((_, response) => response.end(host));
  server.on('error', (error) => resolve(error.code));
  server.listen(0, host, async () => {
    const answer = await fetch('http://' + host + ':' + server.address().port);
    resolve(await answer.text());
    server.close();
    server.closeAllConnections();
  });
});
(async () => { for (const host of ['localhost', 'ip6-localhost', own]) console.log(await ask(host)); })();`;
  const { stdout, stderr } = await sandbox.run(['node', '-e', script], { signal, wallMs: 60_000 });
  expect(stdout + stderr).toBe('localhost\nip6-localhost\nsandbox\n');
  expect((await sh('echo 127.0.0.1 x >> /etc/hosts')).stderr).toMatch(
    /Read-only file system|Permission denied/,
  );
});

it('is told nothing of the machine that no program needs', async () => {
  const said = await sh(
    'cd /proc; cat interrupts kallsyms kcore keys timer_list 2>/dev/null | wc -c; ls -A acpi scsi /sys/firmware 2>/dev/null | grep -v : | wc -w',
  );
  expect(said.stdout).toBe('0\n0\n');
});

it('can write its workspace and scratch, and nothing else', async () => {
  const script = `for d in / /etc /usr/local/bin /opt/patchfleet /var/tmp /workspace /tmp /scratch "$HOME" "$TMPDIR"; do
    (touch "$d/probe") 2>/dev/null && echo "$d"; done; true`;
  expect((await sh(script)).stdout.split('\n')).toEqual([
    '/workspace',
    '/tmp',
    '/scratch',
    '/scratch/home',
    '/scratch/tmp',
    '',
  ]);
  const programs = 'for d in /tmp "$TMPDIR"; do cp /bin/true $d/t; $d/t 2>/dev/null && echo "$d"; done; true';
  expect((await sh(programs)).stdout).toBe('/scratch/tmp\n');
});

it('is kept to its share of scratch, processes and memory', async () => {
  const filled = await sh(
    'head -c 100000000 /dev/zero > /scratch/full; stat -c %s /scratch/full; rm /scratch/full',
  );
  expect(Number(filled.stdout)).toBeGreaterThan(60 * 1024 * 1024);
  expect(Number(filled.stdout)).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect((await sh('for i in $(seq 300); do sleep 60 & done; echo all')).stdout).not.toContain('all');
  const hog = await sandbox.run(['node', '-e', 'const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))'], {
    signal,
    wallMs: 60_000,
  });
  // The program goes, the sandbox stays.
  expect(hog).toMatchObject({ signal: 'SIGKILL', timedOut: false });
  expect((await sh('echo alive')).stdout).toBe('alive\n');
});

it('has a closed environment: nothing of the worker, no secret', async () => {
  const names = (await sh('tr "\\0" "\\n" < /proc/$PPID/environ | cut -d= -f1 | sort')).stdout
    .trim()
    .split('\n');
  expect(names).toEqual([
    'GOTMPDIR',
    'HOME',
    'HOSTNAME',
    'LANG',
    'PATH',
    'PYTHONDONTWRITEBYTECODE',
    'TERM',
    'TMPDIR',
  ]);
  expect((await sh('cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"')).stdout).not.toContain('canary');
  const result = await sandbox.run(['env'], { signal, wallMs: 60_000, env: { GIVEN: 'yes' } });
  expect(result.stdout).toContain('GIVEN=yes\n');
});

it('sees its own workspace, not its neighbour’s, nor the snapshot', async () => {
  const neighbour = await setting.acquire({ 'secret.txt': 'neighbour\n' });
  await sh('echo mine > a.txt; echo new > planted');
  expect((await neighbour.list('', { signal })).map(({ name }) => name)).toEqual(['secret.txt']);
  expect((await sh('grep -rs neighbour / --include=secret.txt; echo $?')).stdout).toMatch(/^[12]\n$/);
  const again = await setting.acquire();
  expect(await again.read('a.txt', { signal })).toMatchObject({ text: 'one\ntwo\n' });
});

it('removes container and workspace on close, whatever lies there; closing twice is fine', async () => {
  const closed = await setting.acquire();
  const before = readdirSync(setting.workspacesDir).length;
  await sh(
    'mkdir -p locked/deep; touch "locked/deep/$(printf "a\\377\\n-b")"; ln -s / out; chmod 000 locked',
    closed,
  );
  await Promise.all([closed.close(), closed.close()]);
  await closed.close();
  expect(setting.containers()).not.toContain(closed.containerId);
  expect(readdirSync(setting.workspacesDir).length).toBe(before - 1);
  expect(existsSync('/etc/passwd')).toBe(true);
  await expect(closed.list('', { signal })).rejects.toMatchObject({ code: 'sandbox_died' });
});
