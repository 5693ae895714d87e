import { execa } from 'execa';

/** Ways into a sandbox and out of it that nobody is meant to have. */

async function docker(...args: string[]): Promise<string> {
  return (await execa('docker', args)).stdout;
}

/** What a container has of the outside. */
export async function outsideOf(id: string) {
  const [container] = JSON.parse(await docker('inspect', id)) as [
    {
      Config: { User: string };
      HostConfig: { NetworkMode: string; PortBindings: object | null };
      Mounts: { Source: string; Destination: string }[];
      NetworkSettings: { Ports: object | null; IPAddress?: string };
    },
  ];
  const { Config, HostConfig, Mounts, NetworkSettings } = container;
  return {
    user: Config.User,
    /** Its workspace on the host. */
    workspace: Mounts.find(({ Destination }) => Destination === '/workspace')?.Source ?? '',
    network: {
      mode: HostConfig.NetworkMode,
      published: Object.keys({ ...HostConfig.PortBindings, ...NetworkSettings.Ports }),
      interfaces: (await inside(id, 'ls', '/sys/class/net')).stdout,
    },
  };
}

/** A program in a running sandbox, as the user that agents' programs run as. */
export function inside(id: string, ...argv: string[]) {
  return execa('docker', ['exec', id, ...argv], { reject: false });
}

/** Those of the listeners (`host:port`, or the path of a socket) that a program in the sandbox can connect to. */
export async function reachable(id: string, listeners: readonly string[]): Promise<string[]> {
  const script = `
    const net = require('node:net');
    const tries = ${JSON.stringify(listeners)}.map((name) => new Promise((done) => {
      const at = name.lastIndexOf(':');
      const where = name.startsWith('/') ? { path: name } : { host: name.slice(0, at), port: Number(name.slice(at + 1)) };
      net.connect({ ...where, timeout: 2000 })
        .on('connect', () => done([name])).on('timeout', () => done([])).on('error', () => done([]));
    }));
    Promise.all(tries).then((all) => { console.log(JSON.stringify(all.flat())); process.exit(0); });`;
  const { stdout } = await execa('docker', ['exec', id, 'node', '-e', script]);
  return JSON.parse(stdout) as string[];
}

/** Of a program run as another user of this machine; only root can do so. */
export function asUser(uid: number, gid: number, ...argv: [string, ...string[]]) {
  const [program, ...args] = argv;
  return execa(program, args, { uid, gid, cwd: '/', reject: false });
}
