import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Environment, environmentSchema, type Places, placesSchema } from './environment.ts';
import { explain, keyOf, type Problem, type Read } from './read-yaml-config.ts';

/** The environment with the private key as PEM text, wherever it came from. */
export type ReadEnvironment = Omit<Environment, 'PRIVATE_KEY' | 'PRIVATE_KEY_PATH'> & {
  readonly PRIVATE_KEY: string;
};

/** Variables whose values are never shown, not even when they are wrong. */
export const secretVariables = [
  'PRIVATE_KEY',
  'WEBHOOK_SECRET',
  'OPENAI_API_KEY',
  'DATABASE_URL',
  'REDIS_URL',
];

type Variables = Readonly<Record<string, string | undefined>>;

/** Those of a schema that are set. An empty variable counts as unset. */
function givenOf(schema: { readonly shape: object }, variables: Variables): Record<string, string> {
  const set = Object.keys(schema.shape).flatMap((key) => (variables[key] ? [[key, variables[key]]] : []));
  return Object.fromEntries(set);
}

/** Reads what says where things are, and nothing else: nothing of it can be wrong, for there are defaults. */
export function readPlaces(variables: Variables): Places {
  return placesSchema.parse(givenOf(placesSchema, variables));
}

/** Reads the environment, every problem at once. */
export function readEnvironment(
  variables: Variables,
  readText: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Read<ReadEnvironment> {
  const given = givenOf(environmentSchema, variables);
  const parsed = environmentSchema.safeParse(given);
  const problems = (parsed.error?.issues ?? []).flatMap((issue) =>
    explain(issue, environmentSchema, given).map((finding) => problem(keyOf(finding.path), finding)),
  );
  const key = readPrivateKey(given, readText);
  if (typeof key !== 'string') problems.push(key);
  if (!parsed.success || typeof key !== 'string' || problems.length > 0) {
    return { ok: false, problems: distinct(problems) };
  }
  const { PRIVATE_KEY_PATH: _path, ...rest } = parsed.data;
  return { ok: true, value: { ...rest, PRIVATE_KEY: key } };
}

function problem(key: string, finding: { message: string; valid: string }): Problem {
  const message = secretVariables.includes(key)
    ? finding.message.replace(/^.* is not valid$/s, 'is not valid')
    : finding.message;
  return { key, line: null, column: null, message, valid: finding.valid };
}

function readPrivateKey(
  given: Readonly<Record<string, string | undefined>>,
  readText: (path: string) => string,
): string | Problem {
  const path = given['PRIVATE_KEY_PATH'];
  const key = given['PRIVATE_KEY'] === undefined && path !== undefined ? 'PRIVATE_KEY_PATH' : 'PRIVATE_KEY';
  const wrong = (message: string): Problem =>
    problem(key, { message, valid: 'the PEM file that GitHub gave, with `\\n` for newlines if on one line' });
  let pem = given['PRIVATE_KEY']?.replaceAll('\\n', '\n');
  if (pem === undefined) {
    if (path === undefined) {
      return problem(key, {
        message: 'is missing',
        valid: 'the private key of the GitHub App, or PRIVATE_KEY_PATH',
      });
    }
    try {
      pem = readText(path);
    } catch (error) {
      return wrong(
        `${JSON.stringify(path)} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      );
    }
  }
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
    return wrong('is not an RSA key');
  } catch {
    return wrong('is not a private key in PEM form');
  }
}

function distinct(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((entry) => [entry.key, entry])).values()];
}
