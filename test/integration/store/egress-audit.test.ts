import { expect, it } from 'vitest';
import { createEgressRecords } from '../../../src/sandbox/egress/records.ts';
import { audit } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';

it('the audit log keeps what a sandbox asked for, whatever it wrote in its names', async () => {
  const database = await openTestDatabase();
  const store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
  try {
    const records = createEgressRecords('box', store.audit.record);
    const target = { host: 'registry.test', port: 443 };
    await records.refused(null, 'the TLS client hello names "\\u0000\\ud800"');
    records.handOver({ taskId: 'task', attemptId: 'attempt' });
    await records.allowed(target, { method: 'CONNECT', address: '192.0.2.1' });
    records.passed(target, 'received', 9);
    await records.close();
    const rows = await database.db.select().from(audit).orderBy(audit.at, audit.action);
    expect(rows.map(({ actor, action, subject, detail }) => ({ actor, action, subject, detail }))).toEqual([
      {
        ...{ actor: 'sandbox:box', action: 'egress.refused', subject: '-' },
        detail: {
          ...{ sandbox: 'box', task: null, host: null, port: null },
          reason: 'the TLS client hello names "\\u0000\\ud800"',
        },
      },
      {
        ...{ actor: 'attempt:attempt', action: 'egress.allowed', subject: 'registry.test:443' },
        detail: { sandbox: 'box', task: 'task', ...target, method: 'CONNECT', address: '192.0.2.1' },
      },
      {
        ...{ actor: 'attempt:attempt', action: 'egress.closed', subject: 'box' },
        detail: {
          ...{ sandbox: 'box', task: 'task', allowed: 1, refused: 1, withoutRow: 0 },
          places: { 'registry.test:443': { requests: 1, sent: 0, received: 9 } },
        },
      },
    ]);
  } finally {
    await store.close();
  }
});
