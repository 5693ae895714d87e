import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inherited } from '../../support/app/start-app.ts';
import { docker } from './docker-setting.ts';

/** An engine that has not what this process has at the path of its data directory: as one on another machine. */

const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';

describe.runIf(process.getuid?.() === 0)('an engine that does not see the data directory', () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'patchfleet-elsewhere-'));
    mkdirSync(join(home, 'data'));
    writeFileSync(join(home, 'patchfleet.yml'), `sandbox: { image: '${image}' }\n`);
  });
  afterAll(() => rm(home, { recursive: true }));

  /** Runs a program of ours whose `data` is nobody else's. */
  const run = (...args: string[]) =>
    spawnSync(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        'mount -t tmpfs none "$0" && exec "$@"',
        join(home, 'data'),
        process.execPath,
        ...args,
      ],
      {
        encoding: 'utf8',
        env: {
          ...Object.fromEntries(inherited.map((variable) => [variable, process.env[variable]])),
          PATCHFLEET_CONFIG: join(home, 'patchfleet.yml'),
          PATCHFLEET_DATA: join(home, 'data'),
        },
      },
    );
  const said = () =>
    `The Docker engine does not see ${join(home, 'data/workspaces')}: it runs on another machine, or this process runs in a container where that is another directory. Let DOCKER_HOST name the engine of this machine, and let a container have the data directory by the path that it has on the machine.`;

  it('is told by the doctor, instead of a trial that cannot work', () => {
    const { status, stdout } = run('src/main.ts', 'doctor', '--image', image);
    expect({ status, lines: stdout.trim().split('\n') }).toEqual({ status: 1, lines: [said()] });
  });

  it.each(['auto', 'copy'])(
    'is refused by who makes a workspace, though it is %s, and nothing is left',
    (mode) => {
      const script = fileURLToPath(new URL('./workspace-mode.ts', import.meta.url));
      const instance = `test-elsewhere-${process.pid}`;
      const { stdout } = run(script, join(home, 'data/workspaces'), instance, mode);
      expect(stdout.trim()).toBe(`sandbox_unavailable: ${said()}`);
      expect(docker('ps', '-aq', '--filter', `label=dev.patchfleet.instance=${instance}`)).toBe('');
    },
  );
});
