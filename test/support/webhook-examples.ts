import { createRequire } from 'node:module';

/** Every example payload that GitHub publishes, by event. */
export const webhookExamples: readonly {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}[] = createRequire(import.meta.url)('@octokit/webhooks-examples');
