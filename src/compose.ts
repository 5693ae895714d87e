import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { createPlannerAgent } from './agents/create-agent.ts';
import { composeWork } from './compose-work.ts';
import type { OperatorConfig } from './config/operator-config.ts';
import { type ReadEnvironment, secretVariables } from './config/read-environment.ts';
import { protectionBy } from './domain/protection.ts';
import { createDispatch } from './execution/dispatch.ts';
import { kindRequestOf, openMirror } from './execution/open-workspace.ts';
import type { Perform } from './execution/perform.ts';
import { createAttemptRunner } from './execution/run-attempt.ts';
import { createStartAhead } from './execution/start-ahead.ts';
import { createGitHubApp } from './github/app.ts';
import { createMirrors } from './github/mirror.ts';
import { createModelGateway } from './inference/gateway.ts';
import { createAdmission } from './intake/admit.ts';
import { joinAdmissions } from './intake/join-admissions.ts';
import { createLightLane } from './intake/light-lane.ts';
import { createReceiver } from './intake/receive.ts';
import { checksOf } from './merging/check-patch.ts';
import { createChangePlanner } from './planning/plan-change.ts';
import { createPlanJob } from './planning/plan-job.ts';
import { createPlanner } from './planning/plan-task.ts';
import { createPlanBounds } from './publishing/plan-bounds.ts';
import { createPublishJob } from './publishing/publish-job.ts';
import { createPublisher } from './publishing/publisher.ts';
import { createRoomMaker } from './sandbox/bases/make-room.ts';
import { createPreparedLayers } from './sandbox/bases/prepared-layers.ts';
import { createSandboxKinds } from './sandbox/bases/sandbox-kinds.ts';
import { createSnapshots } from './sandbox/bases/snapshots.ts';
import { createEngineWatch } from './sandbox/container/engine-watch.ts';
import { createSandboxes } from './sandbox/docker-sandboxes.ts';
import type { Sandboxes, Snapshots } from './sandbox/port.ts';
import { createAdvance } from './scheduling/advance.ts';
import { createQueue } from './scheduling/queue.ts';
import { createQuotaBound } from './scheduling/quota-bound.ts';
import { createReconciler, createSandboxReaper } from './scheduling/reconciler.ts';
import { createArtifactDirectory } from './store/artifact-directory.ts';
import { openDatabase } from './store/database.ts';
import { readInstance } from './store/instance.ts';
import { createStore } from './store/store.ts';
import { createLog } from './telemetry/log.ts';

/** Configuration -> adapters. The only place that constructs them. */

export type Composition = Awaited<ReturnType<typeof compose>>;

/** What stands in for the real adapters in a benchmark of everything else; no operator can ask for it. */
export interface StandIns {
  readonly sandboxes?: Sandboxes;
  readonly snapshots?: Snapshots;
  /** The work of every attempt. */
  readonly perform?: Perform;
}

