/**
 * How programs run on the host here: no input, and of the environment only the path, so that no secret of the
 * worker is in it. Spread into execa's options.
 */
export const hostCommand = {
  stdin: 'ignore',
  extendEnv: false,
  env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
} as const;
