import { describe, expect, it } from 'vitest';
import { readLabelArgument } from '../../../src/intake/request-batch.ts';

describe('the argument of batch', () => {
  it.each([
    ['label:bug', 'bug'],
    ['LABEL: area/api', 'area/api'],
    ['label:"good first issue"', 'good first issue'],
    ["label:'good first issue'", 'good first issue'],
    ['label:" padded "', 'padded'],
    ['', null],
    ['bug', null],
    ['label:', null],
    ['label:"  "', null],
    ['label:good first issue', null],
    ['label:"open', null],
    ['label:bug and more', null],
    [`label:${'x'.repeat(101)}`, null],
  ])('%j names the label %j', (args, expected) => {
    expect(readLabelArgument(args)).toBe(expected);
  });
});
