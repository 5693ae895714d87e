import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/telemetry/log.ts';
import { redact } from '../../../src/telemetry/redact.ts';

describe('redact', () => {
  it.each([
    ['an old installation token', `ghs_${'a1'.repeat(18)}`],
    ['a new installation token', `ghs_12345_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.${'x'.repeat(80)}`],
    ['a personal token', `github_pat_${'A0_'.repeat(20)}`],
    ['a JSON Web Token', `eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjMifQ.${'s'.repeat(40)}`],
    ['a model key', `sk-proj-${'k'.repeat(40)}`],
    ['a PEM key', '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----'],
    ['a PEM key cut in the middle', '-----BEGIN PRIVATE KEY-----\\nMIIEabc'],
  ])('hides %s', (_name, secret) => {
    expect(redact(`before ${secret} after`)).not.toContain(secret.slice(10, 40));
    expect(redact(`before ${secret}`)).toMatch(/^before \[redacted\]/);
  });

  it('hides the credentials of a URL and keeps the rest', () => {
    expect(redact('https://x-access-token:hunter2@github.com/o/r.git')).toBe(
      'https://[redacted]@github.com/o/r.git',
    );
  });

  it('hides an authorization header in JSON', () => {
    expect(redact('{"authorization":"Basic eDpodW50ZXIy"}')).toBe('{"authorization":"Basic [redacted]"}');
  });

  it('hides exact values and leaves ordinary text alone', () => {
    expect(redact('the webhook-secret-1 leaks', ['webhook-secret-1'])).toBe('the [redacted] leaks');
    expect(redact('task-queue sk-1 ghs_ eyJ', ['short'])).toBe('task-queue sk-1 ghs_ eyJ');
  });
});

describe('the log', () => {
  it('hides secrets wherever they stand in a line', () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      secrets: ['canary-0123'],
      destination: { write: (line) => void lines.push(line) },
    });
    log.warn(
      { err: new Error('refused: canary-0123'), headers: { authorization: `token ghs_${'z'.repeat(36)}` } },
      'x canary-0123',
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('canary');
    expect(lines[0]).not.toContain('zzzz');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, msg: 'x [redacted]' });
  });
});
