/**
 * How a tunnel begins. CONNECT names a host, but what answers there may serve many names (a CDN does), and the one
 * that counts is in the TLS client hello. So the tunnel waits for it and compares.
 */
export type Beginning =
  /** Not to be told yet. */
  | { readonly kind: 'more' }
  /** A TLS client hello; `name`: the server's, in lower case, or null where it names none. */
  | { readonly kind: 'tls'; readonly name: string | null }
  /** May be HTTP. */
  | { readonly kind: 'plain' }
  | { readonly kind: 'bad'; readonly reason: string };

/** Bytes within which a hello must end; with post-quantum keys one has some 1,800. */
export const maxHelloBytes = 32 * 1024;

const handshakeRecord = 22;
const clientHello = 1;
const serverName = 0;
/** Encrypted Client Hello hides the name that counts. */
const encryptedHello = 0xfe0d;

const bad = (reason: string): Beginning => ({ kind: 'bad', reason });

/** Reads as much of the beginning as there is. Never throws. */
export function readBeginning(bytes: Buffer): Beginning {
  if (bytes.length === 0) return { kind: 'more' };
  if (bytes[0] !== handshakeRecord) {
    const letter = bytes[0] ?? 0;
    return letter >= 0x41 && letter <= 0x5a
      ? { kind: 'plain' }
      : bad('the tunnel carries neither TLS nor HTTP');
  }
  const handshake = joinRecords(bytes);
  if (handshake === null) return bad('the tunnel does not begin with a TLS client hello');
  if (handshake.length < 4) return { kind: 'more' };
  if (handshake[0] !== clientHello) return bad('the tunnel does not begin with a TLS client hello');
  const length = handshake.readUIntBE(1, 3);
  if (length > maxHelloBytes) return bad('the TLS client hello is too large');
  if (handshake.length < 4 + length) return { kind: 'more' };
  try {
    return readHello(createReader(handshake.subarray(4, 4 + length)));
  } catch {
    return bad('the TLS client hello is malformed');
  }
}

/** The handshake bytes of the records so far: a hello may be cut into several. Null where one is not of a handshake. */
function joinRecords(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    if (bytes[at] !== handshakeRecord || bytes[at + 1] !== 3) return parts.length === 0 ? null : whole(parts);
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 16_384) return null;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return whole(parts);
}

/** What follows a hello that is complete (early data) is no part of it; where it is not complete, it is nonsense. */
function whole(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

function readHello(hello: Reader): Beginning {
  hello.take(2 + 32);
  hello.take(hello.number(1));
  hello.take(hello.number(2));
  hello.take(hello.number(1));
  if (hello.left() === 0) return { kind: 'tls', name: null };
  const extensions = createReader(hello.take(hello.number(2)));
  if (hello.left() > 0) return bad('the TLS client hello is malformed');
  const names: string[] = [];
  while (extensions.left() > 0) {
    const type = extensions.number(2);
    const body = createReader(extensions.take(extensions.number(2)));
    if (type === encryptedHello) return bad('an encrypted TLS client hello hides where it goes');
    if (type !== serverName) continue;
    const list = createReader(body.take(body.number(2)));
    while (list.left() > 0) {
      if (list.number(1) !== 0) return bad('the TLS client hello names something other than a host');
      names.push(list.take(list.number(2)).toString('latin1').toLowerCase());
    }
  }
  if (names.length > 1) return bad('the TLS client hello names several hosts');
  return { kind: 'tls', name: names[0] ?? null };
}

interface Reader {
  /** Throws where there are not so many. */
  take(bytes: number): Buffer;
  number(bytes: number): number;
  left(): number;
}

function createReader(bytes: Buffer): Reader {
  let at = 0;
  const take = (count: number) => {
    if (at + count > bytes.length) throw new RangeError('cut short');
    at += count;
    return bytes.subarray(at - count, at);
  };
  return { take, number: (count) => take(count).readUIntBE(0, count), left: () => bytes.length - at };
}
