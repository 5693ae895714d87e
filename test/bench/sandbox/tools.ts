import { execRun } from './by-engine.ts';
import { toolFigures } from './figures.ts';
import { type Stage, timed } from './stage.ts';

const rounds = 60;
const path = 'src/00/00/00007.js';

/** The read of a small file through the tool server, beside `docker exec` of `cat` in the same container. */
export async function measureTools(stage: Stage) {
  const { snapshot } = await stage.snapshotOf(1000);
  const { signal } = stage;
  const sandboxes = stage.sandboxes({ pool: { ...stage.config.pool, max: 0 } });
  const sandbox = await sandboxes.acquire(stage.request(snapshot), signal);
  const times = { exec: [] as number[], toolCall: [] as number[] };
  try {
    const file = `${sandbox.workspace}/${path}`;
    for (let round = 0; round < rounds; round += 1) {
      signal.throwIfAborted();
      times.exec.push(await execRun(stage, sandbox.containerId, ['cat', '--', file]));
      times.toolCall.push(await timed(() => sandbox.read(path, { signal })));
    }
  } finally {
    await sandbox.close();
  }
  return toolFigures(times);
}
