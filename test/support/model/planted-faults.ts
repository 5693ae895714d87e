import type { Severity } from '../../../src/domain/finding.ts';

/**
 * The faults that the scripted reviewer knows, by the text of one added line. Whoever plants faults (the demo, the
 * end-to-end tests) takes them from here, so that planted and found can be compared.
 */
export interface PlantedFault {
  readonly rule: string;
  readonly severity: Severity;
  readonly title: string;
  /** Matches a line that has the fault. */
  readonly pattern: RegExp;
  /** A line of TypeScript that has it, without indentation; `name` makes lines differ. */
  readonly plant: (name: string) => string;
  /** The line without the fault, where the fix is one of that line alone. */
  readonly fix?: (line: string) => string;
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    rule: 'no-eval',
    severity: 'error',
    title: 'Input is evaluated as code',
    pattern: /\beval\(/,
    plant: (name) => `export const ${name} = (text: string): unknown => eval(text);`,
  },
  {
    rule: 'always-true',
    severity: 'error',
    title: 'The condition is always true',
    pattern: /\s*\|\| true\b/,
    plant: (name) => `export const ${name} = (value: unknown): boolean => value == null || true;`,
    fix: (line) => line.replace(/\s*\|\| true\b/, ''),
  },
  {
    rule: 'hard-coded-secret',
    severity: 'error',
    title: 'A password is written into the code',
    pattern: /password\s*[:=]\s*["'][^"']+["']/i,
    plant: (name) => `export const ${name}Password = 'hunter2-${name}';`,
  },
  {
    rule: 'sql-injection',
    severity: 'error',
    title: 'SQL is put together from values',
    pattern: /["'`]\s*(?:SELECT|INSERT|UPDATE|DELETE)\b[^"'`]*["'`]\s*\+/i,
    plant: (name) => `export const ${name} = (id: string): string => "SELECT * FROM users WHERE id = " + id;`,
  },
  {
    rule: 'tls-not-verified',
    severity: 'error',
    title: 'The certificate of the other side is not verified',
    pattern: /rejectUnauthorized:\s*false/,
    plant: (name) => `export const ${name} = { rejectUnauthorized: false };`,
    fix: (line) => line.replace(/rejectUnauthorized:\s*false/, 'rejectUnauthorized: true'),
  },
  {
    rule: 'weak-random',
    severity: 'warning',
    title: 'A secret is made from a predictable random number',
    pattern: /token.*Math\.random\(\)/i,
    plant: (name) => `export const ${name}Token = (): string => String(Math.random());`,
    fix: (line) => line.replace(/String\(Math\.random\(\)\)/, 'crypto.randomUUID()'),
  },
  {
    rule: 'swallowed-error',
    severity: 'warning',
    title: 'An error is swallowed',
    pattern: /catch\s*(?:\([^)]*\))?\s*\{\s*\}/,
    plant: (name) => `export function ${name}(work: () => void): void { try { work(); } catch {} }`,
  },
  {
    rule: 'left-over',
    severity: 'note',
    title: 'Something was meant to be removed',
    pattern: /TODO: remove/,
    plant: (name) => `// TODO: remove ${name} before the release`,
  },
];
