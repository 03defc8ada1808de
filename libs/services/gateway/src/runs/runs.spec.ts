import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CommandRequest, noUsage, RunAccepted, RunList, RunView } from '@conclave/contracts';
import { completed, twoTenants, World } from '../__fixtures__/world.js';
import { commandOf } from './commands.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
});
afterEach(() => world.close());

const a = { 'x-api-key': 'sk-a' };
const b = { 'x-api-key': 'sk-b' };
const start = async (headers: Record<string, string> = a, body: unknown = { model: 'conclave', input: 'Why?' }) =>
  world.post('/v1/runs', body, { headers });
const get = (path: string, headers: Record<string, string> = a) => fetch(world.url + path, { headers });

describe('a run', () => {
  it('is started and outlives its request', async () => {
    const response = await start();
    expect(response.status).toBe(202);
    const accepted = RunAccepted.parse(await response.json());
    expect(response.headers.get('location')).toBe(`/v1/runs/${accepted.id}`);
    expect(accepted).toMatchObject({ template: 'conclave', attached: false, links: { events: `/v1/runs/${accepted.id}/events` } });
    expect(world.requested()[0]!.data).toMatchObject({ origin: 'runs', goal: 'Why?', caller: { tenant: 'a' } });
    expect(world.stores.clients(accepted.id).size).toBe(0);
  });

  it('is shown before and after the engine has handled it', async () => {
    await start();
    const early = RunView.parse(await (await get(`/v1/runs/${world.run()}`)).json());
    expect(early).toMatchObject({ id: world.run(), status: 'accepted', terminal: false, question: 'Why?' });
    world.write(completed());
    const late = RunView.parse(await (await get(`/v1/runs/${world.run()}`)).json());
    expect(late).toMatchObject({ status: 'completed', terminal: true, answer: 'It is blue [1].', rule: 'D3' });
  });

  it('is shown with the usage that the ledger has recorded, also for calls after its end', async () => {
    await start();
    const id = world.run();
    const shown = async () => RunView.parse(await (await get(`/v1/runs/${id}`)).json()).usage;
    expect(await shown()).toMatchObject({ total: noUsage, openCalls: 0, recorded: noUsage });
    world.write(completed());
    const { total } = await shown();
    const used = { ...noUsage, calls: 1, prompt: 10, completion: 5 };
    for (const n of [0, 1])
      await world.stores.state.usage.add({ runId: id, step: `${id}/0/t${n}/call/0`, attempt: 1, usage: used, at: Date.now() });
    expect(await shown()).toMatchObject({ total, recorded: { ...used, calls: 2, prompt: 20, completion: 10 } });
  });

  it('is the same one for a repeat with the same Idempotency-Key', async () => {
    const headers = { ...a, 'idempotency-key': 'k' };
    const [one, two] = [RunAccepted.parse(await (await start(headers)).json()), RunAccepted.parse(await (await start(headers)).json())];
    expect(two).toEqual({ ...one, attached: true });
    expect(world.requested()).toHaveLength(1);
  });

  it('requires a template and a question', async () => {
    expect(await (await start(a, { model: 'm@fake', input: 'x' })).json()).toMatchObject({
      error: { param: 'model', message: expect.stringContaining('/v1/chat/completions') },
    });
    expect(await (await start(a, { model: 'conclave' })).json()).toMatchObject({ error: { param: 'input' } });
  });

  it('refuses what it would leave out: a second question, and an option that is not one', async () => {
    const messages = [{ role: 'user', content: 'Why?' }];
    expect(await (await start(a, { model: 'conclave', input: 'How?', messages })).json()).toMatchObject({ error: { param: 'input' } });
    expect(await (await start(a, { model: 'conclave', messages: [] })).json()).toMatchObject({ error: { param: 'messages' } });
    const headers = { 'x-conclave-keep-alive-json': 'perhaps', 'x-api-key': 'sk-a' };
    const refused = await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers });
    expect(await refused.json()).toMatchObject({ error: { param: 'x-conclave-keep-alive-json' } });
    expect(world.runs()).toEqual([]);
  });
});

describe('the list of runs', () => {
  it('shows those of the tenant, newest first, in pages', async () => {
    for (const input of ['one', 'two', 'three']) await start(a, { model: 'conclave', input });
    await start(b, { model: 'conclave', input: 'of another' });
    const first = RunList.parse(await (await get('/v1/runs?limit=2')).json());
    expect(first.data.map((run) => run.question)).toEqual(['three', 'two']);
    const second = RunList.parse(await (await get(`/v1/runs?limit=2&before=${first.nextBefore}`)).json());
    expect(second).toMatchObject({ data: [{ question: 'one' }], nextBefore: null });
  });

  it.each(['limit=0', 'limit=x', 'before=-1', 'limit=1.5'])('refuses %s', async (query) => {
    expect(await (await get(`/v1/runs?${query}`)).json()).toMatchObject({ error: { code: 'REQUEST_INVALID', param: query.split('=')[0] } });
  });
});

