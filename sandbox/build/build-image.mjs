/**
 * Makes the sandbox image, or finds that it is the one these files describe: `npm run sandbox:image`.
 * With a registry in reach it is built as sandbox/Dockerfile says; without one, over a Debian base.
 * `--tag NAME:TAG` gives it another name.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { baseRecipe, buildDebianBase } from './debian-base.mjs';
import { answers, call, callStream, endpoint, imageNames, inspectImage, removeImage } from './engine.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sandbox = dirname(here);
const nodePackage = join(dirname(sandbox), 'node_modules/node');

export const imageName = 'patchfleet-sandbox:latest';
const baseName = 'patchfleet-sandbox-base';
/** Image label with the hash of what it was built from. Containers inherit it; the reaper looks at others. */
const inputsLabel = 'dev.patchfleet.image-inputs';

/** Makes the image `tag` unless it is there already. Answers true when it had to be built. */
export async function ensureImage(engine, { say, tag = imageName }) {
  const dockerfile = readFileSync(join(sandbox, 'Dockerfile'), 'utf8');
  const nodeVersion = JSON.parse(readFileSync(join(nodePackage, 'package.json'), 'utf8')).version;
  const served = servedFiles();
  const inputs = hash([
    dockerfile,
    nodeVersion,
    baseRecipe,
    ...served.flatMap((file) => [basename(file), readFileSync(file)]),
  ]);
  const present = await inspectImage(engine, tag);
  if (present?.labels[inputsLabel] === inputs) return false;

  const build = { engine, tag, dockerfile, served, inputs, nodeVersion };
  let base = null;
  if (await registryAnswers(engine, `node:${nodeVersion}-bookworm-slim`)) {
    say('building the sandbox image from the registry base');
    await buildContext({ ...build, network: 'default' });
  } else {
    base = await ensureBase(engine, nodeVersion, say);
    say('building the sandbox image over the offline base');
    const contract = dockerfile.slice(dockerfile.indexOf('# ---- contract ----'));
    await buildContext({ ...build, dockerfile: `FROM ${base}\n${contract}`, network: 'none' });
  }
  if (present) await removeImage(engine, present.id);
  if (base) await removeOtherBases(engine, base);
  return true;
}

async function ensureBase(engine, nodeVersion, say) {
  const tag = `${baseName}:${hash([baseRecipe, nodeVersion]).slice(0, 12)}`;
  if (await inspectImage(engine, tag)) return tag;
  say('no image registry in reach: building a Debian base from packages (about a minute)');
  await buildDebianBase(engine, { tag, nodeBinary: join(nodePackage, 'bin/node'), say });
  return tag;
}

async function removeOtherBases(engine, base) {
  const names = await imageNames(engine, baseName);
  for (const name of names.filter((other) => other !== base)) await removeImage(engine, name);
}

/** Whether the engine can read the base's manifest: a short question, where a pull might hang for long. */
async function registryAnswers(engine, reference) {
  try {
    return (
      (await call(engine, 'GET', `/distribution/${reference}/json`, { timeoutMs: 10_000 })).status === 200
    );
  } catch {
    return false;
  }
}

async function buildContext({ engine, tag, dockerfile, served, inputs, nodeVersion, network }) {
  const context = mkdtempSync(join(tmpdir(), 'patchfleet-image-'));
  try {
    writeFileSync(join(context, 'Dockerfile'), dockerfile);
    for (const file of served) {
      copyFileSync(file, join(context, basename(file)));
      chmodSync(join(context, basename(file)), 0o644);
    }
    const query = new URLSearchParams({
      t: tag,
      networkmode: network,
      forcerm: '1',
      labels: JSON.stringify({ [inputsLabel]: inputs }),
      buildargs: JSON.stringify({ NODE_VERSION: nodeVersion }),
    });
    const tar = spawn('tar', ['-C', context, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await callStream(engine, `/build?${query}`, { body: tar.stdout, type: 'application/x-tar' });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** The program that the image runs: every TypeScript file of sandbox/. */
function servedFiles() {
  const files = readdirSync(sandbox).filter((name) => name.endsWith('.ts'));
  return files.sort().map((name) => join(sandbox, name));
}

function hash(parts) {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${Buffer.byteLength(part)}:`).update(part);
  return sum.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const engine = endpoint();
  try {
    const { tag } = parseArgs({ options: { tag: { type: 'string', default: imageName } } }).values;
    if (!(await answers(engine)))
      throw new Error(`no Docker engine answers at ${engine.name}: start it, or set DOCKER_HOST`);
    const built = await ensureImage(engine, { say: (line) => console.error(line), tag });
    console.log(`${tag} ${built ? 'built' : 'is up to date'}`);
  } catch (error) {
    console.error(`The sandbox image could not be built: ${error.message}`);
    process.exitCode = 1;
  }
}
