import { createAgent, createFixer, createTriager } from './agents/create-agent.ts';
import type { OperatorConfig } from './config/operator-config.ts';
import { findAgent } from './config/select-agents.ts';
import { protectionBy } from './domain/protection.ts';
import { createTurnKeeping } from './execution/keep-turns.ts';
import type { WorkspacePorts } from './execution/open-workspace.ts';
import { type Perform, performByKind } from './execution/perform.ts';
import { createReuse } from './execution/reuse-results.ts';
import { createFixWork } from './execution/run-fix.ts';
import { createIntegrationWork } from './execution/run-integration.ts';
import { createReviewWork } from './execution/run-review.ts';
import { createTriageWork } from './execution/run-triage.ts';
import { createMirrorWriter } from './github/mirror-writer.ts';
import type { GitHub } from './github/port.ts';
import type { ModelGateway } from './inference/port.ts';
import { checksOf, createPatchChecker } from './merging/check-patch.ts';
import { createIntegrator } from './merging/integrate.ts';
import { createBaseFinder, createRowIntegrator } from './merging/integrate-rows.ts';
import type { Merging } from './merging/port.ts';
import { createVerifier } from './merging/verify.ts';
import { createSharedWork } from './sandbox/shared-work.ts';
import type { ArtifactStore } from './store/port/artifacts.ts';
import type { Store, Task } from './store/port.ts';
import type { Logger } from './telemetry/log.ts';

/** The part of the composition that does the rows' work: agents, verification and merging. */

export interface WorkParts extends WorkspacePorts {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly github: GitHub;
  readonly gateway: ModelGateway;
  readonly operator: OperatorConfig;
  readonly log: Logger;
}

export function composeWork(parts: WorkParts): Perform {
  const { store, artifacts, github, gateway, operator, log } = parts;
  const { mirrors, kinds, sandboxes } = parts;
  const common = {
    ...{ mirrors, kinds, sandboxes },
    agentOf: (task: Task, name: string) => findAgent(operator.agents, task.config, name),
    keepTurns: createTurnKeeping({ store, log }),
  };
  const merging = composeMerging(parts);
  return performByKind({
    review: createReviewWork({
      ...common,
      limits: operator.limits,
      createAgent: (config, task) =>
        createAgent(config, { gateway, repositoryInstructions: task.config?.review.instructions ?? '' }),
    }),
    fix: createFixWork({
      ...common,
      ...{ store, artifacts, merging },
      reuse: createReuse({ store, artifacts, modelOf: (channel) => modelOf(operator, channel) }),
      createFixer: (config, task) =>
        createFixer(config, {
          gateway,
          repositoryInstructions: task.config?.fix.instructions ?? '',
          protection: protectionBy(task.config?.verify.protected ?? []),
        }),
    }),
    triage: createTriageWork({
      ...common,
      github,
      createTriager: (config) => createTriager(config, { gateway, repositoryInstructions: '' }),
    }),
    integrate: createIntegrationWork({ ...common, store, merging, log }),
  });
}

/** Empty for a channel that is not configured: using it fails by itself. */
function modelOf({ channels }: OperatorConfig, channel: string): string {
  return channels.find(({ name }) => name === channel)?.model ?? '';
}

/** Verification and merging, with reports that are kept. */
function composeMerging({ store, kinds, sandboxes, artifacts }: WorkParts): Merging {
  const verifier = createVerifier({
    ...{ kinds, sandboxes, verifications: store.verifications },
    treeOf: (mirrorDir, commit) => createMirrorWriter(mirrorDir).treeOf(commit),
    once: createSharedWork(),
  });
  const readArtifact = artifacts.get;
  return {
    checksOf,
    baseOf: createBaseFinder(readArtifact),
    checkPatch: createPatchChecker(verifier),
    integrateRows: createRowIntegrator({ integrator: createIntegrator({ verifier }), readArtifact }),
  };
}
