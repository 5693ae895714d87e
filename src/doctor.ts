import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Composition } from './compose.ts';
import type { Places } from './config/environment.ts';
import type { SandboxConfig } from './config/sandbox-config.ts';
import { corePatternFile, crashHandlerNote } from './sandbox/crash-handler.ts';
import { createSandboxes } from './sandbox/docker-sandboxes.ts';
import type { SandboxCheck } from './sandbox/port.ts';
import { visit, visitorsName } from './sandbox/visitor.ts';
import { readInstance } from './store/instance.ts';

type Place = Pick<Places, 'PATCHFLEET_DATA' | 'DOCKER_HOST' | 'DOCKER_TLS_VERIFY' | 'DOCKER_CERT_PATH'>;

/** Checks what the configuration points to, and this machine. Each finding is one line with its remedy. */
export async function runDoctor(
  parts: Pick<Composition, 'store' | 'github'>,
  env: Place,
  config: SandboxConfig,
): Promise<SandboxCheck> {
  const check = async (name: string, remedy: string, work: () => Promise<unknown>): Promise<string[]> => {
    try {
      await work();
      return [];
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}. ${remedy}`];
    }
  };
  const [database, github, sandboxes] = await Promise.all([
    check('database', 'Check DATABASE_URL.', () => parts.store.ping()),
    check('GitHub App', 'Check APP_ID, PRIVATE_KEY and GITHUB_API_URL.', () => parts.github.self()),
    checkSandboxes(env, config),
  ]);
  return {
    problems: [...database, ...github, ...sandboxes.problems],
    // What is to be known of the images is for who makes one.
    notes: await checkMachine(config),
  };
}

/**
 * Checks one image, as it would be used here, whether or not the configuration names it: for who makes one. Neither
 * database nor GitHub is needed.
 */
export function runImageDoctor(image: string, env: Place, config: SandboxConfig): Promise<SandboxCheck> {
  return checkSandboxes(env, config, [image]);
}

/** Sandboxes run on this machine, too. One that has no such setting has no such handler. */
async function checkMachine(config: SandboxConfig): Promise<string[]> {
  const note = crashHandlerNote(await readFile(corePatternFile, 'utf8').catch(() => ''), config);
  return note === null ? [] : [note];
}

/** By default of all images that are configured. */
async function checkSandboxes(
  env: Place,
  config: SandboxConfig,
  images?: readonly string[],
): Promise<SandboxCheck> {
  const dataDir = resolve(env.PATCHFLEET_DATA);
  const instance = await readInstance(dataDir);
  return await visit(join(dataDir, visitorsName), async (worker) => {
    const sandboxes = createSandboxes({
      ...{ dockerHost: env.DOCKER_HOST, config, instance, worker },
      dockerTls: { verify: env.DOCKER_TLS_VERIFY, certPath: env.DOCKER_CERT_PATH },
      workspacesDir: join(dataDir, 'workspaces'),
    });
    try {
      return await sandboxes.check(images);
    } finally {
      await sandboxes.close();
    }
  });
}
