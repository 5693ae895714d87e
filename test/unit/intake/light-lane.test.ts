import { describe, expect, it } from 'vitest';
import { joinAdmissions } from '../../../src/intake/join-admissions.ts';
import { createLightLane, type LightDelivery } from '../../../src/intake/light-lane.ts';

const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
};

let id = 0;
function comment(body: string, sender = { login: 'mona', type: 'User' }): LightDelivery {
  id += 1;
  const payload = {
    action: 'created',
    installation: { id: 5 },
    repository: { id: 7, name: 'sample', owner: { login: 'octo' } },
    sender,
    issue: { number: 3, title: 'Broken', body: '' },
    comment: { id, body, user: sender },
  };
  return { id: `d${id}`, event: 'issue_comment', action: 'created', payload };
}

function setting(size = { atOnce: 1, waiting: 1 }, fails = false) {
  const seen: string[] = [];
  let goOn = Promise.withResolvers<void>();
  const lane = createLightLane({
    size,
    log: { warn: () => {} } as unknown as Parameters<typeof createLightLane>[0]['log'],
    admit: async (delivery) => {
      seen.push(`admit ${delivery}`);
      await goOn.promise;
      if (fails) throw new Error('GitHub is down');
    },
    queue: { enqueue: async (kind, delivery) => void seen.push(`queue ${kind} ${delivery}`) },
    publisher: { react: async (_, commentId, content) => void seen.push(`${content} ${commentId}`) },
    store: {
      deliveries: {
        settle: async (delivery: string, status: string, reason: string | null) =>
          void seen.push(`${status} ${delivery}: ${reason}`),
      } as unknown as Parameters<typeof createLightLane>[0]['store']['deliveries'],
    },
  });
  return {
    lane,
    seen,
    /** Lets what runs end; what follows waits again. */
    async end() {
      goOn.resolve();
      goOn = Promise.withResolvers();
      await settled();
    },
  };
}

describe('the light lane', () => {
  it('admits comments with commands and opened issues, in their order, so many at once', async () => {
    const { lane, seen, end } = setting({ atOnce: 2, waiting: 5 });
    const status = comment('/patchfleet status');
    const fix = comment('/patchfleet fix it');
    const issue = { id: 'i', event: 'issues', action: 'opened', payload: {} };
    expect([status, fix, issue].map(lane.offer)).toEqual([true, true, true]);
    expect(seen).toEqual([`admit ${status.id}`, `admit ${fix.id}`]);
    await end();
    expect(seen).toEqual([`admit ${status.id}`, `admit ${fix.id}`, 'admit i']);
  });

  it('leaves all else to the queue', () => {
    const { lane, seen } = setting();
    const others = [
      comment('no command'),
      comment('/patchfleet status', { login: 'x[bot]', type: 'Bot' }),
      { ...comment('/patchfleet status'), action: 'edited' },
      { id: 'p', event: 'pull_request', action: 'opened', payload: {} },
      { id: 'e', event: 'issue_comment', action: 'created', payload: { comment: 'none' } },
    ];
    expect(others.map(lane.offer)).toEqual([false, false, false, false, false]);
    expect(seen).toEqual([]);
  });

  it('refuses what only asks when it is full, and says so; work and cancels go to the queue', async () => {
    const { lane, seen } = setting();
    const [runs, waits] = [comment('/patchfleet help'), comment('/patchfleet help')];
    expect([runs, waits].map(lane.offer)).toEqual([true, true]);
    const asks = comment('/patchfleet status\n/patchfleet hepl');
    expect(lane.offer(asks)).toBe(true);
    for (const body of ['/patchfleet fix', '/patchfleet cancel', '/patchfleet status\n/patchfleet review'])
      expect(lane.offer(comment(body))).toBe(false);
    await settled();
    expect(seen).toEqual([
      `admit ${runs.id}`,
      `ignored ${asks.id}: too many commands at once: it was refused`,
      `confused ${asks.id.slice(1)}`,
    ]);
  });

  it('leaves to the queue even what it could refuse, where it has too much to refuse', () => {
    const { lane } = setting();
    const offers = Array.from({ length: 6 }, () => lane.offer(comment('/patchfleet help')));
    // One runs and one waits, then one is being refused and one waits to be.
    expect(offers).toEqual([true, true, true, true, false, false]);
  });

  it('hands what could not be admitted to the queue, which tries again', async () => {
    const { lane, seen, end } = setting(undefined, true);
    const asked = comment('/patchfleet status');
    lane.offer(asked);
    await end();
    expect(seen).toEqual([`admit ${asked.id}`, `queue admit ${asked.id}`]);
  });

  it('takes nothing more once it stops, and waits for what runs', async () => {
    const { lane, seen, end } = setting();
    const [runs, waits] = [comment('/patchfleet help'), comment('/patchfleet help')];
    lane.offer(runs);
    lane.offer(waits);
    const stopped = lane.stop();
    expect(lane.offer(comment('/patchfleet help'))).toBe(false);
    await end();
    await stopped;
    expect(seen).toEqual([`admit ${runs.id}`]);
  });
});

describe('admissions of one delivery', () => {
  it('are one while it is under way, for the queue and the lane; then it is begun anew', async () => {
    const began: string[] = [];
    let end = Promise.withResolvers<void>();
    const admit = joinAdmissions((delivery) => {
      began.push(delivery);
      return end.promise;
    });
    const { signal } = new AbortController();
    const both = [admit('a', signal), admit('a', signal)];
    const other = admit('b', signal);
    end.reject(new Error('down'));
    await Promise.all([...both, other].map((work) => expect(work).rejects.toThrow('down')));
    end = Promise.withResolvers();
    end.resolve();
    await admit('a', signal);
    expect(began).toEqual(['a', 'b', 'a']);
  });
});
