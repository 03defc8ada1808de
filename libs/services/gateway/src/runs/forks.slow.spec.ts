import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ErrorBody, makeEvent, RunAccepted, RunFactList, RunView, StepRecorded } from '@conclave/contracts';
import { research, runId as scriptedId, Scenario } from '@conclave/strategies/loop-suite';
import { template, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
let runId: string;
/** Number of steps of the run on the log. */
let steps: number;

const a = { 'x-api-key': 'sk-a' };
const b = { 'x-api-key': 'sk-b' };
const get = (path: string, headers: Record<string, string> = a) => fetch(world.url + path, { headers });
const fork = (body: unknown, headers: Record<string, string> = a, id = runId) => world.post(`/v1/runs/${id}/forks`, body, { headers });
const refusal = async (response: Response) => {
  const { error } = ErrorBody.parse(await response.json());
  return { status: response.status, code: error.code, message: error.message, param: error.param };
};

/** A run with one round whose steps are on the log; `without` leaves some out. */
async function recorded(without: readonly number[] = []): Promise<void> {
  const response = await world.post('/v1/runs', { model: 'conclave', input: 'Who founded the mill?' }, { headers: a });
  runId = RunAccepted.parse(await response.json()).id;
  const run = new Scenario();
  run.requested({}, { goal: 'Who founded the mill?' });
  run.planned(0, [research('r', 'founder of the mill')]);
  run.found('r', 'Ana founded the mill.');
  run.judged('complete');
  run.composed('Ana did [1].');
  steps = run.audit.length;
  await world.log.publish(
    run.audit
      .filter(({ version }) => !without.includes(version))
      .map((data) => JSON.parse(JSON.stringify(data).replaceAll(scriptedId, runId)) as typeof data)
      .map((data) => makeEvent(StepRecorded, { id: `${runId}/step/${data.version}`, runId, source: 'merger', time: data.now }, data)),
  );
}

beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
});
afterEach(() => world.close());

describe('the facts of a run', () => {
  it('are on the log with their steps and are shown to its tenant only', async () => {
    await recorded();
    const { data } = RunFactList.parse(await (await get(`/v1/runs/${runId}/facts`)).json());
    expect(data[0]).toMatchObject({ step: 1, kind: 'RunStarted', sentence: expect.stringContaining('Who founded the mill?') });
    expect(data.at(-1)).toMatchObject({ step: steps, kind: 'RunEnded' });
    expect((await get(`/v1/runs/${runId}/facts`, b)).status).toBe(404);
  });
});

describe('a rerun', () => {
  const again = (body: unknown, headers: Record<string, string> = a, id = runId) => world.post(`/v1/runs/${id}/reruns`, body, { headers });

  it('asks the same of another template, as a run of its own, without caches', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants, others: [{ ...template, id: 'other', max_agentic_rounds: 0 }] });
    await recorded();
    const response = await again({ template: 'other' });
    expect(response.status).toBe(202);
    const { id } = RunAccepted.parse(await response.json());
    expect(id).not.toBe(runId);
    const [first, second] = world.requested();
    expect(second).toMatchObject({
      runId: id,
      data: { goal: first!.data.goal, template: { id: 'other' }, caller: { tenant: 'a' }, caching: null },
    });
    expect(second!.data.fork).toBeUndefined();
    expect(await refusal(await again({ template: 'm@fake' }))).toMatchObject({ code: 'FORK_REFUSED', param: 'template' });
    expect(await refusal(await again({ template: 'nobody' }))).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await refusal(await again({}))).toMatchObject({ status: 400, param: 'template' });
    expect(await refusal(await again({ template: 'other' }, b))).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
    expect(world.requested()).toHaveLength(2);
  });

  it('of a run that must stay local is refused with a template that does not stay local', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants, template: { local_only: true }, others: [{ ...template, id: 'other' }] });
    await recorded();
    expect(await refusal(await again({ template: 'other' }))).toMatchObject({ code: 'FORK_REFUSED' });
    expect((await again({ template: 'conclave' })).status).toBe(202);
  });
});

