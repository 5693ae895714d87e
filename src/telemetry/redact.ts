/** Hides secrets in text that leaves the control plane: logs, errors shown to people, prompts. */

const mask = '[redacted]';

/**
 * Shapes that are secret wherever they appear. GitHub tokens: `ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_`
 * (old form 36 characters, new form `ghs_<appid>_<jwt>`, longer) and `github_pat_`; JSON Web Tokens; model
 * keys `sk-`; credentials in URLs; PEM private keys.
 */
const shapes: readonly [RegExp, string][] = [
  [/\bgh[pousr]_[A-Za-z0-9_.-]{20,}/g, mask],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, mask],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g, mask],
  [/\bsk-[A-Za-z0-9_-]{16,}/g, mask],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s:@"]*:[^/\s@"]+@/gi, `$1${mask}@`],
  [/\b(authorization"?\s*[:=]\s*"?(?:basic|bearer|token)\s+)[A-Za-z0-9._~+/=-]+/gi, `$1${mask}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, mask],
];

/** `secrets`: exact values to hide besides; those under 8 characters are ignored, they would hide words. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let result = text;
  for (const secret of secrets) if (secret.length >= 8) result = result.replaceAll(secret, mask);
  for (const [shape, replacement] of shapes) result = result.replace(shape, replacement);
  return result;
}
