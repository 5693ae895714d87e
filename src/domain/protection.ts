import { pathGlob } from './path-glob.ts';
import { type ProtectedKind, type ProtectionOf, protectedPaths } from './protected-paths.ts';

const kinds = (Object.keys(protectedPaths) as ProtectedKind[])
  // A runner's configuration among the tests is a runner's configuration.
  .sort((a, b) => Number(a === 'tests') - Number(b === 'tests'))
  .map((kind) => {
    const { byName, globs } = protectedPaths[kind];
    const protection =
      kind === 'tests' ? ('tests' as const) : byName ? ('checks' as const) : ('never' as const);
    return { protection, matches: globs.map((glob) => pathGlob(glob, { nocase: true })) };
  });

/** What is there was installed or vendored; what a patch adds there stands in for what the tests import. */
const installed = /(?:^|\/)node_modules\//i;

/** `repositoryGlobs`: `verify.protected` of the repository file. */
export function protectionBy(repositoryGlobs: readonly string[]): ProtectionOf {
  const own = repositoryGlobs.map((glob) => pathGlob(glob));
  return (path) => {
    if (own.some((matches) => matches(path))) return 'never';
    if (installed.test(path)) return 'checks';
    return kinds.find(({ matches }) => matches.some((match) => match(path)))?.protection ?? null;
  };
}
