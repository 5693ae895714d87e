import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { toFailure } from '../domain/failure.ts';
import type { SandboxUser } from './container/container-spec.ts';
import { engineProblem, engineStatus } from './container/docker-host.ts';
import { findRuntimeProblem, type RuntimeChoice } from './container/runtime.ts';
import { type ImageFacts, judgeImage, type Probe, probes, setIdProbe } from './image-contract.ts';
import type { Sandbox, SandboxCheck, Sandboxes } from './port.ts';
import { removeTree } from './remove-tree.ts';
import { workspaceId } from './workspaces/workspaces.ts';

/** Milliseconds the trial sandbox may take, start to end, and one command in it. */
const trialMs = 120_000;
const probeMs = 30_000;
/** Characters that are shown of what a command said. */
const saidCharacters = 200;
/** Minor version of the engine's API 1: Docker 20.10. Older ones pass over some of what sandboxes ask for in silence. */
const leastMinor = 41;

type Images = Pick<Docker, 'version' | 'info' | 'getImage'>;

/** Where the snapshot of a trial lies, by a name that tells a reaper whose it is, and who owns it. */
export interface TrialPlace {
  /** Directory of the workspaces; made if missing. */
  readonly root: string;
  readonly worker: string;
  readonly user: SandboxUser;
  /** Why the engine cannot have what lies there, with the remedy; null: it can. */
  readonly unseen: () => Promise<string | null>;
}

/** Problems of engine and images, each with its remedy; the first that makes the next ones pointless is the last told. */
export async function checkEngine(
  docker: Images,
  choice: RuntimeChoice,
  images: readonly string[],
  sandboxes: Pick<Sandboxes, 'acquire'>,
  place: TrialPlace,
): Promise<SandboxCheck> {
  let engine: Docker.DockerVersion;
  try {
    engine = await docker.version();
  } catch (thrown) {
    return problem(
      `The Docker engine cannot be reached (${engineProblem(thrown)}). Start it, set DOCKER_HOST to where it listens, and let this user use its socket.`,
    );
  }
  const { ApiVersion, Version } = engine;
  const [, minor] = /^1\.(\d+)$/.exec(ApiVersion) ?? [];
  if (minor !== undefined && Number(minor) < leastMinor)
    return problem(
      `The Docker engine is too old (${Version}): it would pass over some limits of sandboxes in silence. Install 20.10 or later.`,
    );
  const runtime = await findRuntimeProblem(docker, choice);
  if (runtime !== null) return problem(runtime);
  await mkdir(place.root, { recursive: true, mode: 0o700 });
  const unseen = await place.unseen();
  if (unseen !== null) return problem(unseen);
  const reports: SandboxCheck[] = [];
  for (const image of new Set(images)) reports.push(await checkImage(docker, image, sandboxes, place));
  return {
    problems: reports.flatMap(({ problems }) => problems),
    notes: reports.flatMap(({ notes }) => notes),
  };
}

async function checkImage(
  docker: Images,
  image: string,
  sandboxes: Pick<Sandboxes, 'acquire'>,
  place: TrialPlace,
): Promise<SandboxCheck> {
  let seen: Docker.ImageInspectInfo;
  try {
    seen = await docker.getImage(image).inspect();
  } catch (thrown) {
    if (engineStatus(thrown) === 404)
      return problem(
        `The sandbox image ${image} is not on the engine. Build it with \`npm run sandbox:image\`, pull it, or name another one under \`sandbox\` in patchfleet.yml.`,
      );
    return problem(
      `The sandbox image ${image} cannot be looked at: ${engineProblem(thrown)}. See the log of the engine.`,
    );
  }
  const facts = { bytes: seen.Size, volumes: Object.keys(seen.Config?.Volumes ?? {}) };
  try {
    return judgeImage(image, { ...facts, ...(await trial(image, sandboxes, place)) });
  } catch (thrown) {
    return problem(
      `A trial sandbox of ${image} does not work: ${toFailure(thrown).detail.replace(/\.?$/, '.')} Build the image anew with \`npm run sandbox:image\`, or by docs/operations.md, "An image of your own"; if that does not help, see the log of the engine.`,
    );
  }
}

/** Rejects where the sandbox cannot be had, or dies. */
async function trial(
  image: string,
  sandboxes: Pick<Sandboxes, 'acquire'>,
  { root, worker, user }: TrialPlace,
): Promise<Pick<ImageFacts, 'failed' | 'setId'>> {
  const home = join(root, workspaceId(worker, randomBytes(8).toString('hex')));
  const snapshot = join(home, 'snapshot');
  const signal = AbortSignal.timeout(trialMs);
  try {
    await mkdir(snapshot, { recursive: true, mode: 0o755 });
    // The sandbox user's, as every snapshot is: of another's no overlay is made.
    if (process.getuid?.() === 0) await chown(snapshot, user.uid, user.gid);
    const ids = { taskId: randomUUID(), attemptId: randomUUID() };
    const sandbox = await sandboxes.acquire({ ...ids, snapshot, image, wallMs: trialMs }, signal);
    try {
      const failed: ImageFacts['failed'][number][] = [];
      for (const probe of probes) {
        const said = await attempt(sandbox, probe, signal);
        if (said !== null) failed.push({ probe, said });
      }
      const { exitCode, stdout } = await sandbox.run(setIdProbe, { signal, wallMs: probeMs });
      const setId = exitCode === 0 ? stdout.split('\n').filter((line) => line !== '') : null;
      return { failed, setId };
    } finally {
      await sandbox.close();
    }
  } finally {
    await removeTree(home);
  }
}

/** Null: it did as it should; else what it said, in one line. */
async function attempt(sandbox: Sandbox, probe: Probe, signal: AbortSignal): Promise<string | null> {
  const { exitCode, spawnError, stdout, stderr } = await sandbox.run(probe.argv, {
    signal,
    wallMs: probeMs,
  });
  if (exitCode === 0 && (probe.prints === undefined || stdout === probe.prints)) return null;
  const said = spawnError ?? (stderr || stdout);
  return said
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, saidCharacters);
}

const problem = (text: string): SandboxCheck => ({ problems: [text], notes: [] });
