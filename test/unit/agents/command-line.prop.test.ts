import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLines } from '../../../src/agents/command-line.ts';

describe('commandLines', () => {
  it('gives every file once, in order, in lines within the limit, and none as an option', () => {
    const paths = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 60 });
    fc.assert(
      fc.property(paths, fc.integer({ min: 1, max: 400 }), (files, limit) => {
        const lines = commandLines(['lint', '--', '{files}', '-q'], files, limit);
        const given = lines.flatMap((line) => line.slice(2, -1));
        expect(given.map((path) => (path.startsWith('./-') ? path.slice(2) : path))).toEqual(
          files.map((path) => (path.startsWith('./-') ? path.slice(2) : path)),
        );
        for (const line of lines) {
          const [program, dashes, ...rest] = line;
          expect([program, dashes, rest.pop()]).toEqual(['lint', '--', '-q']);
          expect(rest.every((path) => !path.startsWith('-'))).toBe(true);
          const bytes = rest.reduce((sum, path) => sum + Buffer.byteLength(path) + 9, 0);
          expect(rest.length === 1 || bytes <= limit).toBe(true);
        }
      }),
    );
  });

  it('runs a command without {files} once', () => {
    expect(commandLines(['make', 'lint'], ['a', 'b'])).toEqual([['make', 'lint']]);
  });
});
