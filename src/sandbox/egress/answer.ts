import type { Duplex } from 'node:stream';

/** Phrases stand in the status line, the one thing that npm, pip and go show of a proxy's refusal. */
const phraseCharacters = 300;
/** How long the other side may take to end after we have, ms. */
const lingerMs = 5000;

/** Answers with a status and a reason, in the status line and as plain text, and ends our side. */
export function answer(client: Duplex, status: number, reason: string): void {
  // The reason may hold a name that was asked for.
  const plain = reason.replace(/[^\x20-\x7e]/g, '?');
  const body = `patchfleet: ${plain}\n`;
  const head = [
    `HTTP/1.1 ${status} ${plain.slice(0, phraseCharacters)}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  client.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Waits for the end of the other side, lest what was said last be lost: what still comes is read and forgotten. */
export async function linger(client: Duplex): Promise<void> {
  if (client.destroyed || !client.writableEnded) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, lingerMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    client.once('close', done);
    if (!client.readableEnded) client.once('end', () => client.writableFinished && done());
    client.resume();
  });
}
