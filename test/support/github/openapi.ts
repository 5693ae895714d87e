import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { Json } from './router.ts';

/**
 * GitHub's own description of its API, as schemas. The file with references is read (13 MB, 0.15 s) rather than
 * the dereferenced one (73 MB): the contents are the same. Validators are compiled when first needed.
 */
export interface Description {
  /** What is wrong with a request by the description; null when it is fine. */
  checkRequest(route: string, input: { params: Json; query: Json; body: Json }): string | null;
  /** What is wrong with our own answer. */
  checkResponse(route: string, status: number, body: unknown): string | null;
  /** What is wrong with a webhook payload; `event` as in `pull_request.opened`. */
  checkWebhook(event: string, payload: unknown): string | null;
}

type Validator = ValidateFunction | null;
// The module is CommonJS; its function is the default of its default.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

let loaded: Json | undefined;

function document(): Json {
  loaded ??= JSON.parse(
    readFileSync(
      createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json'),
      'utf8',
    ),
  ) as Json;
  return loaded;
}

export function openDescription(): Description {
  const ajv = new Ajv({ strict: false, logger: false, validateSchema: false });
  addFormats(ajv);
  const compiled = new Map<string, Validator>();
  const added = new Set<string>();

  /** Adds a named schema and all it refers to, once: the whole description would take half a second. */
  const need = (name: string): void => {
    if (added.has(name)) return;
    added.add(name);
    const schemas = (document()['components'] as Json)['schemas'] as Json;
    ajv.addSchema(adapt(schemas[name], need) as Json, name);
  };
  const compile = (key: string, schema: () => Json | null): Validator => {
    let validator = compiled.get(key);
    if (validator !== undefined) return validator;
    const found = schema();
    validator = found ? ajv.compile(adapt(found, need) as Json) : null;
    compiled.set(key, validator);
    return validator;
  };

  const complain = (validator: Validator, value: unknown): string | null => {
    if (!validator || validator(value)) return null;
    return (validator.errors ?? []).map((e) => `${e.instancePath || 'it'} ${e.message ?? ''}`).join('; ');
  };

  return {
    checkRequest(route, { params, query, body }) {
      const operation = operationOf(route);
      const known = parametersOf(operation);
      for (const [place, values] of Object.entries({ path: params, query })) {
        for (const [name, value] of Object.entries(values)) {
          const parameter = known.find((p) => p['in'] === place && p['name'] === name);
          if (!parameter) return `unknown ${place} parameter ${name}`;
          const schema = parameter['schema'] as Json;
          const validator = compile(`${route} ${place} ${name}`, () => schema);
          const typed = ['integer', 'number'].includes(String(schema['type'])) ? Number(value) : value;
          const problem = complain(validator, typed);
          if (problem) return `${place} parameter ${name}: ${problem}`;
        }
      }
      const schema = jsonSchemaOf(operation['requestBody']);
      if (!schema) return Object.keys(body).length > 0 ? 'a body where none belongs' : null;
      const properties = (schema['properties'] ?? {}) as Json;
      const unknown = Object.keys(body).find((key) => schema['properties'] && !(key in properties));
      if (unknown !== undefined) return `unknown body parameter ${unknown}`;
      return complain(
        compile(`${route} body`, () => schema),
        body,
      );
    },
    checkResponse(route, status, body) {
      const responses = operationOf(route)['responses'] as Json;
      const response = follow(responses[String(status)]);
      if (!response) {
        if (status < 400) return `status ${status} is not described`;
        return typeof (body as Json | null)?.['message'] === 'string' ? null : 'an error without a message';
      }
      return complain(
        compile(`${route} ${status}`, () => {
          const schema = jsonSchemaOf(response);
          // The kinds of error overlap: one answer may be of several.
          return status >= 400 && schema?.['oneOf'] ? { anyOf: schema['oneOf'] } : schema;
        }),
        body,
      );
    },
    checkWebhook(event, payload) {
      const name = event.replaceAll('_', '-').replace('.', '-');
      const hook = (document()['x-webhooks'] as Json)[name] as Json | undefined;
      if (!hook) return `GitHub describes no webhook ${event}`;
      const operation = hook['post'] as Json;
      return complain(
        compile(`webhook ${name}`, () => jsonSchemaOf(operation['requestBody'])),
        payload,
      );
    },
  };
}

/** `GET /app` to its operation. */
function operationOf(route: string): Json {
  const [method = '', path = ''] = route.split(' ');
  const item = (document()['paths'] as Json)[path] as Json | undefined;
  const operation = item?.[method.toLowerCase()] as Json | undefined;
  if (!operation) throw new Error(`GitHub describes no ${route}`);
  return operation;
}

function parametersOf(operation: Json): Json[] {
  return ((operation['parameters'] ?? []) as unknown[]).map((p) => follow(p) ?? {});
}

function jsonSchemaOf(part: unknown): Json | null {
  const content = follow(part)?.['content'] as Json | undefined;
  const json = content?.['application/json'] as Json | undefined;
  return (json?.['schema'] as Json | undefined) ?? null;
}

/** Follows a local reference, once or more. */
function follow(value: unknown): Json | undefined {
  let current = value as Json | undefined;
  while (current && typeof current['$ref'] === 'string') {
    let target: unknown = document();
    for (const key of current['$ref'].slice(2).split('/')) target = (target as Json)[key];
    current = target as Json | undefined;
  }
  return current;
}

/** OpenAPI 3.0 to JSON Schema: references by name, `nullable` as a choice; examples left out. */
function adapt(value: unknown, need: (name: string) => void): unknown {
  if (Array.isArray(value)) return value.map((part) => adapt(part, need));
  if (value === null || typeof value !== 'object') return value;
  const source = value as Json;
  if (typeof source['$ref'] === 'string') {
    const name = source['$ref'].replace('#/components/schemas/', '');
    need(name);
    return { $ref: name };
  }
  const result: Json = {};
  for (const [key, part] of Object.entries(source)) {
    if (key === 'nullable' && part === true) continue;
    if ((key === 'description' || key === 'example') && typeof part !== 'object') continue;
    if (key === 'examples' || key === 'x-github-breaking-changes') continue;
    result[key] = key === 'enum' || key === 'default' || key === 'example' ? part : adapt(part, need);
  }
  return source['nullable'] === true ? { anyOf: [{ type: 'null' }, result] } : result;
}
