/**
 * Makes the sandbox image, or finds that it is the one these files describe: `npm run sandbox:image`.
 * With a registry in reach it is built as sandbox/Dockerfile says; without one, over a Debian base.
 * `--tag NAME:TAG` gives it another name. Node's builtins alone, of Node 20 and later.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { baseRecipe, buildDebianBase } from './debian-base.mjs';
import { readDockerfile } from './dockerfile.mjs';
import { answers, call, callStream, endpoint, imageNames, inspectImage, removeImage } from './engine.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sandbox = dirname(here);
const nodePackage = join(dirname(sandbox), 'node_modules/node');

export const imageName = 'patchfleet-sandbox:latest';
const baseName = 'patchfleet-sandbox-base';
/** Image label with the hash of what it was built from. Containers inherit it; the reaper looks at others. */
const inputsLabel = 'dev.patchfleet.image-inputs';

/** Makes the image `tag` unless it is there already. Answers true when it had to be built. Rejects when `signal` aborts. */
export async function ensureImage(engine, { say, tag = imageName, signal }) {
  const dockerfile = readDockerfile(readFileSync(join(sandbox, 'Dockerfile'), 'utf8'));
  const nodeVersion = JSON.parse(readFileSync(join(nodePackage, 'package.json'), 'utf8')).version;
  const inputs = hash([dockerfile.text, nodeVersion, baseRecipe(dockerfile), ...sources()]);
  const present = await inspectImage(engine, tag);
  if (present?.labels[inputsLabel] === inputs) return false;

  const build = { engine, tag, inputs, nodeVersion, signal };
  let base = null;
  const byRegistry = await buildByRegistry(build, dockerfile, say);
  if (byRegistry !== null) {
    try {
      base = await ensureBase(build, dockerfile, say);
      say('building the sandbox image over the offline base');
      await buildContext({ ...build, dockerfile: `FROM ${base}\n${dockerfile.contract}`, network: 'none' });
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${byRegistry}; without a registry: ${error.message}`);
    }
  }
  if (present) await removeImage(engine, present.id);
  // Under another name it may be the image of another state of these files, which has its own base.
  if (base && tag === imageName) await removeOtherBases(engine, base);
  return true;
}

/** Null: the image is built; else why it cannot be in that way: there is no registry, or its base has no network to build with. */
async function buildByRegistry(build, dockerfile, say) {
  const { engine, nodeVersion, signal } = build;
  if (!(await registryAnswers(engine, `node:${nodeVersion}-${dockerfile.debian}-slim`, signal)))
    return 'no image registry is in reach';
  say('building the sandbox image from the registry base');
  try {
    await buildContext({ ...build, dockerfile: dockerfile.text, network: 'default' });
    return null;
  } catch (error) {
    signal?.throwIfAborted();
    return `it cannot be built from the registry base: ${error.message}`;
  }
}

async function ensureBase({ engine, nodeVersion, signal }, dockerfile, say) {
  const tag = `${baseName}:${hash([baseRecipe(dockerfile), nodeVersion]).slice(0, 12)}`;
  if (await inspectImage(engine, tag)) return tag;
  say('building a Debian base from packages (about two minutes)');
  await buildDebianBase(engine, { tag, dockerfile, nodeBinary: join(nodePackage, 'bin/node'), say, signal });
  return tag;
}

async function removeOtherBases(engine, base) {
  const names = await imageNames(engine, baseName);
  for (const name of names.filter((other) => other !== base)) await removeImage(engine, name);
}

/** Whether the engine can read the base's manifest: a short question, where a pull might hang for long. */
async function registryAnswers(engine, reference, signal) {
  try {
    const asked = { timeoutMs: 10_000, signal };
    return (await call(engine, 'GET', `/distribution/${reference}/json`, asked)).status === 200;
  } catch {
    signal?.throwIfAborted();
    return false;
  }
}

async function buildContext({ engine, tag, dockerfile, inputs, nodeVersion, network, signal }) {
  const context = mkdtempSync(join(tmpdir(), 'patchfleet-image-'));
  try {
    writeFileSync(join(context, 'Dockerfile'), dockerfile);
    writeToolServer(context);
    const query = new URLSearchParams({
      t: tag,
      networkmode: network,
      forcerm: '1',
      labels: JSON.stringify({ [inputsLabel]: inputs }),
      buildargs: JSON.stringify({ NODE_VERSION: nodeVersion }),
    });
    const tar = spawn('tar', ['-C', context, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await callStream(engine, `/build?${query}`, {
      ...{ body: tar.stdout, type: 'application/x-tar', signal },
    });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** By the Node that the image gets: the one that runs set-up may be too old to know TypeScript. */
function writeToolServer(directory) {
  const node = join(nodePackage, 'bin/node');
  const args = ['--disable-warning=ExperimentalWarning', join(here, 'tool-server-files.mjs'), directory];
  const { status, stderr, error } = spawnSync(node, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the tool server cannot be made: ${error?.message ?? stderr.trim()}`);
}

/** What the tool server is made of and by, as names and contents. */
function sources() {
  const names = readdirSync(sandbox).filter((name) => name.endsWith('.ts'));
  const files = names.sort().flatMap((name) => [name, readFileSync(join(sandbox, name))]);
  return [readFileSync(join(here, 'tool-server-files.mjs')), ...files];
}

function hash(parts) {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${Buffer.byteLength(part)}:`).update(part);
  return sum.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const engine = endpoint();
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(name, () => abort.abort(new Error(`stopped by ${name}`)));
  try {
    const { tag } = parseArgs({ options: { tag: { type: 'string', default: imageName } } }).values;
    if (!(await answers(engine)))
      throw new Error(`no Docker engine answers at ${engine.name}: start it, or set DOCKER_HOST`);
    const built = await ensureImage(engine, {
      say: (line) => console.error(line),
      tag,
      signal: abort.signal,
    });
    console.log(`${tag} ${built ? 'built' : 'is up to date'}`);
  } catch (error) {
    console.error(`The sandbox image could not be built: ${error.message}`);
    process.exitCode = 1;
  }
}
