import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { pathGlob } from '../../domain/path-glob.ts';
import type { TreeEntry } from './mirror-reader.ts';

/** Names of files, in any directory, that say what a package manager brings. */
const known = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml'],
  ...['pnpm-workspace.yaml', 'bun.lock', 'bun.lockb', 'deno.json', 'deno.lock'],
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'lerna.json'],
  ...['requirements*.txt', 'requirements*.in', 'constraints*.txt', 'Pipfile', 'Pipfile.lock'],
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'poetry.lock', 'uv.lock', 'pdm.lock', 'environment.yml'],
  ...['go.mod', 'go.sum', 'go.work', 'go.work.sum', 'Cargo.toml', 'Cargo.lock', 'rust-toolchain*'],
  ...['Gemfile', 'Gemfile.lock', '*.gemspec', 'composer.json', 'composer.lock', 'mix.exs', 'mix.lock'],
  ...['pom.xml', 'build.gradle*', 'settings.gradle*', 'gradle.properties', 'gradle.lockfile'],
  ...['libs.versions.toml', '*.csproj', '*.fsproj', 'packages.lock.json', 'global.json', 'NuGet.config'],
  ...['pubspec.yaml', 'pubspec.lock', 'Package.swift', 'Package.resolved'],
  ...['.tool-versions', '.nvmrc', '.node-version', '.python-version', '.ruby-version'],
];
const isKnown = pathGlob(`{${known.join(',')}}`);

/**
 * SHA-256 over the files of a tree that decide what a setup brings: those that `globs` name, or else lockfiles, manifests
 * and configuration of the known package managers. Where there is no such file nothing is known of what decides, and so
 * the whole tree does.
 */
export function setupInputs(entries: readonly TreeEntry[], globs: readonly string[] | null): string {
  const named = (globs ?? []).map((glob) => pathGlob(glob));
  const decides = (path: string) =>
    globs === null ? isKnown(posix.basename(path)) : named.some((matches) => matches(path));
  const chosen = entries.filter(({ path }) => decides(path.toString('utf8')));
  const hash = createHash('sha256');
  for (const { mode, oid, path } of chosen.length === 0 ? entries : chosen) {
    hash.update(`${mode} ${oid} `).update(path).update('\0');
  }
  return hash.digest('hex');
}
