import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** Real repositories made in one git command, so that property tests stay fast. */

export interface TreeFile {
  /** Bytes, because git's paths need not be UTF-8. */
  readonly path: string | Buffer;
  readonly mode?: '100644' | '100755' | '120000' | '160000';
  /** For mode 160000 the commit id. */
  readonly content: string | Buffer;
}

const env = {
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

export function git(gitDir: string, args: readonly string[], input?: Buffer): Buffer {
  return execFileSync('git', [`--git-dir=${gitDir}`, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input === undefined ? {} : { input }),
  });
}

export function initBare(gitDir: string): void {
  mkdirSync(gitDir, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', gitDir], { env });
}

/** Writes commits, each with exactly the given files, each the child of the one before; returns their ids. */
export function writeHistory(
  gitDir: string,
  trees: readonly (readonly TreeFile[])[],
  branch = 'main',
): string[] {
  const parts: Buffer[] = [];
  const ref = `refs/heads/${branch}`;
  for (const [index, files] of trees.entries()) {
    parts.push(
      Buffer.from(`commit ${ref}\nmark :${index + 1}\ncommitter T <t@example.invalid> 1700000000 +0000\n`),
    );
    parts.push(Buffer.from(`data 1\n${index}\n${index === 0 ? '' : `from :${index}\n`}deleteall\n`));
    for (const file of files) {
      const mode = file.mode ?? '100644';
      if (mode === '160000') {
        parts.push(Buffer.from(`M 160000 ${String(file.content)} ${quote(file.path)}\n`, 'latin1'));
        continue;
      }
      const content = Buffer.from(file.content);
      parts.push(Buffer.from(`M ${mode} inline ${quote(file.path)}\ndata ${content.length}\n`, 'latin1'));
      parts.push(content, Buffer.from('\n'));
    }
  }
  for (const index of trees.keys()) parts.push(Buffer.from(`get-mark :${index + 1}\n`));
  const answer = git(
    gitDir,
    ['fast-import', '--quiet', '--force', '--date-format=raw'],
    Buffer.concat(parts),
  );
  return answer.toString('latin1').trim().split('\n');
}

/** A path in git's C quotes, every odd byte as octal. */
function quote(path: string | Buffer): string {
  const bytes = Array.from(Buffer.from(path), (byte) =>
    byte > 0x22 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"${bytes.join('')}"`;
}
