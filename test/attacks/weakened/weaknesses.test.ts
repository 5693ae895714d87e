import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { families } from '../families.ts';
import { weaknesses } from './weaknesses.ts';

const root = new URL('../../../', import.meta.url);
const names = new Set(families.flatMap(({ attacks }) => attacks.map(({ name }) => name)));

it.each(weaknesses.map((weakness) => [weakness.what, weakness] as const))(
  'knows where to weaken the product (%s), and who would notice',
  (_, { file, from, noticed }) => {
    const text = readFileSync(fileURLToPath(new URL(file, root)), 'utf8');
    expect({
      times: text.split(from).length - 1,
      unknown: noticed.filter((name) => !names.has(name)),
    }).toEqual({
      times: 1,
      unknown: [],
    });
  },
);
