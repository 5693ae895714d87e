import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

/** Large code that others wrote: two packages of Debian's and one of npm's. */
export interface CodeBase {
  readonly name: string;
  readonly language: 'python' | 'go' | 'javascript';
  /** Text by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** Downloads what is not there into `dir`. Needs apt-get and dpkg. */
export async function readCodeBases(dir: string): Promise<CodeBase[]> {
  const [python, go] = await Promise.all([
    unpack(dir, 'python3-django'),
    unpack(dir, `golang-${await goVersion()}-src`),
  ]);
  const openai = dirname(createRequire(import.meta.url).resolve('openai'));
  return [
    await read('django', 'python', join(python, 'usr/lib/python3/dist-packages'), /\.(?:py|js|html)$/),
    await read('go', 'go', await goSources(go), /\.(?:go|s)$/, /^cmd\/|(?:^|\/)testdata\//),
    await read('openai', 'javascript', openai, /\.(?:m?js|[cm]?ts)$/),
  ];
}

/** Of the default Go of this Debian, such as `1.19`. */
async function goVersion(): Promise<string> {
  const { stdout } = await execa('apt-cache', ['depends', 'golang-src']);
  const found = /golang-(\d+\.\d+)-src/.exec(stdout)?.[1];
  if (found === undefined) throw new Error('apt-cache knows no Go source package: apt-get update');
  return found;
}

async function goSources(root: string): Promise<string> {
  const share = join(root, 'usr/share');
  const name = (await readdir(share)).find((entry) => entry.startsWith('go-'));
  if (name === undefined) throw new Error('the Go package has no sources where they are looked for');
  return join(share, name, 'src');
}

async function unpack(dir: string, name: string): Promise<string> {
  // apt downloads as a user of its own where it may write.
  await chmod(dir, 0o777);
  await execa('apt-get', ['download', '-qq', name], { cwd: dir });
  const deb = (await readdir(dir)).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (deb === undefined) throw new Error(`apt-get downloaded no ${name}`);
  const place = join(dir, name);
  await execa('dpkg', ['-x', join(dir, deb), place]);
  return place;
}

async function read(
  name: string,
  language: CodeBase['language'],
  root: string,
  wanted: RegExp,
  unwanted = /^$/,
): Promise<CodeBase> {
  const files = new Map<string, string>();
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => wanted.test(path) && !unwanted.test(path))
    .toSorted();
  for (const path of paths) {
    const whole = join(root, path);
    if ((await stat(whole)).size <= 512 * 1024) files.set(path, await readFile(whole, 'utf8'));
  }
  return { name, language, files };
}
