import { describe, type JsonSchema } from './describe-valid.ts';
import { configFiles } from './json-schemas.ts';

interface Row {
  readonly key: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
}

/** `docs/configuration.md`: one table for each file, made from the schemas alone. */
export function renderDocs(): string {
  const sections = configFiles.map(({ name, title, intro, schema }) => {
    const rows = rowsOf(schema, '').map(
      (row) => `| \`${row.key}\` | ${row.type} | ${row.fallback} | ${row.meaning} |`,
    );
    const table = ['| Key | Valid | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
    return `## ${title}\n\n${intro} JSON Schema: [schemas/${name}.schema.json](schemas/${name}.schema.json)\n\n${table}\n`;
  });
  const head = '# Configuration\n\nGenerated from the schemas by `npm run docs`; do not edit.\n';
  return `${[head, ...sections].join('\n')}`;
}

/** Leaves of the schema in their order; `[]` stands for each entry of a list. */
function rowsOf(schema: JsonSchema, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (field.properties !== undefined) return rowsOf(field, key);
    const shapes = field.items?.oneOf ?? (field.items?.properties === undefined ? [] : [field.items]);
    const nested = shapes.flatMap((shape) => {
      const kind = shape.properties?.['kind']?.const;
      return rowsOf(shape, `${key}[]${shapes.length > 1 && kind !== undefined ? ` (${String(kind)})` : ''}`);
    });
    const required = schema.required?.includes(name) === true;
    return [row(key, field, required, shapes.length > 0), ...nested];
  });
}

function row(key: string, field: JsonSchema, required: boolean, isListOfMappings: boolean): Row {
  const type = isListOfMappings ? 'a list of mappings' : describe({ ...field, default: undefined });
  const fallback =
    field.default === undefined ? (required ? 'required' : '') : code(JSON.stringify(field.default));
  return { key, type: cell(type), fallback: cell(fallback), meaning: cell(field.description ?? '') };
}

function code(text: string): string {
  return text.includes('`') ? text : `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
