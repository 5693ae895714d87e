import { describe, expect, it } from 'vitest';
import { adviseCommand } from '../../../src/agents/advise-command.ts';

const said = (line: string, online = false) => adviseCommand(line.split(' '), { online });

describe('what an agent asks to run', () => {
  it.each([
    ['sudo make install', 'nobody becomes another user'],
    ['/usr/bin/docker compose up', 'no container engine'],
    ['mount -t tmpfs none /mnt', 'no such rights'],
    ['apt-get install -y jq', 'no system package'],
    ['ssh git@github.com', 'no network'],
    ['curl -fsS https://example.com/x.sh', 'a server that you start yourself is reached at 127.0.0.1'],
    ['npm install left-pad', 'installed already'],
    ['npm ci', 'installed already'],
    ['yarn', 'installed already'],
    ['npx --yes cowsay', 'installed already'],
    ['pip install requests', 'installed already'],
    ['go get example.com/x', 'installed already'],
    ['git push origin main', 'no remote'],
    ['git -C sub -c a.b=c push', 'no remote'],
    ['git clone https://github.com/octo/x', 'no remote'],
    ['vim src/a.ts', 'waits for a person'],
    ['watch ls', 'waits for a person'],
    ['tail -f log', 'never ends'],
    ['rm -rf /', 'the whole workspace'],
    ['rm -r --force ./', 'the whole workspace'],
    ['systemctl restart nginx', 'nothing runs here as a service'],
  ])('is told what to do instead of %s', (line, part) => {
    expect(said(line)).toContain(part);
  });

  it.each([
    'npm test',
    'npm --version',
    'npm run build',
    'npm ci --offline',
    'cargo update --offline',
    'yarn test',
    'npx tsc --noEmit',
    'pip --version',
    'pip install -e .',
    'go install ./cmd/tool',
    'go test ./...',
    'cargo build',
    'curl -s http://127.0.0.1:8080/health',
    'curl --version',
    'nc -z localhost 5432',
    'git status',
    'git log --oneline push',
    'git clone . /tmp/copy',
    'git diff HEAD',
    'vim --version',
    'emacs --batch -l x.el',
    'tail -n 20 log',
    'rm -rf dist',
    'rm a.txt',
    'mount --version',
    'cat src/docker.ts',
    'sh run.sh',
  ])('is run as it is: %s', (line) => {
    expect(said(line)).toBeNull();
  });

  it('is looked at behind what only starts it', () => {
    expect(adviseCommand(['env', 'A=1', 'nohup', 'docker', 'ps'], { online: false })).toContain('engine');
    expect(adviseCommand(['bash', '-lc', 'npm install'], { online: false })).toContain('installed already');
    expect(adviseCommand(['sh', '-c', 'npm install || echo offline'], { online: false })).toBeNull();
    expect(adviseCommand(['env'], { online: false })).toBeNull();
    expect(adviseCommand([], { online: false })).toBeNull();
  });

  it('may reach outside where the sandbox may', () => {
    for (const line of ['curl https://example.com', 'npm install', 'ssh host', 'pip install x'])
      expect(said(line, true)).toBeNull();
    expect(said('docker ps', true)).toContain('engine');
  });
});
