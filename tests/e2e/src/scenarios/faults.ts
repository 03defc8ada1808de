import { describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import {
  ask,
  ChatStream,
  CommitteeScript,
  type System,
  expert,
  latch,
  price,
  readRun,
  research,
  runEnd,
  runEvents,
  startRun,
  type TwoHops,
  user,
} from '@conclave/test-support/system';

/** Models that reply with nonsense, fail, or stop in the middle. */
export function faultScenarios(system: () => System, hops: TwoHops): void {
  const url = (): string => system().url();
  const script = (label: string): CommitteeScript => new CommitteeScript(system().models, `What if it fails? (${label})`);
  const nonsense = { text: 'I would rather write a poem.', usage: price.planner };
  const outage = { status: 503, headers: { 'retry-after': '0' }, body: { error: { message: 'overloaded', type: 'server_error' } } };

  describe('a planner that cannot be read', () => {
    it('is asked again twice, with what was wrong', async () => {
      const s = script('two re-asks')
        .planner(nonsense)
        .planner({ ...nonsense, text: '{"tasks":[{"id":"a","task":"t","capability":"shell.run"}]}' })
        .plan([expert('x1', 'Try.')])
        .expert('It goes on.')
        .answer(['It goes on.']);
      const { body } = await ask(url(), { model: 'conclave-fast', messages: user(s.question) });
      expect(body.choices[0]!.message.content).toBe('It goes on.');
      const [, second, third] = s.calls('planner');
      expect(String(second!.messages.at(-1)!.content)).toContain('no JSON');
      expect(String(third!.messages.at(-1)!.content)).toContain('shell.run');
      expect(s.calls()).toHaveLength(5);
      expect(body.usage).toMatchObject(CommitteeScript.tokens(['planner', 'planner', 'planner', 'expert', 'composer']));
      expect((await readRun(url(), body.conclave!.run_id)).rounds[0]!.fallback).toBe(false);
    });

    it('is replaced by a search and one general task after the third time, and the progress says so', async () => {
      const s = script('fallback').planner(nonsense, { times: 3 }).expert('One general answer.').answer(['A general answer.']);
      const chat = await (await ChatStream.open(url(), { model: 'conclave-fast', messages: user(s.question) })).end();
      expect(chat.content).toBe('A general answer.');
      expect(chat.reasoning).toContain('no plan was usable');
      expect((await readRun(url(), chat.runId)).rounds[0]).toMatchObject({
        fallback: true,
        tasks: [{ capability: 'research' }, { capability: 'expert.general', status: 'ok' }, expect.anything()],
      });
      expect(s.calls()).toHaveLength(5);
    });
  });

  it('continues a round in which one expert failed, and names the failure to the composer', async () => {
    const s = script('one expert fails')
      .plan([expert('x1', 'The part that works.'), expert('x2', 'The part that fails.', 'math')])
      .expert('The first part.', { task: 'The part that works.' })
      .expertReply({ status: 400, body: { error: { message: 'cannot', type: 'invalid_request_error' } } }, 'The part that fails.')
      .answer(['Only the first part.']);
    const { status, body } = await ask(url(), { model: 'conclave-fast', messages: user(s.question) });
    expect(status).toBe(200);
    const composer = String(s.calls('composer')[0]!.messages.at(-1)!.content);
    expect(composer).toContain('FAILED TASKS:');
    expect(composer).toContain('The part that fails.');
    const round = (await readRun(url(), body.conclave!.run_id)).rounds[0]!;
    expect(round.tasks.map((task) => [task.capability, task.status])).toEqual([
      ['expert.general', 'ok'],
      ['expert.math', 'error'],
      ['judge.synthesis', 'ok'],
    ]);
    expect(s.calls()).toHaveLength(4);
  });

  it('repeats a call that a server refuses for a moment, and counts what it cost', async () => {
    const s = script('a moment')
      .plan([expert('x1', 'Try.')])
      .expertReply(outage)
      .expert('Now it works.')
      .answer(['It works.']);
    const { status, body } = await ask(url(), { model: 'conclave-fast', messages: user(s.question) });
    expect([status, body.choices[0]!.message.content]).toEqual([200, 'It works.']);
    expect(s.calls('expert')).toHaveLength(2);
    expect(s.calls()).toHaveLength(4);
  });

  describe('a provider that is down', () => {
    const everythingFails = (label: string): CommitteeScript =>
      script(label).planner(outage, { times: Infinity }).expertReply(outage, undefined, Infinity);

    it('fails the run: an OpenAI error with a status, and no apology as content', async () => {
      const s = everythingFails('down');
      const failed = await ask(url(), { model: 'conclave-fast', messages: user(s.question) });
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(failed.body.error).toMatchObject({ message: expect.any(String), type: expect.any(String), code: expect.any(String) });
      expect(failed.headers.get('x-should-retry')).toBe('false');
      const run = await readRun(url(), failed.headers.get('x-run-id')!);
      expect(run).toMatchObject({ outcome: 'failed', answer: null, failure: { code: expect.any(String) } });
      expect(s.calls('composer')).toHaveLength(0);
    });

    it('is an error inside a started stream, which ends without [DONE]', async () => {
      const s = everythingFails('down while streaming');
      const chat = await (await ChatStream.open(url(), { model: 'conclave-fast', messages: user(s.question) })).end();
      expect(chat.sse.response.status).toBe(200);
      expect(chat.error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
      expect(chat.sse.events.at(-1)!.data).toContain('"error"');
      expect(chat.content).toBe('');
      const entries = await runEvents(url(), chat.runId);
      expect(entries.filter((entry) => entry.kind === 'run.completed')).toHaveLength(1);
      expect(entries.at(-1)).toMatchObject({ kind: 'run.completed', outcome: 'failed' });
    });
  });

  describe('an answer that breaks off', () => {
    it('is written again; a chat that showed part of it ends with an error, and its retry gets the whole new answer', async () => {
      const s = script('cut once')
        .plan([expert('x1', 'Try.')])
        .expert('It is so.')
        .composer({ truncateAfter: [{ text: 'The first att' }, { text: 'empt', afterMs: 150 }] })
        .answer(['The second ', 'attempt.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const headers = { 'idempotency-key': `cut-${Date.now()}` };
      const chat = await (await ChatStream.open(url(), body, headers)).end();
      expect(chat.content.startsWith('The first att')).toBe(true);
      expect(chat.error).toBeDefined();
      expect(chat.sse.events.some((event) => event.data === '[DONE]')).toBe(false);
      const again = await (await ChatStream.open(url(), body, headers)).end();
      expect(again.runId).toBe(chat.runId);
      expect(again.content).toBe('The second attempt.');
      const entries = await runEvents(url(), chat.runId);
      expect(entries.find((entry) => entry.kind === 'superseded')).toMatchObject({ taskId: expect.stringContaining('judge.synthesis') });
      expect(s.calls('composer')).toHaveLength(2);
      expect(s.calls()).toHaveLength(4);
    });

    it('twice leaves the answer to the ledger: outcome unchanged, reason composer_failed', async () => {
      const s = script('cut twice')
        .plan([expert('x1', 'Try.')])
        .expert('The finding stays.')
        .composer({ truncateAfter: [{ text: 'Half of' }], cleanly: true }, 2);
      const { status, body } = await ask(url(), { model: 'conclave-fast', messages: user(s.question) });
      expect(status).toBe(200);
      expect(body.choices[0]!.message.content).toContain('The finding stays.');
      const run = await readRun(url(), body.conclave!.run_id);
      expect(run).toMatchObject({ outcome: 'completed', reasonCode: 'composer_failed' });
      expect(s.calls('composer')).toHaveLength(2);
    });

    it('at its token limit is an answer with finish_reason length', async () => {
      const s = script('length')
        .plan([expert('x1', 'Try.')])
        .expert('Long.')
        .composer({ text: 'A long answer that', finish: 'length', usage: price.composer });
      const { body } = await ask(url(), { model: 'conclave-fast', messages: user(s.question), max_tokens: 5 });
      expect(body.choices[0]!).toMatchObject({ finish_reason: 'length', message: { content: 'A long answer that' } });
      expect(s.calls('composer')[0]!.body['max_tokens'] ?? s.calls('composer')[0]!.body['max_completion_tokens']).toBe(5);
      expect(s.calls('planner')[0]!.body['max_tokens']).toBeUndefined();
    });
  });

  it.each([1, 2])('lets one expert answer, without a plan, if the request allows only %i model calls', async (calls) => {
    const s = script(`${calls} calls`).expertReply({ text: 'One expert says so.', usage: price.expert });
    const { status, body } = await ask(url(), { model: 'conclave', messages: user(s.question), conclave: { model_calls: calls } });
    expect([status, body.choices[0]!.message.content]).toEqual([200, 'One expert says so.']);
    expect(body.conclave).toMatchObject({ outcome: 'limit_reached', rule: 'D2' });
    expect(body.usage).toMatchObject(CommitteeScript.tokens(['expert']));
    expect(s.calls()).toHaveLength(1);
  });

  it('charges the run for a plan that does not come in time', async () => {
    const held = latch();
    const s = script('late plan').planner({ hang: true }).expert('It was not planned.', { when: held.opened });
    const { body } = await startRun(url(), { model: 'plans-briefly', input: s.question });
    const used = async (): Promise<number> => (await readRun(url(), body.id)).usage.total.calls;
    await until('the plan is charged', async () => (await used()) === 1);
    held.open();
    s.answer(['It was not planned.']);
    const run = await runEnd(url(), body.id);
    expect([run.usage.total.calls, run.usage.openCalls]).toEqual([s.calls().length, 0]);
    expect(s.calls('planner')[0]!.abortedAt).not.toBeNull();
  });

  it('finishes with what it has when the wall time is nearly over, and says so', async () => {
    const s = script('out of time')
      .plan([research('r1', `${hops.thing} founded`), expert('x1', 'Wait for ever.')])
      .expertReply({ hang: true })
      .answer([`As far as it is known: ${hops.person} [1].`]);
    const { status, body } = await ask(url(), { model: 'conclave', messages: user(s.question), conclave: { wall_time_s: 3 } });
    expect(status).toBe(200);
    expect(body.choices[0]!.message.content).toContain(hops.person);
    expect(body.conclave).toMatchObject({ outcome: 'limit_reached', rule: 'D2' });
    expect(s.calls('expert')[0]!.abortedAt).not.toBeNull();
    expect(String(s.calls('composer')[0]!.messages.at(-1)!.content)).toContain('FAILED TASKS:');
    expect(s.calls()).toHaveLength(3);
  });
}
