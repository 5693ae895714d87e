import { z } from 'zod';

/** The parts of JSON Schema that zod writes and we read. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const known = new WeakMap<z.ZodType, JsonSchema>();

/** The JSON Schema of what people write (defaults not filled in). Made once a schema: a file may have many problems. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const made =
    known.get(schema) ?? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  known.set(schema, made);
  return made;
}

/** What is valid at a path: in words with an example, and the keys where it is a mapping. */
export function describeValid(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  root: unknown,
): { text: string; keys: string[] } {
  let here: JsonSchema | undefined = toJsonSchema(schema);
  let value = root;
  here = pick(here, value);
  for (const part of path) {
    value =
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined;
    here = pick(typeof part === 'number' ? here?.items : here?.properties?.[String(part)], value);
  }
  if (here === undefined) return { text: '', keys: [] };
  return { text: describe(here), keys: Object.keys(here.properties ?? {}) };
}

/** Of several shapes, the one whose constants the value has; else, of a nullable, the one that is not null. */
function pick(schema: JsonSchema | undefined, value: unknown): JsonSchema | undefined {
  const branches = schema?.oneOf ?? schema?.anyOf;
  if (schema === undefined || branches === undefined) return schema;
  const shapes = branches.filter((branch) => branch.type !== 'null');
  if (shapes.length === 1)
    return { ...shapes[0], ...(schema.default === undefined ? {} : { default: schema.default }) };
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return (
    shapes.find((shape) =>
      Object.entries(shape.properties ?? {}).some(
        ([key, field]) => field.const !== undefined && field.const === fields[key],
      ),
    ) ?? mergeShapes(schema, shapes)
  );
}

/** What all shapes together allow: for a discriminator that is missing or wrong. */
function mergeShapes(schema: JsonSchema, shapes: readonly JsonSchema[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const shape of shapes) {
    for (const [key, field] of Object.entries(shape.properties ?? {})) {
      const choices = [...(properties[key]?.enum ?? []), ...(field.const === undefined ? [] : [field.const])];
      properties[key] = choices.length > 0 ? { enum: choices } : field;
    }
  }
  return { ...schema, type: 'object', properties };
}

/** In words, e.g. `a whole number from 1 to 1000, e.g. 8`. */
export function describe(schema: JsonSchema): string {
  if (schema.enum !== undefined)
    return `one of ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}`;
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  const example =
    schema.default === undefined || schema.type === 'object'
      ? ''
      : `, e.g. ${JSON.stringify(schema.default)}`;
  switch (schema.type) {
    case 'boolean':
      return '`true` or `false`';
    case 'integer':
      return `a whole number${range(schema)}${example}`;
    case 'number':
      return `a number${range(schema)}${example}`;
    case 'string':
      return `${schema.format === 'uri' ? 'a URL' : 'text'}${length(schema, 'characters')}${example}`;
    case 'array':
      return `a list${length(schema, 'entries')}${schema.items === undefined ? '' : `, each ${describe(schema.items)}`}${example}`;
    case 'null':
      return '`null`';
    case 'object':
      return `a mapping with the keys ${Object.keys(schema.properties ?? {}).join(', ')}`;
    default:
      return (schema.oneOf ?? schema.anyOf ?? []).map(describe).join(', or ');
  }
}

/** Bounds that zod writes for safe integers say nothing to people. */
function range(schema: JsonSchema): string {
  const least =
    schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER ? schema.minimum : null;
  const most =
    schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER ? schema.maximum : null;
  if (least !== null && most !== null) return ` from ${least} to ${most}`;
  if (least !== null) return `, at least ${least}`;
  return most === null ? '' : `, at most ${most}`;
}

function length(schema: JsonSchema, unit: string): string {
  const least = schema.minLength ?? schema.minItems ?? 0;
  const most = schema.maxLength ?? schema.maxItems;
  if (most !== undefined) return ` of at most ${most} ${unit}`;
  return least > 0 ? ', not empty' : '';
}
