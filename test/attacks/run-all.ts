import { type Attack, carryOut, type Family, type Finding } from './attack.ts';
import { families } from './families.ts';
import { openStage, type StageOptions } from './stage.ts';

export interface Case extends Finding {
  readonly runtime: string;
  readonly family: string;
  readonly name: string;
  readonly tries: string;
  readonly ms: number;
}

export interface Figures {
  readonly cases: number;
  readonly contained: number;
  readonly escaped: readonly Told[];
  readonly inconclusive: readonly Told[];
}

/** A case that was not contained. */
export interface Told {
  readonly case: string;
  readonly how: string;
}

/** Which attacks: of a family, and of those names; null: of all, and all. */
export interface Asked {
  readonly family: string | null;
  readonly names: readonly string[] | null;
}

const askedFor = ({ family, names }: Asked): Family[] =>
  families
    .filter(({ name }) => family === null || name === family)
    .map((one) => ({ ...one, attacks: one.attacks.filter(({ name }) => names?.includes(name) ?? true) }))
    .filter(({ attacks }) => attacks.length > 0);

/** Every attack that is asked for, one after the other, each family on a stage of its own. */
export async function runAll(
  options: StageOptions,
  { asked, signal, tell }: { asked: Asked; signal: AbortSignal; tell: (done: Case) => void },
): Promise<Case[]> {
  const cases: Case[] = [];
  for (const family of askedFor(asked)) {
    signal.throwIfAborted();
    const stage = await openStage(options);
    try {
      for (const attack of family.attacks) {
        signal.throwIfAborted();
        const began = performance.now();
        const finding = await carryOut(attack, stage);
        const done = describe(family, attack, stage.runtime, finding, performance.now() - began);
        tell(done);
        cases.push(done);
      }
    } finally {
      await stage.end();
    }
  }
  return cases;
}

/** All cases of a runtime that cannot be had here. */
export function notTried(runtime: string, asked: Asked, why: string): Case[] {
  return askedFor(asked).flatMap((family) =>
    family.attacks.map((attack) =>
      describe(family, attack, runtime, { verdict: 'inconclusive', how: why }, 0),
    ),
  );
}

function describe(family: Family, attack: Attack, runtime: string, finding: Finding, ms: number): Case {
  const { name, tries } = attack;
  return { runtime, family: family.name, name, tries, ...finding, ms: Math.round(ms) };
}

/** What is printed with `--json`. */
export function figuresOf(cases: readonly Case[]): Figures {
  const told = (verdict: Case['verdict']) =>
    cases
      .filter((one) => one.verdict === verdict)
      .map(({ runtime, family, name, how }) => ({ case: `${runtime} ${family}: ${name}`, how }));
  return {
    cases: cases.length,
    contained: cases.filter(({ verdict }) => verdict === 'contained').length,
    escaped: told('escaped'),
    inconclusive: told('inconclusive'),
  };
}

/** One line of the table. */
export function line({ runtime, family, name, verdict, how, ms }: Case): string {
  // What an attack says may hold what a terminal obeys.
  const plain = how.replaceAll(/\p{Cc}/gu, ' ');
  const shown = plain.length > 110 ? `${plain.slice(0, 109)}…` : plain;
  const columns = [verdict.padEnd(12), runtime.padEnd(5), family.padEnd(11), name.padEnd(34)];
  return `${columns.join(' ')} ${String(ms).padStart(6)} ms  ${shown}`;
}

/** Times and counts of each runtime, for people. */
export function summary(cases: readonly Case[]): string {
  return [...new Set(cases.map(({ runtime }) => runtime))]
    .map((runtime) => {
      const own = cases.filter((one) => one.runtime === runtime);
      const { contained, escaped, inconclusive } = figuresOf(own);
      const seconds = own.reduce((sum, { ms }) => sum + ms, 0) / 1000;
      const counts = `${contained} contained, ${escaped.length} escaped, ${inconclusive.length} inconclusive`;
      return `${runtime}: ${own.length} cases, ${counts}, ${seconds.toFixed(1)} s`;
    })
    .join('\n');
}
