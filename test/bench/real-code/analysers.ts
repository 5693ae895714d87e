import type { CodeBase } from './code-bases.ts';

/**
 * What is run over real code, by command agents that print one finding a line: files by themselves, directories with
 * all below them, and files with whoever mentions them. Each finding is at line 1 of a changed file, which the change
 * has added.
 */
export const kinds = ['single', 'recursive', 'cross'] as const;
export type Kind = (typeof kinds)[number];

/** Subtasks of each kind, of 100. */
export const mix: Readonly<Record<Kind, number>> = { single: 70, recursive: 20, cross: 10 };

const python = `
import ast, sys
for path in sys.argv[1:]:
    text = open(path, errors='replace').read()
    try:
        tree = ast.parse(text)
        compile(tree, path, 'exec')
    except SyntaxError as fault:
        print(f'{path}:1: error: line {fault.lineno}: {fault.msg}')
        continue
    names = sum(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.walk(tree))
    print(f'{path}:1: note: compiles; {names} definitions in {text.count(chr(10))} lines')
`;

const go = `
import re, sys
for path in sys.argv[1:]:
    text = open(path, errors='replace').read()
    functions = re.findall(r'^func .*?^}', text, re.M | re.S)
    longest = max((body.count(chr(10)) for body in functions), default=0)
    print(f'{path}:1: note: {len(functions)} functions, the longest of {longest} lines')
`;

const javascript = `for file in "$@"; do
  if node --check "$file" 2>/dev/null; then echo "$file:1: note: parses"; else echo "$file:1: error: does not parse"; fi
done`;

/** The first directory of each file, with all below it. */
const recursive = `for file in "$@"; do
  top=$(echo "$file" | cut -d/ -f1-2)
  top=$(test -d "$top" && echo "$top" || dirname "$file")
  lines=$(rg --no-messages --count-matches --no-filename . "$top" | awk '{ sum += $1 } END { print sum + 0 }')
  open=$(rg --no-messages --files-with-matches 'TODO|FIXME|XXX' "$top" | wc -l)
  echo "$file:1: note: $top has $lines lines, and $open files with open ends"
done`;

/** Up to four names that a file defines, and how many files of the whole repository mention them. */
const cross = `
import re, subprocess, sys
for path in sys.argv[1:]:
    text = open(path, errors='replace').read()
    names = re.findall(r'^(?:def|class|func|export (?:declare )?(?:class|function|interface|const))\\s+(\\w{4,})', text, re.M)
    for name in sorted(set(names))[:4]:
        found = subprocess.run(['rg', '--files-with-matches', '--word-regexp', '--fixed-strings', name, '.'], capture_output=True)
        print(f'{path}:1: note: {name} is mentioned in {found.stdout.count(bytes([10]))} files')
`;

const single: Readonly<Record<CodeBase['language'], readonly string[]>> = {
  python: ['python3', '-c', python],
  go: ['python3', '-c', go],
  javascript: ['sh', '-c', javascript, 'sh'],
};

export function commandOf(kind: Kind, language: CodeBase['language']): string[] {
  if (kind === 'single') return [...single[language], '{files}'];
  if (kind === 'recursive') return ['sh', '-c', recursive, 'sh', '{files}'];
  return ['python3', '-c', cross, '{files}'];
}

/** The comment that a change puts before the first line. */
export const firstLine: Readonly<Record<CodeBase['language'], string>> = {
  python: '# Looked at by the fleet.\n',
  go: '// Looked at by the fleet.\n',
  javascript: '// Looked at by the fleet.\n',
};

const ending: Readonly<Record<CodeBase['language'], RegExp>> = {
  python: /\.py$/,
  go: /(?<!_test)\.go$/,
  javascript: /\.m?js$/,
};

/** Which files are changed for each kind: spread over the whole code, each once. */
export function chooseFiles(base: CodeBase, subtasks: number, filesEach: number): Record<Kind, string[]> {
  const fit = [...base.files].flatMap(([path, text]) =>
    ending[base.language].test(path) && text.length > 200 && !text.startsWith('#!') ? [path] : [],
  );
  const wanted = subtasks * filesEach;
  if (fit.length < wanted) throw new Error(`${base.name} has ${fit.length} files that fit, not ${wanted}`);
  const spread = Array.from({ length: wanted }, (_, n) => fit[Math.floor((n * fit.length) / wanted)] ?? '');
  const chosen: Record<Kind, string[]> = { single: [], recursive: [], cross: [] };
  // Whole shards of neighbours, each kind all over the code: 7, 2 and 1 of ten.
  for (let shard = 0; shard < subtasks; shard += 1) {
    const kind = shard % 10 < 7 ? 'single' : shard % 10 < 9 ? 'recursive' : 'cross';
    chosen[kind].push(...spread.slice(shard * filesEach, (shard + 1) * filesEach));
  }
  return chosen;
}