describe('a run of another tenant', () => {
  it.each([
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/commands'],
  ])('does not exist for %s /v1/runs/{id}%s', async (method, path) => {
    await start();
    const ask = (id: string) =>
      fetch(`${world.url}/v1/runs/${id}${path}`, {
        method,
        headers: { ...b, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: '{"command":"cancel"}' } : {}),
      });
    const [foreign, unknown] = [await ask(world.run()), await ask('run_unknown00')];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(await foreign.json()).toEqual(await unknown.json());
    expect(world.stores.flagged.size).toBe(0);
    expect(world.commands()).toEqual([]);
  });

  it('is not found by a retry of another tenant', async () => {
    await start();
    const response = await start({ ...b, 'x-stainless-retry-count': '1' });
    expect(RunAccepted.parse(await response.json()).attached).toBe(false);
    expect(world.runs()).toHaveLength(2);
  });
});

describe('a command', () => {
  const command = (body: unknown) => world.post(`/v1/runs/${world.run()}/commands`, body, { headers: a });

  it('cancels: the flag first, then the event with its sequence number', async () => {
    await start();
    const response = await command({ command: 'cancel', reason: 'changed my mind' });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ object: 'run.command', runId: world.run(), seq: 1, command: 'cancel', status: 'accepted' });
    expect(world.stores.flagged).toEqual(new Set([world.run()]));
    expect(world.commands()[0]).toMatchObject({
      id: `${world.run()}/command/1`,
      data: { seq: 1, actor: 'key_a', command: { name: 'cancel', reason: 'changed my mind' } },
    });
    expect(await (await command({ command: 'cancel' })).json()).toMatchObject({ seq: 2 });
  });

  it.each([
    [
      { command: 'answer', text: 'yes' },
      { name: 'answer', text: 'yes' },
    ],
    [
      { command: 'override_step', skill: 'research', input: 'x' },
      { name: 'override_step', skill: 'research', input: 'x' },
    ],
  ])('that the strategy does not support is refused, with the supported ones: %j', async (body, sent) => {
    await start();
    const response = await command(body);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(await response.json()).toMatchObject({
      error: {
        code: 'COMMAND_NOT_TAKEN',
        param: 'command',
        message: expect.stringContaining('They take: cancel, pause, resume, steer, add_context.'),
      },
    });
    expect([world.commands(), world.stores.flagged.size]).toEqual([[], 0]);
    // The engine uses this name for the command.
    expect(commandOf(CommandRequest.parse(body))).toEqual(sent);
    expect(await (await command({ command: 'cancel' })).json()).toMatchObject({ seq: 1 });
  });

  it.each([[{ command: 'explode' }], [{ command: 'abort', reason: 'x' }], [{ command: 'steer' }], [{}]])('is refused: %j', async (body) => {
    await start();
    const response = await command(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'REQUEST_INVALID', param: expect.stringMatching(/command|text/) } });
  });

  it('is refused after 500 of them, but for a cancel and the resume of a paused run', async () => {
    await start();
    const of = { name: 'steer', actor: 'key_a' };
    world.write(...Array.from({ length: 500 }, (_, n) => ({ kind: 'command.accepted', seq: n + 1, ...of }) as const));
    const statuses = async () => {
      const sent: number[] = [];
      for (const name of ['steer', 'resume', 'cancel']) sent.push((await command({ command: name, text: 'left' })).status);
      return sent;
    };
    expect(await statuses()).toEqual([409, 409, 202]);
    world.write({ kind: 'command.applied', seq: 500, name: 'pause', epoch: 0 });
    expect(await statuses()).toEqual([409, 202, 202]);
  });

  it('is refused once a cancel was accepted, but for another cancel', async () => {
    await start();
    expect((await command({ command: 'steer', text: 'left' })).status).toBe(202);
    expect((await command({ command: 'cancel' })).status).toBe(202);
    const late = await command({ command: 'steer', text: 'right' });
    expect([late.status, late.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(await late.json()).toMatchObject({
      error: { code: 'COMMAND_REJECTED', message: expect.stringContaining('is being cancelled') },
    });
    expect((await command({ command: 'cancel' })).status).toBe(202);
    expect(world.commands().map(({ data }) => data.command.name)).toEqual(['steer', 'cancel', 'cancel']);
  });

  it('repeats another with the same Idempotency-Key only if it is the same command', async () => {
    await start();
    const keyed = async (body: Record<string, string>) => {
      const response = await world.post(`/v1/runs/${world.run()}/commands`, body, { headers: { ...a, 'idempotency-key': 'k' } });
      return ((await response.json()) as { seq: number }).seq;
    };
    const [left, right] = [
      { command: 'steer', text: 'left' },
      { command: 'steer', text: 'right' },
    ];
    expect(await keyed(left)).toBe(1);
    world.stores.keys.set(`${world.run()}/1`, world.commands()[0]!.data.key!);
    world.write({ kind: 'command.accepted', seq: 1, name: 'steer', actor: 'key_a' });
    expect([await keyed(left), await keyed(right), await keyed({ command: 'cancel' })]).toEqual([1, 2, 3]);
    expect(world.commands().map(({ data }) => data.command.name)).toEqual(['steer', 'steer', 'cancel']);
    expect(world.stores.flagged).toContain(world.run());
  });

  it('is refused for a run that has ended', async () => {
    await start();
    world.write(completed());
    const response = await command({ command: 'cancel' });
    expect(response.status).toBe(409);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(world.commands()).toEqual([]);
  });
});