describe('an auditor', () => {
  const auditor = { 'x-api-key': 'sk-a-auditor' };
  const again = (headers: Record<string, string>) => world.post(`/v1/runs/${runId}/reruns`, { template: 'conclave' }, { headers });
  const cancel = (id: string) => world.post(`/v1/runs/${id}/commands`, { command: 'cancel' }, { headers: auditor });
  const idOf = async (response: Response) => RunAccepted.parse(await response.json()).id;

  it('drives runs of its tenant again, from which nothing is learned', async () => {
    await recorded();
    expect((await fork({ step: 2 }, auditor)).status).toBe(202);
    expect((await again(auditor)).status).toBe(202);
    expect(world.requested().slice(1)).toMatchObject([
      { data: { caller: { actor: 'key_a_auditor' }, caching: null, unlearned: true, fork: { of: runId } } },
      { data: { caller: { actor: 'key_a_auditor' }, caching: null, unlearned: true } },
    ]);
    expect((await again(a)).status).toBe(202);
    expect(world.requested().at(-1)!.data.unlearned).toBeUndefined();
  });

  it('sends commands only to runs that it started itself, and deletes none', async () => {
    await recorded();
    expect(await refusal(await cancel(runId))).toMatchObject({ status: 403, code: 'USER_KEY_NEEDED' });
    expect(world.commands()).toEqual([]);
    const own = await idOf(await fork({ step: 2 }, auditor));
    expect((await cancel(own)).status).toBe(202);
    expect(world.commands()).toHaveLength(1);
    for (const id of [runId, own]) {
      const deletion = await fetch(`${world.url}/v1/runs/${id}`, { method: 'DELETE', headers: auditor });
      expect(await refusal(deletion)).toMatchObject({ status: 403, code: 'USER_KEY_NEEDED' });
    }
  });
});

describe('a fork', () => {
  it('is accepted as a run of its own, with the facts of the original and the named models', async () => {
    await recorded();
    const response = await fork({ step: 3, model: 'org/m:8b@fake' });
    expect(response.status).toBe(202);
    const accepted = RunAccepted.parse(await response.json());
    expect(accepted).toMatchObject({ template: 'conclave', attached: false });
    expect(accepted.id).not.toBe(runId);
    const { data } = world.requested().at(-1)!;
    expect(data).toMatchObject({
      goal: 'Who founded the mill?',
      caller: { tenant: 'a', actor: 'key_a' },
      caching: null,
      // Its child runs copy this, so that nothing is learned from them either.
      unlearned: true,
      fork: { of: runId, step: 3 },
      template: {
        id: 'conclave',
        planner: { models: ['org/m:8b@fake'] },
        judge: { models: ['org/m:8b@fake'] },
        experts: { general: { t1: ['org/m:8b@fake'] } },
      },
    });
    expect(data.template.version).not.toBe(world.requested()[0]!.data.template.version);
    expect(JSON.stringify(data.fork!.facts)).not.toContain(runId);
    const view = RunView.parse(await (await get(`/v1/runs/${accepted.id}`)).json());
    expect(view.fork).toMatchObject({ of: runId, step: 3 });
  });

  it("uses today's models of the template when it names none", async () => {
    await recorded();
    expect((await fork({ step: 1 })).status).toBe(202);
    expect(world.requested().at(-1)!.data.template.planner.models).toEqual(['m@fake']);
  });

  it('is started once for repeats with the same Idempotency-Key', async () => {
    await recorded();
    const keyed = { ...a, 'idempotency-key': 'once' };
    const [first, second] = [await fork({ step: 2 }, keyed), await fork({ step: 2 }, keyed)].map((response) => response.json());
    expect(RunAccepted.parse(await first)).toMatchObject({ attached: false });
    expect(RunAccepted.parse(await second)).toMatchObject({ id: RunAccepted.parse(await first).id, attached: true });
    expect(world.runs()).toHaveLength(2);
  });

  it('is refused for other tenants and for an unknown run', async () => {
    await recorded();
    for (const response of [await fork({ step: 1 }, b), await fork({ step: 1 }, a, 'run_unknown000'), await fork({ step: 1 }, a, 'x')])
      expect(await refusal(response)).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
    expect(world.runs()).toHaveLength(1);
  });

  it('is refused at a step that does not exist, naming the steps that do', async () => {
    await recorded();
    const said = async (body: unknown) => (await refusal(await fork(body))).message;
    expect(await said({ step: steps + 1 })).toMatch(`It has ${steps} steps, so there is no step ${steps + 1}.`);
    expect(await said({ step: steps })).toMatch(`It ended in step ${steps}: choose one from 1 to ${steps - 1}.`);
    for (const step of [0, -1, 1.5, '2', undefined])
      expect(await refusal(await fork({ step }))).toMatchObject({ status: 400, code: 'REQUEST_INVALID', param: 'step' });
    expect(await refusal(await fork({ step: 1, model: 'nobody' }))).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(world.runs()).toHaveLength(1);
  });

  it('is refused when steps before it are missing, or when no step is on the log', async () => {
    await recorded([2]);
    expect(await refusal(await fork({ step: 3 }))).toMatchObject({
      status: 409,
      code: 'FORK_REFUSED',
      message: expect.stringMatching(/Its step 2 is no longer on the log/),
    });
    expect((await fork({ step: 1 })).status).toBe(202);
    const started = await world.post('/v1/runs', { model: 'conclave', input: 'Another one?' }, { headers: a });
    const other = RunAccepted.parse(await started.json()).id;
    expect((await refusal(await fork({ step: 1 }, a, other))).message).toMatch(/None of its steps is on the log/);
  });
});
