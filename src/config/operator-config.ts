import { z } from 'zod';
import { agentSchema } from './agent-config.ts';
import { sandboxConfigSchema } from './sandbox-config.ts';

/** `patchfleet.yml` of the operator. Holds no secret: keys are named by environment variable. */

export const channelSchema = z
  .strictObject({
    name: z.string().min(1).describe('Name that agents refer to.'),
    base_url: z.url().describe('Base URL of an OpenAI-compatible API, e.g. `https://api.openai.com/v1`.'),
    key_env: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/)
      .default('OPENAI_API_KEY')
      .describe('Environment variable that holds the key.'),
    model: z.string().min(1).describe('Model name as the API knows it.'),
    max_output_tokens: z.int().min(256).default(8192).describe('Tokens one answer may have.'),
    context_tokens: z.int().min(4096).default(128_000).describe('Context window of the model.'),
    tokens_per_minute: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'Quota of the model, prompt and completion tokens a minute. A task runs no more agents at once than it feeds, by what agents used lately. null: no bound.',
      ),
    concurrent: z.int().min(1).default(32).describe('Calls in flight at once, per process.'),
    price: z
      .strictObject({
        input: z.number().min(0).default(0).describe('US dollars for a million prompt tokens.'),
        cached: z.number().min(0).default(0).describe('US dollars for a million cached prompt tokens.'),
        output: z.number().min(0).default(0).describe('US dollars for a million completion tokens.'),
      })
      .prefault({}),
  })
  .describe('One way to reach a model.');
export type ChannelConfig = z.infer<typeof channelSchema>;

export const limitsSchema = z.strictObject({
  parallel: z
    .int()
    .min(1)
    .max(1000)
    .default(8)
    .describe('Attempts one worker runs at once; one with n times the memory counts as n.'),
  task_parallel: z.int().min(1).max(1000).default(16).describe('Attempts one task may have running at once.'),
  installation_parallel: z
    .int()
    .min(1)
    .default(200)
    .describe('Attempts one installation may have running at once, over all workers.'),
  fleet_parallel: z.int().min(1).default(400).describe('Attempts that may run at once over all workers.'),
  lane_seconds: z
    .int()
    .min(1)
    .default(300)
    .describe('An attempt that has waited this long is taken as if it were in the next better lane.'),
  attempt_seconds: z.int().min(1).default(900).describe('Wall-clock limit of an attempt.'),
  idle_seconds: z
    .int()
    .min(1)
    .default(60)
    .describe('An attempt without any sign of life for this long is ended.'),
  model_call_seconds: z.int().min(1).default(120).describe('Wall-clock limit of one model call.'),
  agent_turns: z.int().min(1).default(30).describe('Model turns of one attempt.'),
  attempt_tokens: z.int().min(1000).default(200_000).describe('Tokens one attempt may spend.'),
  task_tokens: z.int().min(1000).default(2_000_000).describe('Tokens one task may spend.'),
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe('Further attempts after a transient failure of a subtask.'),
  task_retries: z
    .int()
    .min(0)
    .default(40)
    .describe('Further attempts after transient failures, over all subtasks of a task.'),
  task_seconds: z
    .int()
    .min(60)
    .default(14_400)
    .describe('A task that is not done after this long ends with what it has.'),
  split_depth: z
    .int()
    .min(0)
    .max(5)
    .default(3)
    .describe('How often a subtask that is too big is cut into smaller ones.'),
  verification_reruns: z
    .int()
    .min(0)
    .max(5)
    .default(1)
    .describe('Times a subtask whose patch fails the checks runs again, with their output.'),
  conflict_reruns: z
    .int()
    .min(0)
    .max(5)
    .default(2)
    .describe('Times a subtask whose patch conflicts runs again on the new base.'),
  deaths: z.int().min(1).max(10).default(3).describe('Workers a subtask may lose before it is given up.'),
  shard_complexity: z.int().min(1).default(400).describe('Complexity score a shard is filled up to.'),
  shard_files: z.int().min(1).default(20).describe('Changed files a shard may hold.'),
  task_shards: z.int().min(1).default(64).describe('Shards a task may have; beyond it shards grow.'),
  diff_mib: z.int().min(1).default(32).describe('Size of a diff that is still reviewed, MiB.'),
  file_kib: z.int().min(1).default(512).describe('A changed file larger than this is named as skipped, KiB.'),
});
export type Limits = z.infer<typeof limitsSchema>;

export const timingSchema = z.strictObject({
  heartbeat_ms: z.int().min(100).default(3000).describe("Interval of a running attempt's sign of life."),
  lease_ms: z
    .int()
    .min(500)
    .default(15_000)
    .describe('An attempt without a sign of life for this long is lost.'),
  reconcile_ms: z.int().min(100).default(5000).describe('Interval at which rows are held against the queue.'),
  check_update_ms: z
    .int()
    .min(0)
    .default(5000)
    .describe('Least time between two updates of a running check run.'),
});
export type Timing = z.infer<typeof timingSchema>;

export const operatorConfigSchema = z
  .strictObject({
    agents: z.array(agentSchema).max(20).default([]).describe('Agents offered to every repository.'),
    channels: z.array(channelSchema).default([]).describe('Ways to reach a model.'),
    limits: limitsSchema.prefault({}),
    sandbox: sandboxConfigSchema.prefault({}),
    queue_shards: z
      .int()
      .min(1)
      .max(256)
      .default(4)
      .describe('Partitions of the work queue; the same on all replicas.'),
    timing: timingSchema.prefault({}),
  })
  .describe('The operator file.');
export type OperatorConfig = z.infer<typeof operatorConfigSchema>;
