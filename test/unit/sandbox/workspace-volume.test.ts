import { expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { containerSpec } from '../../../src/sandbox/container/container-spec.ts';

it('a workspace that the engine mounts is a volume with our labels, into which nothing of the image is copied', () => {
  const options = { type: 'overlay', device: 'overlay', o: 'lowerdir=/l,upperdir=/u,workdir=/w' };
  const spec = containerSpec(
    sandboxConfigSchema.parse({}),
    {},
    {
      ...{ instance: 'inst', worker: 'host-1', name: 'patchfleet-x', user: { uid: 1234, gid: 1235 } },
      workspace: { kind: 'volume', name: 'patchfleet-00', options },
    },
  );
  expect(spec.HostConfig?.Mounts).toEqual([
    {
      Type: 'volume',
      Source: 'patchfleet-00',
      Target: '/workspace',
      ReadOnly: false,
      VolumeOptions: {
        NoCopy: true,
        Labels: { 'dev.patchfleet.instance': 'inst', 'dev.patchfleet.worker': 'host-1' },
        DriverConfig: { Name: 'local', Options: options },
      },
    },
  ]);
});
