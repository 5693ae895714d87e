import { createSign } from 'node:crypto';

/** A JWT as an app signs it; `claims` overrides what is usual (times in seconds). */
export function signAppJwt(
  app: { id: number; privateKey: string },
  claims: Record<string, unknown> = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = { iss: app.id, iat: now - 30, exp: now + 570, ...claims };
  const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(payload)}`;
  return `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(app.privateKey).toString('base64url')}`;
}
