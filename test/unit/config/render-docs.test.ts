import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configFiles } from '../../../src/config/json-schemas.ts';
import { renderDocs } from '../../../src/config/render-docs.ts';

const docs = new URL('../../../docs/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8');

describe('docs/configuration.md and its schemas', () => {
  it('are what `npm run docs` writes', () => {
    expect(read('configuration.md')).toBe(renderDocs());
    for (const { name, schema } of configFiles) {
      expect(JSON.parse(read(`schemas/${name}.schema.json`))).toEqual(JSON.parse(JSON.stringify(schema)));
    }
  });

  it('say something of every key', () => {
    expect(renderDocs()).not.toMatch(/\| {2}\|$/m);
  });
});
