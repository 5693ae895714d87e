import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryConfigSchema } from '../../../../src/config/repository-config.ts';
import type { Sandbox, SandboxKind } from '../../../../src/sandbox/port.ts';
import { never } from '../../../integration/patches/patch-setting.ts';
import { kindsBelow } from '../../../support/sandbox-kinds.ts';
import { type Attack, contained, escaped } from '../../attack.ts';
import { fingerprint } from '../../host.ts';
import { runScript, type Script } from '../../probes.ts';
import type { Stage } from '../../stage.ts';

const repository = 7;

/** Of a setup that somebody hostile wrote: dependencies, and whatever the host or a later attempt might fall for. */
const setup = `
mkdir -p node_modules/dep src/inner lib; echo dependency > node_modules/dep/index.js
cp /usr/bin/id node_modules/dep/root; chmod 6777 node_modules/dep/root; chmod 777 node_modules/dep
ln -s "$(dirname "$0")" node_modules/host; ln -s "$0" node_modules/secret; mkfifo node_modules/pipe
rm -r lib/swapped; ln -s "$(dirname "$0")" lib/swapped; ln -sf "$0" src/a.ts
echo weaker > test/a.test.ts; rm package-lock.json; chmod 777 src
rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
mkdir -p nested/.git; printf '[core]\\nfsmonitor = touch %s/setup\\n' "$1" > nested/.git/config`;

interface Prepared {
  readonly kind: SandboxKind & { readonly prepared: string };
  readonly before: string;
}
const layers = new WeakMap<Stage, Promise<Prepared>>();

/** The layer that comes of that setup, made once for each stage. */
async function prepare(stage: Stage): Promise<Prepared> {
  const { home, mirror } = stage.setting;
  const commands = [['sh', '-ec', setup, stage.canary.file, stage.canary.fired]];
  const { kinds } = kindsBelow(home, stage.sandboxes);
  const kind = await kinds.of(
    {
      ...{
        repository: { id: repository, mirrorDir: mirror.dir },
        commit: stage.commit,
        trusted: stage.commit,
      },
      ...{ taskId: 'task', use: 'agent', config: repositoryConfigSchema.parse({ setup: { commands } }) },
    },
    never,
  );
  const { prepared } = kind;
  if (prepared === null || prepared === undefined) throw new Error('nothing was prepared');
  return { kind: { ...kind, prepared }, before: fingerprint(prepared) };
}

async function layerOf(stage: Stage): Promise<Prepared> {
  const known = layers.get(stage) ?? prepare(stage);
  layers.set(stage, known);
  return await known;
}

/** What an attempt over the layer says. */
async function said(stage: Stage, kind: SandboxKind, script: Script): Promise<string> {
  const request = { ...kind, taskId: 'task', attemptId: randomUUID(), wallMs: 300_000 };
  const sandbox: Sandbox = await stage.sandboxes.acquire(request, never);
  try {
    const outcome = await runScript(sandbox, script, {
      env: { CANARY_FILE: stage.canary.file, CANARY_FIRED: stage.canary.fired },
    });
    if ('died' in outcome) throw new Error(`the sandbox ended: ${outcome.died}`);
    if (outcome.ran.exitCode !== 0) throw new Error(outcome.ran.stderr.slice(0, 300));
    return outcome.ran.stdout;
  } finally {
    await sandbox.close();
  }
}

/** All that an attempt sees of what it was given. */
const look: Script = {
  sh: `cat node_modules/dep/index.js src/a.ts lib/swapped/d.ts test/a.test.ts package-lock.json; cat node_modules/secret 2>&1 | grep -v 'No such file' || true; cat .git/hooks/pre-commit 2>/dev/null || true`,
};
const honest = 'dependency\nexport const a = 1;\nexport const d = 5;\nok\n{}\n';

/** Modes of all below a directory that give rights to whoever runs or finds it there. */
function looseModes(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    const stat = lstatSync(path);
    const loose = stat.isSymbolicLink() || (stat.mode & 0o6022) === 0 ? [] : [name];
    return stat.isDirectory() ? [...loose, ...looseModes(path)] : loose;
  });
}

/** Dependencies that are made once and that many attempts have. */
export const preparedLayers: readonly Attack[] = [
  {
    name: 'setup that plants',
    tries: 'to have every attempt, and the host, take what a setup left in the place of dependencies',
    async run(stage) {
      const { kind } = await layerOf(stage);
      const loose = looseModes(kind.prepared);
      if (loose.length > 0) return escaped(`modes are left in the layer: ${loose.join(', ')}`);
      const seen = await said(stage, kind, look);
      if (seen !== honest) return escaped(`an attempt sees ${JSON.stringify(seen.slice(0, 200))}`);
      return contained('dependencies alone are in the layer, and files of the repository are the commit’s');
    },
  },
  {
    name: 'poisoned layer',
    tries: 'to change dependencies that later attempts will have',
    async run(stage) {
      const { kind, before } = await layerOf(stage);
      const poison: Script = {
        sh: `set -e
echo poison >> node_modules/dep/index.js; ln node_modules/dep/index.js second; echo poison > second
chmod 777 node_modules/dep; mv node_modules/dep node_modules/moved; mkdir node_modules/dep; echo poison > node_modules/dep/index.js
rm -r lib/swapped src/a.ts; echo poison > lib/new; cat node_modules/dep/index.js`,
      };
      if ((await said(stage, kind, poison)) !== 'poison\n') throw new Error('it could change nothing at all');
      if (fingerprint(kind.prepared) !== before) return escaped('the layer was changed');
      const seen = await said(stage, kind, look);
      if (seen !== honest) return escaped(`the next sees ${JSON.stringify(seen.slice(0, 200))}`);
      return contained('the next attempt has what the setup made');
    },
  },
];
