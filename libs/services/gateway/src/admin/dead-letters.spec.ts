import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeadLetterList, DeadLetterSettled, DeadLetterView } from '@conclave/contracts';
import { deadRecord } from '@conclave/ports';
import { byAdmin, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Dead-letters a record as the delivery pool does. */
function deadLetter(name: string, over: { readonly group?: string; readonly topic?: string } = {}): void {
  const { group = 'merger', topic = 'run.commands' } = over;
  const record = {
    topic,
    partition: 4,
    offset: '17',
    appendedAt: 1,
    key: name,
    headers: { ce_id: `${name}/command/1`, ce_type: 'CommandIssued', ce_runid: name },
    raw: Buffer.from(`{"n":"${name}"`),
  };
  world.broker.append([{ topic: 'dead', ...deadRecord(record, { group, reason: 'failed', attempts: 5, time: 1, error: 'no way' }) }]);
}

const get = async (path: string) => {
  const response = await fetch(`${world.url}/v1/admin/dead-letters${path}`, { headers: byAdmin });
  return { status: response.status, body: (await response.json()) as unknown };
};
const post = async (path: string, body: unknown = {}, headers: Record<string, string> = {}) => {
  const response = await world.post(`/v1/admin/dead-letters${path}`, body, { headers: { ...byAdmin, ...headers } });
  return { status: response.status, body: (await response.json()) as { error?: { code: string } } };
};

describe('dead letters over HTTP', () => {
  it('are listed in pages and can be filtered', async () => {
    deadLetter('run_a');
    deadLetter('run_b', { group: 'planner', topic: 'gap.detected' });
    deadLetter('run_c');
    const all = DeadLetterList.parse((await get('')).body);
    expect(all.total).toBe(3);
    const first = DeadLetterList.parse((await get('?limit=2')).body);
    expect(first.data).toHaveLength(2);
    const second = DeadLetterList.parse((await get(`?limit=2&before=${first.nextBefore}`)).body);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all.data.map(({ id }) => id));
    expect(DeadLetterList.parse((await get('?group=planner')).body).data).toMatchObject([{ runId: 'run_b' }]);
    expect(DeadLetterList.parse((await get('?topic=gap.detected&reason=failed')).body).total).toBe(1);
    expect(DeadLetterList.parse((await get('?reason=undecodable')).body).total).toBe(0);
  });

  it.each(['?limit=0', '?limit=many', '?before=1', '?all=perhaps', '?group=a&group=b'])('refuse %s', async (query) => {
    expect(await get(query)).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } });
  });

  it('show headers, reason and raw bytes', async () => {
    deadLetter('run_a');
    const { id } = DeadLetterList.parse((await get('')).body).data[0]!;
    const view = DeadLetterView.parse((await get(`/${id}`)).body);
    expect(view).toMatchObject({ reason: 'failed', error: 'no way', raw: { text: '{"n":"run_a"' }, settlements: [] });
    expect(view.headers).toMatchObject({ ce_id: 'run_a/command/1', 'dead-offset': '17' });
    expect(view.effects).toEqual(['Its run was aborted when it became a dead letter.']);
    expect(await get('/9-9')).toMatchObject({ status: 404, body: { error: { code: 'DEAD_LETTER_NOT_FOUND' } } });
  });

  it('are sent back once to the group that failed, with the name of the admin', async () => {
    deadLetter('run_a');
    const { id } = DeadLetterList.parse((await get('')).body).data[0]!;
    const done = await post(`/${id}/redrive`, { note: 'mended' }, { 'x-conclave-actor': 'somebody-else' });
    expect(done.status).toBe(200);
    expect(DeadLetterSettled.parse(done.body).letter.settled).toMatchObject({ action: 'redriven', actor: 'ada', note: 'mended' });
    const [record] = world.broker.records('run.commands');
    expect(record).toMatchObject({
      key: 'run_a',
      headers: { ce_id: 'run_a/command/1', ce_type: 'CommandIssued', ce_runid: 'run_a', 'redrive-group': 'merger', 'redrive-letter': id },
    });
    expect(record!.raw!.toString()).toBe('{"n":"run_a"');
    expect(DeadLetterList.parse((await get('')).body).total).toBe(0);
    expect(DeadLetterList.parse((await get('?all=true')).body).data).toMatchObject([{ id, settled: { actor: 'ada' } }]);
    expect(await post(`/${id}/redrive`)).toMatchObject({ status: 409, body: { error: { code: 'DEAD_LETTER_SETTLED' } } });
    expect(world.broker.records('run.commands')).toHaveLength(1);
    expect((await post(`/${id}/redrive`, { again: true })).status).toBe(200);
    expect(world.broker.records('run.commands')).toHaveLength(2);
  });

  it('are discarded with a note', async () => {
    deadLetter('run_a');
    const { id } = DeadLetterList.parse((await get('')).body).data[0]!;
    expect(await post(`/${id}/discard`, { note: 'a test' })).toMatchObject({
      status: 200,
      body: { letter: { settled: { action: 'discarded', actor: 'ada', note: 'a test' } } },
    });
    expect(world.broker.records('run.commands')).toHaveLength(0);
    expect(await post(`/${id}/discard`)).toMatchObject({ status: 409 });
    expect(await post(`/${id}/redrive`, { again: 'yes' })).toMatchObject({ status: 400 });
  });
});
