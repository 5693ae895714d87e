import { createHash } from 'node:crypto';

export function entityTag(body) {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/** Whether an `If-None-Match` header names the tag. */
export function matchesTag(header, tag) {
  if (header === undefined) return false;
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === tag);
}
