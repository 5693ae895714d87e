import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderErrors } from '../../../src/config/render-errors.ts';
import { failureCodes, PatchfleetError, toFailure } from '../../../src/domain/failure.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  it('says what the table says; `npm run docs` writes it', () => {
    expect(page).toBe(renderErrors());
  });

  it('documents every code, and no code that is not in the table', () => {
    const documented = [...page.matchAll(/^### `(\w+)`$/gm)].map((match) => match[1]);
    expect(documented).toEqual([...failureCodes]);
  });
});

describe('a failure', () => {
  it('keeps code and detail of an error raised on purpose, and is internal for any other', () => {
    expect(toFailure(new PatchfleetError('git_failed', 'fetch: exit 128'))).toEqual({
      code: 'git_failed',
      detail: 'fetch: exit 128',
    });
    expect(toFailure(new TypeError('x is undefined'))).toEqual({
      code: 'internal',
      detail: 'x is undefined',
    });
    expect(toFailure('text')).toEqual({ code: 'internal', detail: 'text' });
  });
});
