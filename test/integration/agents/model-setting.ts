import { modelAgentSchema } from '../../../src/config/agent-config.ts';
import { channelSchema } from '../../../src/config/operator-config.ts';
import { createModelGateway } from '../../../src/inference/gateway.ts';
import type { ModelGateway } from '../../../src/inference/port.ts';
import type { ModelDouble } from '../../support/model/create-model-double.ts';
import { createMemoryLedger } from '../../support/model/memory-ledger.ts';

export const key = 'sk-canary-0123456789abcdef';
export const coder = modelAgentSchema.parse({ name: 'coder', kind: 'model' });

/** The real gateway before the double. `callSeconds`: for calls that are to run out of time, which no other may. */
export function gatewayTo(double: ModelDouble, callSeconds = 100): ModelGateway {
  return createModelGateway({
    channels: [channelSchema.parse({ name: 'default', base_url: double.baseUrl, model: double.model })],
    keys: () => key,
    ledger: createMemoryLedger(),
    limits: { model_call_seconds: callSeconds, idle_seconds: 60 },
    log: { warn: () => {} },
    random: () => 0,
  });
}