export async function compose(
  env: ReadEnvironment,
  operator: OperatorConfig,
  variables: NodeJS.ProcessEnv,
  standIns: StandIns = {},
) {
  const { limits, timing } = operator;
  const dataDir = resolve(env.PATCHFLEET_DATA);
  const keyVariables = operator.channels.map((channel) => channel.key_env);
  const secrets = [...secretVariables, ...keyVariables].flatMap((name) => variables[name] ?? []);
  const log = createLog({ level: env.LOG_LEVEL, secrets: [...secrets, env.PRIVATE_KEY] });
  const onError = (error: Error) => log.warn({ err: error }, 'database connection');

  const instance = await readInstance(dataDir);
  const worker = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  // Closes what was opened, last first, where anything below fails: an embedded Postgres would stay behind.
  await using opened = new AsyncDisposableStack();
  const database = await openDatabase({ url: env.DATABASE_URL, dataDir, onError });
  const store = createStore(database, {
    taskTokens: limits.task_tokens,
    claims: {
      installationParallel: limits.installation_parallel,
      fleetParallel: limits.fleet_parallel,
      laneMs: limits.lane_seconds * 1000,
      leaseMs: timing.lease_ms,
    },
    onError,
  });
  opened.defer(store.close);
  const queue = await createQueue({
    backend:
      env.REDIS_URL === undefined
        ? { kind: 'postgres', newPool: (searchPath) => database.newPool({ searchPath, max: 12 }) }
        : { kind: 'redis', url: env.REDIS_URL },
    queueShards: operator.queue_shards,
    leaseMs: timing.lease_ms,
    log,
  });
  opened.defer(queue.close);

  const app = createGitHubApp({
    appId: env.APP_ID,
    privateKey: env.PRIVATE_KEY,
    webhookSecret: env.WEBHOOK_SECRET,
    apiUrl: env.GITHUB_API_URL,
    log,
  });
  const { github } = app;
  const mirrors = createMirrors({
    dir: join(dataDir, 'mirrors'),
    serverUrl: env.GITHUB_SERVER_URL,
    readToken: github.readToken,
  });
  const dockerTls = { verify: env.DOCKER_TLS_VERIFY, certPath: env.DOCKER_CERT_PATH };
  const sandboxes =
    standIns.sandboxes ??
    createSandboxes({
      dockerHost: env.DOCKER_HOST,
      dockerTls,
      config: operator.sandbox,
      instance,
      worker,
      workspacesDir: join(dataDir, 'workspaces'),
      egress: { audit: store.audit.record },
      log,
    });
  const canRun =
    standIns.sandboxes === undefined ? createEngineWatch(env.DOCKER_HOST, log, dockerTls) : async () => true;
  const gateway = createModelGateway({
    channels: operator.channels,
    keys: (name) => variables[name],
    ledger: store.ledger,
    limits,
    log,
  });
  const quotaBound = createQuotaBound({ store, channels: operator.channels, agents: operator.agents });
  const planBounds = createPlanBounds(operator, quotaBound.ofAgents);
  const publisher = createPublisher({ store, github, mirrors, queue, timing, planBounds, log });
  const planner = createPlanner({ mirrors });
  const changePlanner = createChangePlanner({
    mirrors,
    plannerAgentFor: (config) => (config.kind === 'model' ? createPlannerAgent(config, { gateway }) : null),
    protectionBy: (config) => protectionBy(config.verify.protected),
    checksOf,
    log,
  });
  const artifacts = createArtifactDirectory(join(dataDir, 'artifacts'));
  const snapshotsDir = join(dataDir, 'snapshots');
  const preparedDir = join(dataDir, 'prepared');
  const makeRoom = createRoomMaker({
    dirs: [snapshotsDir, preparedDir],
    bytes: operator.sandbox.disk_mib * 1024 * 1024,
    workspacesDir: join(dataDir, 'workspaces'),
    log,
  });
  const snapshots = standIns.snapshots ?? createSnapshots({ dir: snapshotsDir, makeRoom, log });
  const prepared = createPreparedLayers({
    dir: preparedDir,
    ...{ config: operator.sandbox, sandboxes, snapshots, failures: store.failedSetups, log },
    makeRoom,
  });
  const kinds = createSandboxKinds({ config: operator.sandbox, sandboxes, snapshots, prepared });
  const { memory_mib: baseMib, memory_ceiling_mib: ceilingMib } = operator.sandbox;
  const common = { store, queue, limits, memory: { baseMib, ceilingMib }, log };
  const admission = createAdmission({ store, queue, github, publisher, operatorConfig: operator, log });
  const admit = joinAdmissions(admission.admit);
  const lightLane = createLightLane({ store, queue, publisher, admit, log });
  const workspacePorts = { mirrors, kinds, sandboxes };
  const startAhead = createStartAhead({
    ...{ sandboxes, store, worker, log },
    kindOf: async (task, signal) => {
      const { dir: mirrorDir } = await openMirror(workspacePorts, task, signal);
      return await kinds.of(kindRequestOf(task, { mirrorDir, commit: task.headSha }, 'agent'), signal);
    },
    capacity: limits.parallel,
    room: () => dispatch.room(),
    renewMs: Math.min(operator.sandbox.pool.idle_seconds * 500, 60_000),
  });
  // First of all: nothing is started any more while the rest goes.
  opened.defer(async () => {
    await startAhead.stop();
    await sandboxes.close();
    await dispatch.signOff();
  });
  const dispatch = createDispatch({
    ...{ store, canRun, worker, log },
    capacity: limits.parallel,
    changed: startAhead.changed,
    run: createAttemptRunner({
      ...{ store, canRun, queue, artifacts, timing, log },
      perform:
        standIns.perform ??
        composeWork({ ...workspacePorts, store, artifacts, github, gateway, operator, log }),
    }),
  });
  const parts = opened.move();

  return {
    log,
    store,
    queue,
    github,
    sandboxes,
    receive: createReceiver({ store, queue, lightLane, verify: app.verify, log }),
    lightLane,
    admit,
    plan: createPlanJob({ ...common, planner, changePlanner, startAhead, agents: operator.agents }),
    advance: createAdvance({ ...common, quotaBound: quotaBound.ofTasks }),
    publish: createPublishJob({ store, publisher, queue, log }),
    dispatch,
    reconcile: createReconciler({ ...common, timing }),
    reapSandboxes: createSandboxReaper({ sandboxes, store, leaseMs: timing.lease_ms, log }),
    /** Removes snapshots and prepared dependencies beyond what they may take. */
    makeRoom,
    close: () => parts.disposeAsync(),
  };
}
