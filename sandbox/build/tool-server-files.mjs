/**
 * The program that the image runs, as plain JavaScript: started from TypeScript, every sandbox would load a
 * compiler first (0.24 s of CPU and 32 MiB against 0.09 s and 13 MiB). Types are blanked out, so that lines and
 * columns of a stack are those of the sources.
 *
 *     node tool-server-files.mjs OUT
 *
 * writes it into the directory OUT. Needs Node 24, and nothing else of this project.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sandbox = dirname(dirname(fileURLToPath(import.meta.url)));

/** Its sources: every TypeScript file of sandbox/, by name. */
export function sourceFiles() {
  const names = readdirSync(sandbox).filter((name) => name.endsWith('.ts'));
  return names.sort().map((name) => ({ name, text: readFileSync(join(sandbox, name), 'utf8') }));
}

/** What the image gets of these sources. Throws where one needs more than its types taken out, or imports another file. */
export function toolServerFiles(sources) {
  const names = new Set(sources.map(({ name }) => name));
  const files = sources.map(({ name, text }) => {
    const script = stripTypeScriptTypes(text, { mode: 'strip' }).replace(
      /\b(from\s*|import\s*\(?\s*)(['"])(\.[^'"\n]*)\2/g,
      (_all, before, quote, path) => {
        const file = /^\.\/([^/]+\.ts)$/.exec(path)?.[1];
        if (file === undefined || !names.has(file))
          throw new Error(`${name} imports ${path}, which is no TypeScript file of sandbox/`);
        return `${before}${quote}./${compiled(file)}${quote}`;
      },
    );
    return { name: compiled(name), text: script };
  });
  return [{ name: 'package.json', text: '{"type":"module"}\n' }, ...files];
}

function compiled(name) {
  return name.replace(/\.ts$/, '.js');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (out === undefined) throw new Error('usage: node tool-server-files.mjs OUT');
  for (const { name, text } of toolServerFiles(sourceFiles()))
    writeFileSync(join(out, name), text, { mode: 0o644 });
}
