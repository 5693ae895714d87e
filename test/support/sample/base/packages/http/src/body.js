import { HttpError } from './http-error.js';

/** Reads a stream of chunks to its end, up to `limit` bytes. */
export async function readBody(stream, limit = 1_000_000) {
  const chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > limit) throw new HttpError(413, 'body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
