import type { Trick } from './reading.ts';

const python = String.raw;

const hostile = '#!/bin/sh\\ntouch "$CANARY_FIRED/$0"\\n';

/** What git, or another tool, would act on. */
export const repositories: readonly Trick[] = [
  {
    name: 'planted repository',
    tries: 'to have git on the host read a configuration that runs programs',
    plant: {
      sh: `git init -q nested; cd nested; git config core.fsmonitor "touch $CANARY_FIRED/fsmonitor"
git config filter.evil.clean "touch $CANARY_FIRED/clean"; git config filter.evil.smudge "touch $CANARY_FIRED/smudge"; git config core.sshCommand "touch $CANARY_FIRED/ssh"
printf '#!/bin/sh\\ntouch %s/hook\\n' "$CANARY_FIRED" > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change; echo '* filter=evil' > .gitattributes`,
    },
    honest: { 'nested/.gitattributes': '* filter=evil\n' },
  },
  {
    name: 'repository at the root',
    tries: 'to have git on the host read the workspace’s own .git',
    plant: {
      sh: `cd ../..; rm -rf .git; git init -q .; git config core.fsmonitor "touch $CANARY_FIRED/fsmonitor"; git config filter.evil.clean "touch $CANARY_FIRED/clean"
mkdir -p .git/hooks .git/info; for h in pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman; do printf '#!/bin/sh\\ntouch %s/%s\\n' "$CANARY_FIRED" $h > .git/hooks/$h; chmod +x .git/hooks/$h; done
echo '* filter=evil' > .git/info/attributes; echo "$CANARY_FILE" > .git/objects/info/alternates`,
    },
    mayVanish: true,
  },
  {
    name: 'repository by another name',
    tries: 'to plant a repository on those whose disks do not tell names apart',
    plant: {
      python: python`
for i, name in enumerate(('.GIT', '.Git', '.git ', '.git.', 'git~1', '.g\u200cit', '.git::$INDEX_ALLOCATION', 'GIT~1')):
    os.makedirs('in-%d/%s' % (i, name))
    open('in-%d/%s/config' % (i, name), 'w').write('[core]\nfsmonitor = touch ' + os.environ['CANARY_FIRED'] + '/name\n')`,
    },
  },
  {
    name: 'gitfile',
    tries: 'to point git to a repository elsewhere',
    plant: { sh: 'mkdir sub; echo "gitdir: $(dirname "$CANARY_FILE")" > sub/.git' },
  },
  {
    name: 'attributes',
    tries: 'to have contents changed by filters on their way',
    plant: {
      sh: `cd ../..; printf '* filter=evil ident text eol=crlf working-tree-encoding=UTF-16\\n' > .gitattributes; printf 'a\\r\\n$Id$\\n' > x/attributes/file`,
    },
    paths: ['.gitattributes'],
    honest: {
      file: 'a\r\n$Id$\n',
      '/.gitattributes': '* filter=evil ident text eol=crlf working-tree-encoding=UTF-16\n',
    },
  },
  {
    name: 'modules',
    tries: 'to have a repository of its choice fetched',
    plant: {
      sh: `cd ../..; printf '[submodule "m"]\\npath = m\\nurl = ext::touch %s/ext\\n' "$CANARY_FIRED" > .gitmodules; echo x > module/file`,
    },
    paths: ['module'],
  },
  {
    name: 'hooks and tasks',
    tries: 'to have tools of the host run what it wrote',
    plant: {
      sh: `mkdir -p .husky .vscode node_modules/.bin; for f in .husky/pre-commit .envrc node_modules/.bin/git node_modules/.bin/cp node_modules/.bin/chmod node_modules/.bin/rm; do printf '${hostile}' > $f; chmod +x $f; done`,
    },
    mayVanish: true,
  },
];
