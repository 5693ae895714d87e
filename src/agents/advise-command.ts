/**
 * What an agent asks to run is looked at before it is run, and where it cannot work in a sandbox the model is told what
 * to do instead. This saves turns, no more: the sandbox is the wall, and whoever wants to can get around these hints.
 */

interface Hint {
  /** Base names of programs. */
  readonly programs: readonly string[];
  /** Whether the hint is about these arguments; by default it is about any. */
  readonly when?: (args: readonly string[]) => boolean;
  /** It is about the network, and holds where there is none. */
  readonly offline?: true;
  readonly advice: string;
}

/** Why it is pointless, and what to do instead; null: nothing speaks against it. `online`: something outside is in reach. */
export function adviseCommand(
  argv: readonly string[],
  { online }: { readonly online: boolean },
): string | null {
  const [name, ...args] = unwrap(argv);
  if (name === undefined) return null;
  const program = baseName(name);
  // Who says so knows that there is no network, and has what is needed at hand.
  const networked = online || args.includes('--offline');
  const hint = hints.find(
    ({ programs, when, offline }) =>
      programs.includes(program) && !(offline === true && networked) && (when?.(args) ?? true),
  );
  return hint?.advice ?? null;
}

const noNetwork = 'there is no network.';
const installing = `${noNetwork} What the repository depends on is installed already, if its configuration says how; else work without it and say so in your summary.`;

const hints: readonly Hint[] = [
  {
    programs: ['sudo', 'su', 'doas', 'pkexec'],
    advice: 'nobody becomes another user here. Run the program itself; what wants root cannot be had.',
  },
  {
    programs: ['docker', 'podman', 'docker-compose', 'nerdctl', 'kubectl', 'buildah'],
    advice:
      'there is no container engine here. Run the program itself, as the repository does outside of containers.',
  },
  {
    programs: ['mount', 'umount', 'chroot', 'unshare', 'nsenter', 'losetup', 'modprobe', 'insmod', 'sysctl'],
    when: (args) => args.some((arg) => !['-h', '--help', '-V', '--version'].includes(arg)),
    advice: 'a sandbox has no such rights. Write files below the repository or $TMPDIR instead.',
  },
  {
    programs: ['apt', 'apt-get', 'apk', 'dnf', 'yum', 'brew', 'snap'],
    advice:
      'no system package can be installed. Use the programs that are there, or say in your summary what is missing.',
  },
  {
    programs: ['ssh', 'scp', 'sftp', 'telnet', 'nc', 'ncat', 'netcat', 'ping'],
    when: (args) => !args.some(isLocal),
    offline: true,
    advice: `${noNetwork} Work with the files of the repository.`,
  },
  {
    programs: ['curl', 'wget'],
    when: (args) => !args.some(isLocal) && args.some((arg) => !arg.startsWith('-')),
    offline: true,
    advice: `${noNetwork} Work with the files of the repository; a server that you start yourself is reached at 127.0.0.1.`,
  },
  {
    programs: ['npm', 'pnpm', 'yarn', 'bun'],
    when: (args) => installWords.has(firstWord(args) ?? ''),
    offline: true,
    advice: installing,
  },
  { programs: ['yarn'], when: (args) => args.length === 0, offline: true, advice: installing },
  {
    programs: ['npx', 'bunx'],
    when: (args) => args.includes('-y') || args.includes('--yes'),
    offline: true,
    advice: installing,
  },
  {
    programs: ['pip', 'pip3', 'uv', 'poetry', 'gem', 'bundle', 'composer', 'cargo', 'go'],
    when: (args) =>
      /^(?:install|add|get|download|fetch|update|sync|require)$/.test(firstWord(args) ?? '') &&
      !args.some(isPath),
    offline: true,
    advice: installing,
  },
  {
    programs: ['git'],
    when: (args) =>
      ['push', 'fetch', 'pull', 'clone', 'ls-remote'].includes(gitCommand(args) ?? '') && !args.some(isPath),
    advice:
      'this repository has no remote and one commit. What you change in the workspace is taken as it is; nothing has to be pushed.',
  },
  {
    programs: ['vi', 'vim', 'nvim', 'nano', 'emacs', 'pico', 'top', 'htop', 'watch'],
    when: (args) =>
      !args.some((arg) => ['--version', '--help', '-es', '--batch', '-b', '-bn1'].includes(arg)),
    advice: 'it waits for a person at a keyboard. Use the tools that read, edit and write files.',
  },
  {
    programs: ['tail'],
    when: (args) => args.some((arg) => arg === '--follow' || arg === '-F' || /^-[a-z]*f/.test(arg)),
    advice: 'it never ends. Read the end of the file without following it.',
  },
  {
    programs: ['rm'],
    when: (args) =>
      args.some(isRecursive) && args.some((arg) => wholeTrees.has(arg.replace(/\/+$/, '') || '/')),
    advice: 'that would remove the whole workspace. Name the files that are to go.',
  },
  {
    programs: ['reboot', 'shutdown', 'halt', 'poweroff', 'systemctl', 'service'],
    advice: 'nothing runs here as a service. Start the program itself, in the same command as what needs it.',
  },
];

/** What a package manager is told where it would ask a registry. */
const installWords = new Set([
  'install',
  'i',
  'ci',
  'add',
  'update',
  'up',
  'upgrade',
  'publish',
  'audit',
  'outdated',
]);
const wholeTrees = new Set(['/', '/*', '.', './*', '*', '..', '/workspace', '/workspace/*', '~']);

/** The program behind what only starts another one; a shell with a single plain command counts as that command. */
function unwrap(argv: readonly string[]): readonly string[] {
  const [name, ...args] = argv;
  if (name === undefined) return argv;
  const program = baseName(name);
  if (program === 'env') {
    const rest = args.findIndex((arg) => !arg.includes('=') && !arg.startsWith('-'));
    return rest === -1 ? argv : unwrap(args.slice(rest));
  }
  if (['nohup', 'time', 'command', 'exec', 'setsid'].includes(program)) {
    const rest = args.findIndex((arg) => !arg.startsWith('-'));
    return rest === -1 ? argv : unwrap(args.slice(rest));
  }
  const script = args[1];
  if (
    ['sh', 'bash', 'dash', 'zsh'].includes(program) &&
    /^-[el]*c$/.test(args[0] ?? '') &&
    script !== undefined
  )
    // Anything that a shell would do more with than cut it into words is left to it.
    return /^[\w@%+=:,./~* -]+$/.test(script) ? unwrap(script.trim().split(/ +/)) : argv;
  return argv;
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

function firstWord(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-'));
}

/** Past the options of git itself, some of which take a value. */
function gitCommand(args: readonly string[]): string | undefined {
  const at = args.findIndex(
    (arg, index) =>
      !arg.startsWith('-') && !['-C', '-c', '--git-dir', '--work-tree'].includes(args[index - 1] ?? ''),
  );
  return args[at];
}

function isRecursive(arg: string): boolean {
  return arg === '--recursive' || /^-[a-zA-Z]*[rR]/.test(arg);
}

function isPath(arg: string): boolean {
  return /^(?:\.|\/|file:)/.test(arg);
}

/** A host of the sandbox itself, or a URL of one. */
function isLocal(arg: string): boolean {
  return (
    /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)(?:[:/]|$)/.test(arg) ||
    arg === '--unix-socket'
  );
}
