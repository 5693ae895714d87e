/** What the HTTP server knows of intake. */

export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's bytes as they came: the signature is over them. */
  readonly body: Buffer;
}

export interface WebhookAnswer {
  readonly status: 202 | 400 | 401 | 503;
  readonly message: string;
}
