import { z } from 'zod';
import type { ToolDefinition } from '../inference/port.ts';

/** The tools an agent offers: their schemas make the definitions and hold the calls. */

type Schemas = Readonly<Record<string, z.ZodObject>>;

/** A call by its schema. */
export type ValidCall<S extends Schemas> = {
  readonly [Name in keyof S & string]: { readonly name: Name; readonly arguments: z.infer<S[Name]> };
}[keyof S & string];

/** What is wrong with a call, in words for the model. */
export interface FaultyCall {
  readonly name: null;
  readonly fault: string;
}

export interface ToolSet<S extends Schemas> {
  readonly definitions: readonly ToolDefinition[];
  /** A tool call as it may be run, or what is wrong with it. */
  parse(call: { name: string; arguments: string }): ValidCall<S> | FaultyCall;
}

export function createToolSet<const S extends Schemas>(
  schemas: S,
  descriptions: Readonly<Record<keyof S & string, string>>,
): ToolSet<S> {
  const names = Object.keys(schemas) as (keyof S & string)[];
  const definitions = names.map((name) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schemas[name] as z.ZodObject, { io: 'input' });
    return { name, description: descriptions[name], parameters };
  });
  return {
    definitions,
    parse(call) {
      const schema = Object.hasOwn(schemas, call.name) ? schemas[call.name] : undefined;
      if (schema === undefined) {
        const called = JSON.stringify(call.name.slice(0, 100));
        return { name: null, fault: `there is no tool ${called}; there are: ${names.join(', ')}` };
      }
      let value: unknown;
      try {
        value = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
      } catch {
        const shown = call.arguments.slice(0, 200);
        return { name: null, fault: `the arguments of ${call.name} are not valid JSON: ${shown}` };
      }
      const parsed = schema.safeParse(value);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
        );
        return { name: null, fault: `the arguments of ${call.name} are not valid: ${problems.join('; ')}` };
      }
      return { name: call.name, arguments: parsed.data } as ValidCall<S>;
    },
  };
}
