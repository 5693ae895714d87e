import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { Figures } from '../run-all.ts';
import type { Weakness } from './weakness.ts';
import { weaknesses } from './weaknesses.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const needed = ['src', 'sandbox', 'test', 'package.json', 'tsconfig.json'];
const limitMs = 180_000;

/**
 * Weakens the product by one line at a time (those whose `what` has one of the texts in it; without any, all), in a copy
 * of this repository, and looks whether the attacks that it names notice. Gives how often one did not. Some seconds each.
 */
export async function tryAll(
  texts: readonly string[],
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const asked = ({ what }: Weakness) => texts.length === 0 || texts.some((text) => what.includes(text));
  const copy = mkdtempSync(join(tmpdir(), 'patchfleet-weakened-'));
  try {
    for (const name of needed) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    let missed = 0;
    for (const weakness of weaknesses.filter(asked)) {
      signal.throwIfAborted();
      const missing = await unnoticed(copy, weakness, { say, signal });
      missed += missing.length;
      const verdict = missing.length === 0 ? 'noticed' : `NOT NOTICED by ${missing.join(', ')}`;
      say(`${weakness.what}: ${verdict}`);
    }
    return missed;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The attacks that should have noticed, and did not. */
async function unnoticed(
  copy: string,
  weakness: Weakness,
  { say, signal }: { say: (text: string) => void; signal: AbortSignal },
): Promise<string[]> {
  const file = join(copy, weakness.file);
  const before = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    before.replace(weakness.from, () => weakness.to),
  );
  try {
    const args = weakness.noticed.flatMap((name) => ['--case', name]);
    const { stdout, stderr } = await execa(
      process.execPath,
      ['test/attacks/main.ts', '--json', '--runtime', 'runc', ...args],
      { cwd: copy, reject: false, timeout: limitMs, cancelSignal: signal },
    );
    const last = stdout.trim().split('\n').at(-1) ?? '';
    // Where no sandbox starts at all everybody has noticed.
    if (!last.startsWith('{')) {
      say(`  ${stderr.trim().split('\n').at(-1)?.slice(0, 200)}`);
      return [];
    }
    const { escaped, inconclusive } = JSON.parse(last) as Figures;
    const red = [...escaped, ...inconclusive];
    for (const { case: name, how } of red) say(`  ${name}: ${how.slice(0, 120)}`);
    return weakness.noticed.filter((name) => !red.some((one) => one.case.endsWith(`: ${name}`)));
  } finally {
    writeFileSync(file, before);
  }
}
