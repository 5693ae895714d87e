import { pathsThatExist, scopeOf } from '../domain/scope-overlap.ts';
import { isManifest, packagesOf } from './packages.ts';
import { orderCollisions } from './row-order.ts';
import type { ValidRow } from './validate-plan.ts';

/** Rows for a request that no model planned: the repository is cut by its packages. */

/** A repository of so few files is one agent's work. */
const smallRepository = 40;

interface Part {
  readonly name: string;
  readonly writes: readonly string[];
}

/**
 * One row for each outermost package and one for what lies outside of all; a single row `**` where the repository
 * is small or has no packages. Beyond `maxRows` neighbours are joined. Each row is asked for the whole request,
 * within its part: what does not concern it changes nothing.
 */
export function shardRepository(files: readonly string[], maxRows: number): ValidRow[] {
  const parts = maxRows === 1 ? whole : joinTo(maxRows, partsOf(files));
  const existing = pathsThatExist(files);
  const scopes = parts.map((part) => scopeOf(part.writes, files, existing));
  const dependsOn = orderCollisions(
    scopes,
    parts.map(() => []),
  );
  return parts.map((part, index) => {
    const scope = scopes[index] ?? scopeOf([], files, existing);
    const all = parts.length === 1;
    return {
      title: all ? 'the whole repository' : part.name,
      goal: all
        ? 'Do what the background asks for.'
        : `Do what the background asks for in ${part.name}; other rows do it elsewhere. If nothing of it concerns this part, change nothing and say so.`,
      writes: part.writes,
      inputs: scope.covers.filter(isManifest).slice(0, 5),
      dependsOn: dependsOn[index] ?? [],
      needsSuccess: false,
      verification:
        'The checks of the repository pass, and what was asked for is done in the scope of the row.',
      scope,
    };
  });
}

const whole: readonly Part[] = [{ name: 'the whole repository', writes: ['**'] }];

function partsOf(files: readonly string[]): readonly Part[] {
  if (files.length <= smallRepository) return whole;
  const manifests = files.filter(isManifest);
  const packageOf = packagesOf(manifests);
  const packages = new Set(manifests.map(packageOf).filter((directory) => directory !== ''));
  const outermost = [...packages]
    .filter((directory) => ![...packages].some((other) => directory.startsWith(`${other}/`)))
    .toSorted();
  if (outermost.length < 2) return whole;
  const rest = restOf('', files, new Set(outermost));
  const parts = outermost.map((directory) => ({ name: directory, writes: [`${directory}/**`] }));
  return rest.length === 0 ? parts : [...parts, { name: 'what is outside of the packages', writes: rest }];
}

/** Globs for all files below a directory that are in no package; what begins with a dot at the root is left out. */
function restOf(directory: string, files: readonly string[], packages: ReadonlySet<string>): string[] {
  const prefix = directory === '' ? '' : `${directory}/`;
  const below = files.filter((file) => file.startsWith(prefix));
  const deeper = below.filter((file) => file.includes('/', prefix.length));
  const children = [...new Set(deeper.map((file) => file.slice(0, file.indexOf('/', prefix.length))))]
    .filter((child) => !packages.has(child) && !child.startsWith('.'))
    .toSorted();
  return [
    ...(deeper.length < below.length ? [`${prefix}*`] : []),
    ...children.flatMap((child) =>
      [...packages].some((one) => one.startsWith(`${child}/`))
        ? restOf(child, below, packages)
        : [`${child}/**`],
    ),
  ];
}

/** Neighbours together, in as equal numbers as can be. */
function joinTo(most: number, parts: readonly Part[]): Part[] {
  if (parts.length <= most) return [...parts];
  return Array.from({ length: most }, (_, index) => {
    const from = Math.floor((index * parts.length) / most);
    const members = parts.slice(from, Math.floor(((index + 1) * parts.length) / most));
    const [first] = members;
    return {
      name: members.length === 1 ? (first?.name ?? '') : `${first?.name} and ${members.length - 1} more`,
      writes: members.flatMap((part) => part.writes),
    };
  });
}
