import type { TreeFile } from '../integration/mirror/build-repository.ts';

/** The repository that attackers and their neighbour work on. */
export const baseFiles: readonly TreeFile[] = [
  { path: 'src/a.ts', content: 'export const a = 1;\n' },
  { path: 'src/inner/b.ts', content: 'export const b = 2;\n' },
  // One name, as macOS writes it and as everybody else does: only the latter is there.
  { path: 'src/gr\u00f6\u00dfe.ts', content: 'export const size = 3;\n' },
  { path: 'lib/c.ts', content: 'export const c = 4;\n' },
  { path: 'lib/swapped/d.ts', content: 'export const d = 5;\n' },
  { path: 'link', mode: '120000', content: 'src/a.ts' },
  { path: 'module', mode: '160000', content: '1'.repeat(40) },
  { path: 'package.json', content: '{"name":"x","scripts":{"test":"node --test"}}\n' },
  { path: 'package-lock.json', content: '{}\n' },
  { path: 'test/a.test.ts', content: 'ok\n' },
  { path: '.github/workflows/ci.yml', content: 'on: push\n' },
  { path: 'AGENTS.md', content: 'Be good.\n' },
  { path: 'app/[id]/page.tsx', content: 'page\n' },
  { path: '.gitignore', content: 'node_modules/\n' },
];
