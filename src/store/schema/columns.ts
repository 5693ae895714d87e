import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';

/** Column types that several tables share. */

export const at = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
export const big = (name: string) => bigint(name, { mode: 'number' });

/** Bytes as they are; for what is too small, or too short-lived, for an artifact. */
export const bytes = customType<{ data: Uint8Array; driverData: Buffer }>({
  dataType: () => 'bytea',
  toDriver: (value) => Buffer.from(value),
});
