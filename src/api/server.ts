import Fastify from 'fastify';
import type { WebhookAnswer, WebhookRequest } from '../intake/port.ts';

export interface ServerOptions {
  readonly receive: (request: WebhookRequest) => Promise<WebhookAnswer>;
  /** False when the process should be replaced: its work no longer makes progress. */
  readonly isAlive: () => boolean;
  /** Rejects while requests cannot be served (the database refuses); one that hangs is as good as a rejection. */
  readonly whenReady: () => Promise<unknown>;
  /** How long that may take, milliseconds. Default 5000. */
  readonly readyTimeoutMs?: number;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly onError: (error: Error) => void;
}

export interface Server {
  /** Where it listens, e.g. `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
  /** Takes no further requests, finishes those in flight. */
  close(): Promise<void>;
}

/** GitHub sends at most 25 MB. */
export const maxBodyBytes = 25 * 1024 * 1024;

/** The HTTP server: webhooks and health. Anything else is not found. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const app = Fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    forceCloseConnections: 'idle',
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) options.onError(error);
    return reply.code(status).send({ message: status >= 500 ? 'internal error' : error.message });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'not found' }));

  app.post('/api/github/webhooks', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { status, message } = await options.receive({ headers: request.headers, body });
    return reply.code(status).send({ message });
  });
  app.get('/healthz', (_request, reply) => {
    const alive = options.isAlive();
    return reply.code(alive ? 200 : 503).send({ status: alive ? 'ok' : 'no progress' });
  });
  app.get('/readyz', async (_request, reply) => {
    try {
      await within(options.readyTimeoutMs ?? 5000, options.whenReady());
      return await reply.send({ status: 'ok' });
    } catch {
      return reply.code(503).send({ status: 'the database does not answer' });
    }
  });

  const url = await app.listen({ host: options.host, port: options.port });
  return { url, port: Number(new URL(url).port), close: () => app.close() };
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error('no answer')), milliseconds);
  try {
    await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
