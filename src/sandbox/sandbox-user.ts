import type { SandboxUser } from './container/container-spec.ts';

/**
 * Who owns workspaces and snapshots on the host and runs everything in containers: 10001 for a worker that is root,
 * else the worker's own user.
 */
export function sandboxUser(): SandboxUser {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: 10_001, gid: 10_001 } : { uid, gid: process.getgid?.() ?? uid };
}
