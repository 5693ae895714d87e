import type { SandboxConfig } from '../../config/sandbox-config.ts';
import type { SandboxKind } from '../port.ts';

/** Equal for kinds that one sandbox does for, whether or not they say what is the operator's default. */
export function kindKey(
  config: Pick<SandboxConfig, 'image' | 'memory_mib'>,
  { snapshot, prepared, image, memoryMib, network }: SandboxKind,
): string {
  const rules = (network ?? []).map((rule) => [rule.host, rule.port, rule.private]);
  return JSON.stringify([
    snapshot,
    prepared ?? null,
    image ?? config.image,
    memoryMib ?? config.memory_mib,
    rules.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  ]);
}
