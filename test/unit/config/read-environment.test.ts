import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readEnvironment, readPlaces } from '../../../src/config/read-environment.ts';

const pem = (type: 'rsa' | 'ed25519') => {
  const options = { privateKeyEncoding: { type: 'pkcs8', format: 'pem' } } as const;
  const pair =
    type === 'rsa'
      ? generateKeyPairSync('rsa', {
          modulusLength: 2048,
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          ...options,
        })
      : generateKeyPairSync('ed25519', { publicKeyEncoding: { type: 'spki', format: 'pem' }, ...options });
  return pair.privateKey;
};
const key = pem('rsa');
const good = { APP_ID: '7', WEBHOOK_SECRET: 's', PRIVATE_KEY: key };
const noFile = () => {
  throw Object.assign(new Error('no'), { code: 'ENOENT' });
};

describe('the environment', () => {
  it('is read with its defaults; the key may be on one line, empty variables are unset', () => {
    const read = readEnvironment({
      ...good,
      PRIVATE_KEY: key.replaceAll('\n', '\\n'),
      REDIS_URL: '',
      PORT: '8080',
      OTHER: 'x',
    });
    expect(read.ok && read.value).toMatchObject({
      APP_ID: '7',
      PRIVATE_KEY: key,
      PORT: 8080,
      HOST: '127.0.0.1',
    });
    expect(read.ok && 'REDIS_URL' in read.value).toBe(false);
  });

  it('says where things are to who needs no App, whatever else is missing or wrong', () => {
    expect(readPlaces({ PORT: 'x', PATCHFLEET_DATA: '/data', DOCKER_HOST: '' })).toEqual({
      PATCHFLEET_CONFIG: 'patchfleet.yml',
      PATCHFLEET_DATA: '/data',
    });
  });

  it('takes the key from a file', () => {
    const { PRIVATE_KEY: _, ...rest } = good;
    const read = readEnvironment({ ...rest, PRIVATE_KEY_PATH: '/key.pem' }, (path) =>
      path === '/key.pem' ? key : '',
    );
    expect(read.ok && [read.value.PRIVATE_KEY, 'PRIVATE_KEY_PATH' in read.value]).toEqual([key, false]);
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    [
      'everything missing',
      {},
      { APP_ID: 'is missing', WEBHOOK_SECRET: 'is missing', PRIVATE_KEY: 'is missing' },
    ],
    [
      'several wrong values',
      { ...good, APP_ID: 'x', PORT: '99999', LOG_LEVEL: 'loud' },
      { APP_ID: '"x" is not valid', PORT: '"99999" is not valid', LOG_LEVEL: '"loud" is not valid' },
    ],
    [
      'a key that is none',
      { ...good, PRIVATE_KEY: 'secret text' },
      { PRIVATE_KEY: 'is not a private key in PEM form' },
    ],
    ['a key of another kind', { ...good, PRIVATE_KEY: pem('ed25519') }, { PRIVATE_KEY: 'is not an RSA key' }],
    [
      'a key file that is missing',
      { ...good, PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/none' },
      { PRIVATE_KEY_PATH: '"/none" cannot be read: ENOENT' },
    ],
  ])('with %s is refused, all problems at once', (_name, variables, expected) => {
    const read = readEnvironment(variables, noFile);
    const problems = read.ok ? [] : read.problems;
    expect(Object.fromEntries(problems.map((problem) => [problem.key, problem.message]))).toEqual(expected);
    expect(JSON.stringify(problems)).not.toContain('secret text');
  });
});
