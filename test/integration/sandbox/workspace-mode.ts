/** Prints how workspaces are made here, or why they cannot be. */
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { connectEngine } from '../../../src/sandbox/container/docker-host.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createWorkspaces } from '../../../src/sandbox/workspaces/create-workspaces.ts';

const [root = '', instance = '', workspaces = 'auto'] = process.argv.slice(2);
const image = process.env['PATCHFLEET_TEST_IMAGE'];
const made = createWorkspaces({
  config: sandboxConfigSchema.parse({
    memory_mib: 128,
    workspaces,
    ...(image === undefined ? {} : { image }),
  }),
  engine: connectEngine(process.env['DOCKER_HOST']),
  ...{ instance, worker: 'tester', user: sandboxUser(), root },
  log: { warn: () => {} },
});
try {
  process.stdout.write(`${await made.mode(new AbortController().signal)}\n`);
} catch (thrown) {
  if (!(thrown instanceof PatchfleetError)) throw thrown;
  process.stdout.write(`${thrown.code}: ${thrown.detail}\n`);
}
