import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CallBodies, CallRecorded, makeEvent, noUsage, RunAccepted, RunRecordList, StepRecorded } from '@conclave/contracts';
import { twoTenants, World } from '../__fixtures__/world.js';

const secret = 'quincequietly';
let world: World;
let runId: string;
/** Journal step of the only call. */
let step: string;

const get = (path: string, key: string) => fetch(world.url + path, { headers: { 'x-api-key': key } });
const records = async (key: string) => RunRecordList.parse(await (await get(`/v1/runs/${runId}/records`, key)).json()).data;
const bodies = (key: string, query: string) => get(`/v1/runs/${runId}/records/bodies?${query}`, key);
/** Actors that have read prompts, by run. */
const reads = (): unknown[] =>
  world.broker
    .records('audit')
    .filter(({ headers }) => headers['ce_type'] === 'DetailRead')
    .map(({ raw }) => JSON.parse(raw!.toString()).run);
const call = (attempt: number, over: Partial<CallRecorded['data']> = {}) =>
  makeEvent(
    CallRecorded,
    { id: `${step}/recorded/${attempt}`, runId, source: 'experts', time: 20 + attempt },
    {
      ...{ step, attempt, purpose: 'expert.general', model: 'm@p', reportedModel: null, status: 'ok', requestHash: 'h' },
      request: { messages: [{ role: 'user', content: secret }] },
      reply: `It is ${secret}.`,
      ...{ failure: null, usage: { ...noUsage, calls: 1 }, startedAt: 10 + attempt, durationMs: 5, firstTokenMs: 2 },
      ...over,
    },
  );

beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
  const response = await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': 'sk-a' } });
  runId = RunAccepted.parse(await response.json()).id;
  step = `${runId}/0/e1/call/0`;
});
afterEach(() => world.close());

describe('the records of a run', () => {
  it('are its steps and calls by time, each once, and mark attempts that were superseded', async () => {
    const data: StepRecorded['data'] = {
      ...{ version: 1, input: { id: runId, type: 'PlanRequested', time: 1, data: {} }, now: 30, facts: [], rule: 'D3' as const },
      ...{ ruleSentence: 'Enough was found.', outputs: [{ id: 'o', type: 'TaskDispatched' }], hash: '0', stateHash: null },
    };
    const taken = makeEvent(StepRecorded, { id: `${runId}/step/1`, runId, source: 'merger', time: 30 }, data);
    await world.log.publish([taken, call(2), call(1), call(1)]);
    const found = await records('sk-a');
    expect(found.map((record) => (record.kind === 'call' ? [record.owner, record.attempt, record.superseded] : [record.rule]))).toEqual([
      [`${runId}/0/e1`, 1, true],
      [`${runId}/0/e1`, 2, false],
      ['D3'],
    ]);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  it('show prompt and reply of one call to an auditor, which is recorded, and to no one who may not see them', async () => {
    await world.log.publish([call(1)]);
    expect((await records('sk-a')).map((record) => record.kind === 'call' && record.bodies)).toEqual(['forbidden']);
    expect((await records('sk-a-auditor')).map((record) => record.kind === 'call' && record.bodies)).toEqual(['readable']);
    const refused = await bodies('sk-a', `step=${encodeURIComponent(step)}`);
    expect([refused.status, await refused.text()]).toEqual([403, expect.not.stringContaining(secret)]);
    expect(reads()).toEqual([]);

    const shown = CallBodies.parse(await (await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}`)).json());
    expect([shown.request, shown.reply, shown.cut]).toEqual([expect.stringContaining(secret), `It is ${secret}.`, false]);
    expect(reads()).toEqual([runId]);
  });

  it('are refused without a step, for an attempt that never existed, and for bodies that were not kept', async () => {
    await world.log.publish([call(1, { request: null, reply: null })]);
    expect((await bodies('sk-a-auditor', '')).status).toBe(400);
    expect((await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}&attempt=2`)).status).toBe(404);
    expect((await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}&attempt=60305182881`)).status).toBe(404);
    expect((await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}&attempt=x`)).status).toBe(400);
    expect((await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}`)).status).toBe(404);
    expect((await records('sk-a-auditor')).map((record) => record.kind === 'call' && record.bodies)).toEqual(['not_kept']);
  });

  it('cut a long prompt at the limit and say so', async () => {
    await world.log.publish([call(1, { reply: 'x'.repeat(100_001) })]);
    const shown = CallBodies.parse(await (await bodies('sk-a-auditor', `step=${encodeURIComponent(step)}`)).json());
    expect([shown.reply.length, shown.cut]).toEqual([100_000, true]);
  });
});
