import { existsSync } from 'node:fs';
import { sandboxConfigSchema } from '../../src/config/sandbox-config.ts';
import { startSecondEngine, whyNoEngine } from '../support/second-engine.ts';
import type { StageOptions } from './stage.ts';

/** Where set-up puts gVisor; see test/setup/tools.mjs. */
const runsc = '/usr/bin/runsc';

/** Why it cannot be tried here; null: it can. */
export function whyNoGvisor(): string | null {
  return whyNoEngine() ?? (existsSync(runsc) ? null : `there is no ${runsc} on this machine: install runsc`);
}

/** An engine of its own that offers gVisor, with the sandbox image, for as long as `use` takes. */
export async function withGvisor<T>(
  say: (text: string) => void,
  use: (stage: StageOptions) => Promise<T>,
): Promise<T> {
  say('starting a Docker engine with gVisor');
  const args = ['--platform=ptrace', '--network=none'];
  const engine = await startSecondEngine({ runtimes: { runsc: { path: runsc, args } } });
  try {
    const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? sandboxConfigSchema.parse({}).image;
    await engine.loadImage(image);
    return await use({ dockerHost: engine.host, runtime: 'runsc', image });
  } finally {
    await engine.end();
  }
}
