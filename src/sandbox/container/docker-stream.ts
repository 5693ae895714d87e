/**
 * Docker's multiplexed attach stream: 8 bytes (stream 1 or 2, three zeros, length of the payload, big-endian),
 * then the payload. dockerode's own reader ignores back-pressure and never ends; this one is pulled.
 */
export interface StreamPart {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Buffer;
}

/**
 * The payload bytes of both streams as they come; a payload may be given in several parts. Throws on nonsense, and
 * where the stream ends before a payload does.
 */
export async function* readDockerStream(source: AsyncIterable<Buffer>): AsyncGenerator<StreamPart> {
  const header = Buffer.alloc(8);
  let headerBytes = 0;
  let left = 0;
  let stream: StreamPart['stream'] = 'stdout';

  for await (const chunk of source) {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const data = chunk.subarray(at, at + left);
        at += data.length;
        left -= data.length;
        yield { stream, data };
        continue;
      }
      const copied = chunk.copy(header, headerBytes, at);
      at += copied;
      headerBytes += copied;
      if (headerBytes < header.length) continue;
      headerBytes = 0;
      if (header[0] === undefined || header[0] > 2)
        throw new Error(`not a Docker stream header: ${header.toString('hex')}`);
      stream = header[0] === 2 ? 'stderr' : 'stdout';
      left = header.readUInt32BE(4);
    }
  }
  if (left > 0 || headerBytes > 0) throw new Error('the stream of Docker was cut short');
}
