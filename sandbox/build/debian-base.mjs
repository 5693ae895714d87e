/**
 * A base image without a registry: a minimal Debian root from the machine's own package sources by
 * mmdebstrap, streamed into the engine, with this project's Node in it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callStream, removeImage } from './engine.mjs';

/** Of the major that the Node of sandbox/Dockerfile brings. */
const npmVersion = '11.21.2';

/** What decides the base's content, for the name of its tag; `layout` counts changes of the hooks below. */
export function baseRecipe({ debian, packages, notShipped }) {
  return JSON.stringify({ layout: 2, debian, packages, notShipped, npmVersion });
}

/**
 * Builds the base and names it `tag`: of the release that sandbox/Dockerfile names where the machine's mirrors and
 * keys have it, else of the machine's own. `nodeBinary` is a Linux Node 24. Needs root (or user namespaces), apt and npm.
 */
export async function buildDebianBase(engine, { tag, dockerfile, nodeBinary, say, signal }) {
  ensureMmdebstrap(say);
  const own = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (!own)
    throw new Error('/etc/os-release names no VERSION_CODENAME: building offline needs Debian or Ubuntu');
  const scratch = mkdtempSync(join(tmpdir(), 'patchfleet-base-'));
  try {
    const npm = packNpm(scratch);
    signal?.throwIfAborted();
    const build = { engine, tag, dockerfile, nodeBinary, npm, scratch, own, signal };
    try {
      await buildOf(dockerfile.debian, build);
    } catch (error) {
      signal?.throwIfAborted();
      if (own === dockerfile.debian) throw error;
      say(
        `no base of ${dockerfile.debian} can be made here, so one of ${own} is: ${lastLine(error.message)}`,
      );
      await buildOf(own, build);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function buildOf(suite, { engine, tag, dockerfile, nodeBinary, npm, scratch, own, signal }) {
  const sources = join(scratch, 'base.list');
  writeFileSync(sources, machineSources(own, { as: suite }));
  const place = '"$1"/usr/local/lib/node_modules/npm';
  const args = [
    '--quiet',
    '--variant=minbase',
    `--include=${dockerfile.packages.join(',')}`,
    ...proxyOptions().map((option) => `--aptopt=${option}`),
    // It is imported as a whole, or not at all: nothing need be on the disk before.
    '--dpkgopt=force-unsafe-io',
    ...dockerfile.notShipped.map((path) => `--dpkgopt=path-exclude=${path}`),
    `--customize-hook=install -D -m 0755 '${nodeBinary}' "$1/opt/patchfleet/bin/node"`,
    `--customize-hook=mkdir -p ${place} && tar -xzf '${npm}' -C ${place} --strip-components=1 --no-same-owner`,
    '--customize-hook=rm -rf "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/var/cache/* "$1"/var/log/*',
    '--format=tar',
    suite,
    '-',
    sources,
  ];
  await importRoot(engine, tag, args, { scratch, signal });
}

/** npm as its registry has it: the package `node` brings none. Answers the archive's path. */
function packNpm(scratch) {
  const args = ['pack', '--silent', `--pack-destination=${scratch}`, `npm@${npmVersion}`];
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: scratch, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${npmVersion} could not be had: ${error?.message ?? stderr.trim()}`);
  return join(scratch, stdout.trim().split('\n').at(-1));
}

function lastLine(text) {
  return text.trim().split('\n').at(-1);
}

async function importRoot(engine, tag, args, { scratch, signal }) {
  const child = spawn('mmdebstrap', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: scratch },
  });
  // It unmounts what it has mounted, and removes its root, before it ends.
  const stop = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log = (log + text).slice(-4000);
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [repo, version] = tag.split(':');
  const query = new URLSearchParams({ fromSrc: '-', repo, tag: version });
  const imported = callStream(engine, `/images/create?${query}`, {
    body: child.stdout,
    type: 'application/x-tar',
  });
  imported.catch(() => child.kill('SIGTERM'));
  const code = await ended;
  if (code !== 0) {
    // A root that was cut short may have been imported all the same: the exit code decides.
    await imported.catch(() => {});
    await removeImage(engine, tag);
    throw new Error(`mmdebstrap ended with ${code}:\n${log.trim()}`);
  }
  await imported;
}

function ensureMmdebstrap(say) {
  if (spawnSync('mmdebstrap', ['--version']).status === 0) return;
  say('installing mmdebstrap');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env });
  const { status, stderr, error } = spawnSync(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', 'mmdebstrap'],
    {
      env,
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  throw new Error(
    `mmdebstrap is missing and could not be installed (as root: apt-get install mmdebstrap): ${error?.message ?? stderr}`,
  );
}

/** The distribution's own entries of the machine's sources, in one-line form, `as` those of another of its releases. */
export function machineSources(suite, { as = suite, root = '/etc/apt' } = {}) {
  const wanted = new Set([suite, `${suite}-updates`, `${suite}-security`]);
  const files = [join(root, 'sources.list'), ...inFolder(join(root, 'sources.list.d'))];
  const lines = [];
  for (const file of files) {
    const text = readIfThere(file);
    if (file.endsWith('.sources')) lines.push(...text.split(/\n\s*\n/).flatMap((stanza) => oneLine(stanza)));
    else lines.push(...text.split('\n').filter((line) => line.startsWith('deb ')));
  }
  const chosen = lines.filter((line) => {
    const [distribution, ...components] = line.replace(/^deb (\[[^\]]*\] )?\s*\S+\s+/, '').split(/\s+/);
    return wanted.has(distribution) && components.includes('main');
  });
  if (chosen.length === 0)
    throw new Error(`no source of ${suite} main in ${root}: add the distribution's mirror there`);
  return `${chosen.map((line) => line.replace(` ${suite}`, ` ${as}`)).join('\n')}\n`;
}

/** One-line entries of a deb822 stanza. */
function oneLine(stanza) {
  const fields = {};
  for (const line of stanza.split('\n')) {
    const field = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
    if (field) fields[field[1].toLowerCase()] = field[2].trim().split(/\s+/);
  }
  const { uris = [], suites = [], components = [], types = [], enabled } = fields;
  if (!types.includes('deb') || enabled?.[0] === 'no') return [];
  const key = fields['signed-by']?.[0]?.startsWith('/') ? `[signed-by=${fields['signed-by'][0]}] ` : '';
  return uris.flatMap((uri) => suites.map((suite) => `deb ${key}${uri} ${suite} ${components.join(' ')}`));
}

/** A proxy that the machine's apt goes through; mmdebstrap starts with a configuration of its own. */
function proxyOptions() {
  const { stdout = '' } = spawnSync('apt-config', ['dump', '--no-empty', 'Acquire::http', 'Acquire::https'], {
    encoding: 'utf8',
  });
  return (stdout ?? '').split('\n').filter((line) => /^Acquire::https?::/.test(line));
}

function inFolder(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(list|sources)$/.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
