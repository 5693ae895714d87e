import type { SandboxCheck } from './port.ts';

/** What an image must hold to be a sandbox's, and what the checks of most repositories need besides. */

/** A command that ends with 0, run in a trial sandbox; `prints` is all that it then says. */
export interface Probe {
  /** What is missing where it fails: the subject of a sentence. */
  readonly what: string;
  readonly argv: readonly string[];
  readonly prints?: string;
  /** Without it there is no sandbox; else some repositories cannot be checked in it. */
  readonly required: boolean;
  /** What to do: a sentence. */
  readonly remedy: string;
}

const install = (packages: string) => `Install ${packages} in the image.`;
const shell = (text: string) => ['sh', '-c', text];

/** What runs here with these arguments: the tool server, the synthetic repository, checkpoints, verification. */
const programs: readonly Probe[] = [
  { what: 'a shell `sh`', argv: shell(':'), required: true, remedy: install('`dash` or `bash`') },
  { what: '`git`', argv: ['git', '--version'], required: true, remedy: install('`git`') },
  {
    what: '`rg` (ripgrep)',
    argv: ['rg', '--json', '--no-config', '--sort=path', '--regexp=module', '/opt/patchfleet/package.json'],
    required: true,
    remedy: install('`ripgrep`'),
  },
  {
    what: "GNU's `timeout`",
    argv: ['timeout', '--signal=KILL', '10', 'true'],
    required: true,
    remedy: install('`coreutils`'),
  },
  {
    what: "GNU's `du` and `base64`",
    argv: shell('du -bc --files0-from=/dev/null && base64 -w 0 /dev/null'),
    required: true,
    remedy: install('`coreutils`'),
  },
  { what: '`gzip`', argv: ['gzip', '--version'], required: true, remedy: install('`gzip`') },
];

const state: readonly Probe[] = [
  {
    what: 'a Git that runs no hooks',
    argv: ['git', 'config', '--get', 'core.hooksPath'],
    prints: '/dev/null\n',
    required: true,
    remedy: 'Build it with `git config --system core.hooksPath /dev/null`.',
  },
  {
    what: 'a workspace that can be written',
    argv: shell('touch probe && rm probe'),
    required: true,
    remedy: 'See the log of the engine: the mount of the workspace is not its user.',
  },
  {
    what: 'a HOME and a TMPDIR from which programs run',
    argv: shell(
      'touch "$HOME/probe" && echo "#!/bin/sh" > "$TMPDIR/probe" && chmod +x "$TMPDIR/probe" && "$TMPDIR/probe"',
    ),
    required: true,
    remedy: 'Take what is at /scratch out of the image: a scratch file system is mounted there.',
  },
  {
    what: 'a root that is read-only',
    argv: shell('for d in / /etc /usr /opt/patchfleet /home /var/tmp; do ! touch "$d/probe" || exit 1; done'),
    required: true,
    remedy: 'Set no storage option of the engine that makes it writable.',
  },
];

/** Prints what has a set-user-id or set-group-id bit; ends with 0 where it could look. */
export const setIdProbe = shell(
  'command -v find >/dev/null && find / -xdev -type f -perm /6000 2>/dev/null | head -n 20',
);

const common = (what: string, argv: readonly string[], packages: string): Probe => ({
  what,
  argv,
  required: false,
  remedy: install(packages),
});

/** Dependencies are installed and checks run with these. */
const recommended: readonly Probe[] = [
  common('Node', ['node', '--version'], 'Node (`ln -s /opt/patchfleet/bin/node /usr/local/bin/node`)'),
  common('`npm`', ['npm', '--version'], '`npm`'),
  common('Python 3', ['python3', '--version'], '`python3`'),
  common(
    '`pip` and `venv`',
    shell('python3 -m pip --version && python3 -c "import venv, ensurepip"'),
    '`python3-pip` and `python3-venv`',
  ),
  common('`pytest`', ['python3', '-m', 'pytest', '--version'], '`python3-pytest`'),
  common('Go', ['go', 'version'], '`golang-go`'),
  common('a C compiler `gcc`', ['gcc', '--version'], '`gcc`'),
  common('a C++ compiler `g++`', ['g++', '--version'], '`g++`'),
  common('`make`', ['make', '--version'], '`make`'),
  common('`pkg-config`', ['pkg-config', '--version'], '`pkg-config`'),
  common('`patch`', ['patch', '--version'], '`patch`'),
  common('`unzip`', ['unzip', '-v'], '`unzip`'),
  common('`xz`', ['xz', '--version'], '`xz-utils`'),
  common('`ps`', ['ps', '--version'], '`procps`'),
  common('`prlimit`', ['prlimit', '--version'], '`util-linux`'),
];

export const probes: readonly Probe[] = [...programs, ...state, ...recommended];

/** What the engine says of an image, and a trial sandbox of it. */
export interface ImageFacts {
  readonly bytes: number;
  /** Paths that the image declares as volumes. */
  readonly volumes: readonly string[];
  /** Of {@link probes}, those that failed, each with what it said. */
  readonly failed: readonly { readonly probe: Probe; readonly said: string }[];
  /** Files with a set-user-id or set-group-id bit; null: it could not be looked for them. */
  readonly setId: readonly string[] | null;
}

export function judgeImage(image: string, facts: ImageFacts): SandboxCheck {
  const { bytes, volumes, failed, setId } = facts;
  const problems: string[] = [];
  const notes = [`${image} has ${Math.round(bytes / 1024 / 1024)} MiB.`];
  // Everything that needs a shell fails for the same reason.
  const noShell = failed.some(({ probe }) => probe === programs[0]);
  for (const { probe, said } of failed) {
    if (noShell && probe.argv[0] === 'sh' && probe !== programs[0]) continue;
    const why = said === '' ? '' : ` (${said})`;
    if (probe.required) problems.push(`${image} lacks ${probe.what}${why}. ${probe.remedy}`);
    else
      notes.push(`Recommended: ${image} lacks ${probe.what}, which many repositories need. ${probe.remedy}`);
  }
  if (setId === null) {
    const what = 'set-user-id files cannot be looked for in it';
    if (!noShell) problems.push(`${image} lacks \`find\`: ${what}. ${install('`findutils`')}`);
  } else if (setId.length > 0)
    problems.push(
      `${image} has set-user-id or set-group-id files, such as ${setId.slice(0, 3).join(', ')}. No agent needs them: build it with \`find / -xdev -type f -perm /6000 -exec chmod a-s {} +\`.`,
    );
  if (volumes.length > 0)
    problems.push(
      `${image} declares volumes (${volumes.join(', ')}): each sandbox would get disk without a limit there. Make it from an image without VOLUME.`,
    );
  return { problems, notes };
}
