import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configFiles } from './json-schemas.ts';
import { renderDocs } from './render-docs.ts';
import { renderErrors } from './render-errors.ts';

/** `npm run docs`: writes what is generated from the schemas. */
const docs = join(import.meta.dirname, '../../docs');
await mkdir(join(docs, 'schemas'), { recursive: true });
await writeFile(join(docs, 'configuration.md'), renderDocs());
await writeFile(join(docs, 'errors.md'), renderErrors());
for (const { name, schema } of configFiles) {
  await writeFile(join(docs, 'schemas', `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
