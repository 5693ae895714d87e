import { z } from 'zod';

/** The environment: secrets and places. Everything else is in the operator file. */

const optional = z.string().min(1).optional();

export const environmentSchema = z
  .object({
    APP_ID: z.string().regex(/^\d+$/, 'the numeric id of the GitHub App').describe('Id of the GitHub App.'),
    PRIVATE_KEY: optional.describe('Private key of the GitHub App, PEM; newlines may be written `\\n`.'),
    PRIVATE_KEY_PATH: optional.describe('File that holds the private key, instead of `PRIVATE_KEY`.'),
    WEBHOOK_SECRET: z
      .string()
      .min(1, 'the secret set in the GitHub App')
      .describe('Secret that signs webhooks.'),
    GITHUB_API_URL: z.url().default('https://api.github.com').describe('REST API base URL.'),
    GITHUB_SERVER_URL: z.url().default('https://github.com').describe('Where repositories are cloned from.'),
    DATABASE_URL: optional.describe('Postgres; without it an embedded one runs under the data directory.'),
    REDIS_URL: optional.describe('Redis for the queue; without it the queue lives in Postgres.'),
    PATCHFLEET_CONFIG: z
      .string()
      .default('patchfleet.yml')
      .describe('Path of the operator file; it may be missing.'),
    PATCHFLEET_DATA: z
      .string()
      .default('data')
      .describe('Data directory: mirrors, snapshots, artifacts, database.'),
    HOST: z.string().default('127.0.0.1').describe('Address the HTTP server listens on.'),
    PORT: z.coerce
      .number()
      .int()
      .min(0)
      .max(65_535)
      .default(3000)
      .describe('Port of the HTTP server; 0: any free one.'),
    OPENAI_BASE_URL: z
      .url()
      .optional()
      .describe(
        'With `OPENAI_API_KEY` and `MODEL`: an OpenAI-compatible API that becomes the channel `default`.',
      ),
    OPENAI_API_KEY: optional.describe('Key of that API; also what a channel uses that names no `key_env`.'),
    MODEL: optional.describe('Model name as that API knows it.'),
    DOCKER_HOST: optional.describe(
      'Docker engine, as `unix://PATH` or `tcp://HOST:PORT`; without it the local socket.',
    ),
    DOCKER_TLS_VERIFY: optional.describe('Set to anything: an engine at `tcp://` is spoken to by TLS.'),
    DOCKER_CERT_PATH: optional.describe(
      'Directory of `ca.pem`, `cert.pem` and `key.pem` for that; without it `~/.docker`.',
    ),
    LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
      .default('info')
      .describe('Least level logged.'),
  })
  .refine((env) => env.PRIVATE_KEY !== undefined || env.PRIVATE_KEY_PATH !== undefined, {
    path: ['PRIVATE_KEY'],
    message: 'set PRIVATE_KEY or PRIVATE_KEY_PATH',
  });
export type Environment = z.infer<typeof environmentSchema>;

const { DATABASE_URL, PATCHFLEET_CONFIG, PATCHFLEET_DATA, ...others } = environmentSchema.shape;
const { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH } = others;
const engine = { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH };
/** Where things are, for whoever needs no GitHub App. */
export const placesSchema = z.object({ DATABASE_URL, PATCHFLEET_CONFIG, PATCHFLEET_DATA, ...engine });
export type Places = z.infer<typeof placesSchema>;
