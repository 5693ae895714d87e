import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  );
  const { length } = body;
  const low = length & 255;
  const head = length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, low] : [tag, 0x82, length >> 8, low];
  return Buffer.concat([Buffer.from(head), body]);
};
const sequence = (...parts: (Buffer | string)[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));

/** A key and a certificate of its own for that host, as PEM, for the years in which tests run. */
export function selfSigned(host: string): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, host))));
  const names = sequence(oid('551d11'), der(0x04, sequence(der(0x82, host))));
  const signed = sequence(
    ...[der(0xa0, der(0x02, '\x02')), der(0x02, '\x01'), algorithm, name],
    sequence(der(0x17, '200101000000Z'), der(0x17, '490101000000Z')),
    ...[name, publicKey.export({ type: 'spki', format: 'der' }), der(0xa3, sequence(names))],
  );
  const whole = sequence(signed, algorithm, der(0x03, '\0', sign('sha256', signed, privateKey)));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trim();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
