import { gunzipSync, gzipSync } from 'node:zlib';
import type { RunResult, Sandbox } from '../sandbox/port.ts';

/**
 * What an agent has changed so far, read and put back inside its sandbox: git runs there, as the agent's own user,
 * and the host takes the text as data. Ignored files are no part of it, as they are none of the result.
 */

/** Bytes of a patch that is kept after a turn. */
const maxPatchBytes = 8 * 1024 * 1024;
/** Bytes of untracked files that git is let look into. */
const maxNewBytes = 64 * 1024 * 1024;
/** Bytes of the compressed patch in one answer; as base64 they fit the output of a run. */
const pieceBytes = 2 * 1024 * 1024;
const answerBytes = 4 * 1024 * 1024;
const wallMs = 60_000;

export type WorkspacePatch =
  | { readonly patch: Uint8Array }
  /** Why there is none, in plain words. */
  | { readonly unkept: string };

/**
 * A repository of its own beside the synthetic one, whose objects it borrows: whatever the agent does to that one's
 * configuration, index, branches or attributes takes no part. Files are taken raw. What was prepared is no part of it.
 */
const open = `
set -eu
repo="$PWD/.git/patchfleet"
if [ ! -e "$repo/ready" ]; then
  rm -rf "$repo"
  git init --quiet --bare --template= --object-format="$1" "$repo"
  git --git-dir="$repo" config core.bare false
  git --git-dir="$repo" config core.attributesFile /dev/null
  git --git-dir="$repo" config core.excludesFile /dev/null
  mkdir -p "$repo/info" "$repo/objects/info"
  printf '* -text !eol -ident -filter -working-tree-encoding\\n' > "$repo/info/attributes"
  printf '%s\\n' "$PWD/.git/objects" > "$repo/objects/info/alternates"
  if [ -f "$PWD/.git/patchfleet-exclude" ]; then cp "$PWD/.git/patchfleet-exclude" "$repo/info/exclude"; fi
  : > "$repo/ready"
fi
export GIT_DIR="$repo" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$repo/index"
rm -f "$repo/index.lock"
`;

const take = `${open}
made="$PWD/.git/patchfleet-$2.index"
if [ ! -e "$repo/index" ] && [ -f "$made" ]; then cp "$made" "$repo/index"; fi
[ -e "$repo/index" ] || git read-tree "$2"
new=$(git ls-files --others --exclude-standard -z | du -bc --files0-from=- | tail -n 1 | cut -f 1)
if [ "\${new:-0}" -gt ${maxNewBytes} ]; then echo "large $new"; exit 0; fi
git add --all -- .
git diff-index -p --cached --binary --full-index --no-renames --no-color --no-ext-diff --no-textconv "$2" -- > "$repo/patch"
size=$(wc -c < "$repo/patch")
if [ "$size" -gt ${maxPatchBytes} ]; then echo "large $size"; exit 0; fi
gzip -n -c "$repo/patch" > "$repo/patch.gz"
echo "patch $(wc -c < "$repo/patch.gz")"
head -c ${pieceBytes} "$repo/patch.gz" | base64 -w 0
`;

const more = `tail -c "+$1" "$PWD/.git/patchfleet/patch.gz" | head -c ${pieceBytes} | base64 -w 0`;

/** Exit code of {@link put} where the patch does not fit, and nothing was touched. */
const doesNotApply = 10;

const put = `${open}
base64 -d | gzip -d -c > "$repo/patch"
git apply --check --whitespace=nowarn "$repo/patch" || exit ${doesNotApply}
git apply --whitespace=nowarn "$repo/patch"
`;

/** `tree`: what the workspace was made of. Rejects as the sandbox does where that is gone. */
export async function takeWorkspacePatch(
  sandbox: Sandbox,
  tree: string,
  signal: AbortSignal,
): Promise<WorkspacePatch> {
  const result = await script(sandbox, take, [formatOf(tree), tree], signal);
  const failed = problemOf(result);
  if (failed !== null) return { unkept: failed };
  const [, word, size = ''] = /^(patch|large) (\d+)\n/.exec(result.stdout) ?? [];
  if (word === 'large') return { unkept: `what was changed has ${size} bytes` };
  if (word === undefined) return { unkept: 'git gave no patch' };
  const pieces = [Buffer.from(result.stdout.slice(result.stdout.indexOf('\n') + 1), 'base64')];
  for (let held = pieceBytes; held < Number(size); held += pieceBytes) {
    const next = await script(sandbox, more, [String(held + 1)], signal);
    const problem = problemOf(next);
    if (problem !== null) return { unkept: problem };
    pieces.push(Buffer.from(next.stdout, 'base64'));
  }
  try {
    return { patch: gunzipSync(Buffer.concat(pieces), { maxOutputLength: maxPatchBytes }) };
  } catch (thrown) {
    return { unkept: `the patch cannot be read: ${String(thrown)}` };
  }
}

/**
 * Brings an untouched workspace to where the patch was taken. `fits` false: nothing was changed; `whole` false: it
 * stopped in the middle, and the workspace is good for nothing.
 */
export async function putWorkspacePatch(
  sandbox: Sandbox,
  tree: string,
  patch: Uint8Array,
  signal: AbortSignal,
): Promise<{ fits: boolean; whole: boolean; problem: string | null }> {
  if (patch.length === 0) return { fits: true, whole: true, problem: null };
  const stdin = gzipSync(patch).toString('base64');
  const result = await script(sandbox, put, [formatOf(tree)], signal, stdin);
  const problem = problemOf(result);
  const fits = result.exitCode !== doesNotApply;
  return { fits, whole: problem === null || !fits, problem };
}

function script(
  sandbox: Sandbox,
  text: string,
  args: readonly string[],
  signal: AbortSignal,
  stdin = '',
): Promise<RunResult> {
  return sandbox.run(['sh', '-c', text, 'sh', ...args], {
    signal,
    wallMs,
    stdin,
    maxBuffer: answerBytes,
    env: { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' },
  });
}

function problemOf(result: RunResult): string | null {
  if (result.spawnError !== null) return result.spawnError;
  if (result.timedOut) return `git did not end within ${wallMs / 1000} s`;
  if (result.exitCode === 0) return null;
  return result.stderr.trim().slice(-500) || `git ended with ${result.exitCode ?? result.signal}`;
}

function formatOf(tree: string): 'sha1' | 'sha256' {
  return tree.length === 64 ? 'sha256' : 'sha1';
}
