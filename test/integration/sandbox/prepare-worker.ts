/** Another process on the same data directory: asks for the same kind as often as told, and says which layers it got. */
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';
import type { KindRequest } from '../../../src/sandbox/port.ts';
import { kindsBelow } from '../../support/sandbox-kinds.ts';

const [instance = '', home = '', mirrorDir = '', commit = '', setup = '', times = '1'] =
  process.argv.slice(2);
const sandboxes = createSandboxes({
  dockerHost: process.env['DOCKER_HOST'],
  config: sandboxConfigSchema.parse({
    memory_mib: 256,
    scratch_mib: 64,
    image: process.env['PATCHFLEET_TEST_IMAGE'],
  }),
  instance,
  worker: 'another',
  workspacesDir: `${home}/workspaces-of-another`,
});
let setups = 0;
const { kinds } = kindsBelow(home, sandboxes, { onSetup: () => (setups += 1) });
const request: KindRequest = {
  repository: { id: 1, mirrorDir },
  ...{ commit, trusted: commit, taskId: 'another task' },
  use: 'agent',
  config: repositoryConfigSchema.parse({ setup: JSON.parse(setup) }),
};
const asked = Array.from({ length: Number(times) }, () => kinds.of(request, new AbortController().signal));
const layers = (await Promise.all(asked)).map(({ prepared }) => prepared);
await sandboxes.close();
process.stdout.write(JSON.stringify({ setups, layers }));
process.exit(0);
