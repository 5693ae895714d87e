import { type Weakness, within } from './weakness.ts';

/** What the worker does with what comes out of a sandbox. */
export const workerWeaknesses: readonly Weakness[] = [
  ...within('src/sandbox/open-sandbox.ts', [
    [
      'a workspace is read while its container runs',
      'harvest: async (abort) => {\n            await stopContainer(docker, name, abort);',
      'harvest: async (abort) => {',
      'symlink in a race',
    ],
  ]),
  ...within('src/sandbox/harvest/directory.ts', [
    [
      'symlinks are followed',
      'await lstat(below(root, inner), { bigint: true })',
      "await (await import('node:fs/promises')).stat(below(root, inner), { bigint: true })",
      ...['symlink to a file', 'symlink over a file', 'symlink to a directory'],
    ],
  ]),
  ...within('src/sandbox/harvest/harvest.ts', [
    ['hard links are taken', 'if (stats.nlink > 1n)', 'if (stats.nlink > 99n)', 'hard link'],
    [
      'set-uid files are taken',
      'if ((stats.mode & 0o7000n) !== 0n) return refuse',
      'if (stats.mode === 0n) return refuse',
      'set-uid file',
    ],
    ['large files are taken', 'if (bytes > limits.fileBytes)', 'if (bytes < 0)', 'large file'],
    [
      'FIFOs are taken for files',
      'else if (!stats.isFile()) refuse',
      'else if (stats.isSocket()) refuse',
      'FIFO',
      'FIFO over a file',
    ],
    [
      'modules are taken',
      'isSubmodule = inSnapshot &&',
      'isSubmodule = inSnapshot && path.length > 999 &&',
      'modules',
    ],
  ]),
  ...within('src/sandbox/harvest/names.ts', [
    [
      'control characters in names',
      '/[\\p{Cc}\\u2028\\u2029]/u.test(text)',
      'text === ""',
      'line breaks in names',
    ],
    ['names that are no text', 'if (!isUtf8(path))', 'if (path.length === 0)', 'names that are no text'],
    [
      'names of repositories are taken',
      "const parts = text.split('/');",
      'const parts: string[] = [];',
      ...['planted repository', 'gitfile', 'repository by another name'],
    ],
  ]),
  ...within('src/sandbox/bases/separate-layer.ts', [
    [
      'a setup replaces files of the repository',
      'if (before === null) {',
      'if (before === null || !before.isDirectory()) {',
      'setup that plants',
    ],
    [
      'hooks of a setup are kept',
      "if (path.toString('latin1') === '.git') continue;\n      const stats",
      'const stats',
      'setup that plants',
    ],
  ]),
  ...within('src/sandbox/workspaces/keep-tree.ts', [
    ['a setup gives rights to everybody', 'u+rwX,go-w,a-st', 'u+rwX', 'setup that plants'],
  ]),
  ...within('src/sandbox/workspaces/disk-watch.ts', [
    [
      'nobody looks at what is written',
      'if (reached !== null) return entry.end(reached);',
      '',
      'full workspace',
    ],
  ]),
  ...within('src/sandbox/sandbox-calls.ts', [
    [
      'no limit of its time',
      '  }, wallMs);\n  wall.unref();',
      '  }, 10 * wallMs);\n  wall.unref();',
      'outliving its limit',
      'silent',
    ],
  ]),
  ...within('src/sandbox/container/tool-client.ts', [
    [
      'answers of any shape',
      'resultSchemas[call.op].safeParse(frame.result)',
      '({ success: true, data: frame.result })',
      'wrong shapes',
    ],
  ]),
  ...within('sandbox/protocol.ts', [
    ['frames of any length', 'if (expected > most)', 'if (expected < 0)', 'giant frame'],
  ]),
  ...within('src/merging/patch-policy.ts', [
    [
      'protected names count their case',
      'pathGlob(glob, { nocase: true })',
      'pathGlob(glob)',
      'protected, other case',
    ],
    [
      'no scope',
      "if (!inScope(entry.path)) refuse('scope'",
      "if (entry.path === '') refuse('scope'",
      'outside',
      'rename out',
    ],
  ]),
];
