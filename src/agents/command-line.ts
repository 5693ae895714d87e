/** Bytes of paths in one command line: far below what kernels take, with room for environment and arguments. */
const pathBytes = 100_000;

/**
 * The command lines that run a configured command over files: `{files}` is replaced by the paths, in as many runs
 * as their length needs; a command without `{files}` runs once. A path that begins with `-` is given as `./-x`,
 * so that no file name is ever taken for an option.
 */
export function commandLines(
  command: readonly string[],
  files: readonly string[],
  limit = pathBytes,
): string[][] {
  if (!command.includes('{files}')) return [[...command]];
  return chunk(files.map(asArgument), limit).map((paths) =>
    command.flatMap((argument) => (argument === '{files}' ? paths : [argument])),
  );
}

function asArgument(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}

function chunk(paths: readonly string[], limit: number): string[][] {
  const chunks: string[][] = [];
  let size = 0;
  for (const path of paths) {
    // The NUL at its end and the pointer to it count as well.
    const bytes = Buffer.byteLength(path) + 9;
    const last = chunks.at(-1);
    if (last === undefined || size + bytes > limit) {
      chunks.push([path]);
      size = bytes;
    } else {
      last.push(path);
      size += bytes;
    }
  }
  return chunks;
}
