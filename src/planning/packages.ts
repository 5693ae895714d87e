/** Which package of a repository a file belongs to. */

/** Files that make their directory a package, whatever the language. */
const manifestNames = new Set([
  'package.json',
  'deno.json',
  'go.mod',
  'Cargo.toml',
  'pyproject.toml',
  'setup.py',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'composer.json',
  'Gemfile',
  'mix.exs',
  'pubspec.yaml',
  'Package.swift',
  'CMakeLists.txt',
  'BUILD.bazel',
]);

export function isManifest(path: string): boolean {
  return manifestNames.has(path.slice(path.lastIndexOf('/') + 1));
}

/** Directory of a path, without a final slash; the root is the empty string. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/**
 * Gives each path its package: the nearest directory upwards that holds a manifest. What only the root
 * claims goes by its first directory, since one manifest at the root says nothing about parts.
 */
export function packagesOf(manifests: readonly string[]): (path: string) => string {
  const packages = new Set(manifests.filter(isManifest).map(directoryOf));
  return (path) => {
    for (let dir = directoryOf(path); dir !== ''; dir = directoryOf(dir)) {
      if (packages.has(dir)) return dir;
    }
    return path.slice(0, Math.max(0, path.indexOf('/')));
  };
}
