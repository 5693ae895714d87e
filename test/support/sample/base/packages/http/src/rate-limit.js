/** A token bucket for each client. Times are milliseconds, given by the caller. */
export class RateLimit {
  #buckets = new Map();
  #size;
  #perMs;

  constructor({ size, perSecond }) {
    this.#size = size;
    this.#perMs = perSecond / 1000;
  }

  allows(client, now) {
    const bucket = this.#buckets.get(client) ?? { tokens: this.#size, at: now };
    const tokens = Math.min(this.#size, bucket.tokens + (now - bucket.at) * this.#perMs);
    const allowed = tokens >= 1;
    this.#buckets.set(client, { tokens: allowed ? tokens - 1 : tokens, at: now });
    return allowed;
  }
}
