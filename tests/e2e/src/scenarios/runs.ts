import { describe, expect, it } from '@jest/globals';
import type { RunList } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  allMetrics,
  ask,
  ChatStream,
  command,
  CommitteeScript,
  composedText,
  type System,
  entriesOf,
  expert,
  latch,
  readRun,
  runEnd,
  runEvents,
  SseStream,
  startRun,
  sumOf,
  user,
} from '@conclave/test-support/system';

/** Runs by their id: started, read, listed, followed, resumed, cancelled, repeated. */
export function runScenarios(system: () => System): void {
  const url = (): string => system().url();
  const script = (label: string): CommitteeScript => new CommitteeScript(system().models, `How does a run go? (${label})`);
  const whole = (label: string): CommitteeScript =>
    script(label)
      .plan([expert('x1', 'Say how.')])
      .expert('From its plan to its end.')
      .answer(['From plan ', 'to end.']);

  describe('a run started through /v1/runs', () => {
    it('is accepted immediately, outlives its client, and can be read and listed', async () => {
      const s = whole('outlives');
      const accepted = await startRun(url(), { model: 'conclave-fast', input: s.question });
      expect(accepted.status).toBe(202);
      const { id, links } = accepted.body;
      expect(accepted.headers.get('location')).toBe(links.self);
      expect(links).toEqual({ self: `/v1/runs/${id}`, events: `/v1/runs/${id}/events`, commands: `/v1/runs/${id}/commands` });
      const run = await runEnd(url(), id);
      expect(run).toMatchObject({
        status: 'completed',
        outcome: 'completed',
        rule: 'D6',
        answer: 'From plan to end.',
        question: s.question,
        usage: { total: { calls: 3 } },
      });
      expect(run.usage.items.reduce((sum, item) => sum + item.usage.prompt, 0)).toBe(run.usage.total.prompt);
      const list = (await (await fetch(`${url()}/v1/runs?limit=5`)).json()) as RunList;
      expect(list.data.find((item) => item.id === id)).toMatchObject({
        object: 'run',
        terminal: true,
        status: 'completed',
        question: s.question,
      });
      expect(s.calls()).toHaveLength(3);
    });

    it('keeps one gap-free stream over cut connections, resumable from any id', async () => {
      const gates = [latch(), latch()];
      const s = script('resumed')
        .plan([expert('x1', 'Say how.')])
        .expert('From its plan to its end.')
        .answer(['One ', { text: 'two ', when: gates[0]!.opened }, { text: 'three.', when: gates[1]!.opened }]);
      const { id } = (await startRun(url(), { model: 'conclave-fast', input: s.question })).body;
      const events = `${url()}/v1/runs/${id}/events`;
      const first = await SseStream.open(events);
      await first.event('the plan', ({ name }) => name === 'plan.ready');
      await first.event('the first words', ({ name }) => name === 'chunk');
      first.leave();
      await first.end();
      const seen = [...entriesOf(first)];
      const second = await SseStream.open(events, { headers: { 'last-event-id': String(seen.at(-1)!.id) } });
      gates[0]!.open();
      await second.event('the next words', ({ data }) => !!data?.includes('two'));
      second.leave();
      await second.end();
      seen.push(...entriesOf(second));
      gates[1]!.open();
      const third = await (await SseStream.open(`${events}?after=${seen.at(-1)!.id}`)).end();
      expect(third.ended).toBe('closed');
      seen.push(...entriesOf(third));

      expect(seen.map((entry) => entry.id)).toEqual(seen.map((_, index) => index + 1));
      expect(composedText(seen)).toBe('One two three.');
      expect(seen.at(-1)).toMatchObject({ kind: 'run.completed', answer: 'One two three.' });
      const all = await runEvents(url(), id);
      expect(seen).toEqual(all);
      for (const after of [1, Math.floor(all.length / 2), all.length - 1])
        expect(await runEvents(url(), id, after)).toEqual(all.slice(after));
      const outside = await (await SseStream.open(events, { headers: { 'last-event-id': '9999' } })).end();
      expect(JSON.parse(outside.events[0]!.data!)).toMatchObject({ kind: 'snapshot', runId: id, last: all.length, text: 'One two three.' });
      expect(s.calls()).toHaveLength(3);
    });

    it('is ended by the cancel command, and its upstream call within a second', async () => {
      const s = script('cancelled')
        .plan([expert('x1', 'Say how.')])
        .expertReply({ stallAfter: [{ text: 'I am thinking' }] });
      const { id } = (await startRun(url(), { model: 'conclave-fast', input: s.question })).body;
      await until('the expert to be asked', () => s.calls('expert').length === 1);
      const at = Date.now();
      const accepted = await command(url(), id, { command: 'cancel', reason: 'enough' });
      expect(accepted.status).toBe(202);
      expect(await accepted.json()).toMatchObject({ object: 'run.command', runId: id, command: 'cancel', status: 'accepted' });
      await until('the abort upstream', () => s.calls('expert')[0]!.abortedAt);
      expect(s.calls('expert')[0]!.abortedAt! - at).toBeLessThan(1_000);
      const run = await runEnd(url(), id);
      expect(run).toMatchObject({ outcome: 'cancelled', rule: 'D1', answer: null });
      const entries = await runEvents(url(), id);
      expect(entries.filter((entry) => entry.kind === 'run.completed')).toHaveLength(1);
      expect(entries.some((entry) => entry.kind === 'command.applied' && entry.name === 'cancel')).toBe(true);
      expect((await command(url(), id, { command: 'cancel' })).status).toBe(409);
      expect(s.calls()).toHaveLength(2);
    });

    it('starts nothing while it is paused, even when its plan has arrived, and continues when it is resumed', async () => {
      const gate = latch();
      const s = script('paused')
        .plan([expert('x1', 'Say how.')], { when: gate.opened })
        .expert('From its plan to its end.')
        .answer(['From plan ', 'to end.']);
      const { id } = (await startRun(url(), { model: 'conclave-fast', input: s.question })).body;
      await until('the planner to be asked', () => s.calls('planner').length === 1);
      expect((await command(url(), id, { command: 'pause' })).status).toBe(202);
      await until('the pause', async () => (await readRun(url(), id)).status === 'paused');
      gate.open();
      await until('the plan', async () => (await readRun(url(), id)).usage.total.calls === 1);
      expect(await readRun(url(), id)).toMatchObject({ status: 'paused', terminal: false });
      expect(s.calls()).toHaveLength(1);
      expect((await command(url(), id, { command: 'resume' })).status).toBe(202);
      expect(await runEnd(url(), id)).toMatchObject({ outcome: 'completed', answer: 'From plan to end.' });
      expect(s.calls()).toHaveLength(3);
    });

    it('refuses an unknown command and an unknown run', async () => {
      const { id } = (await startRun(url(), { model: 'conclave-fast', input: whole('commands').question })).body;
      expect((await command(url(), id, { command: 'dance' })).status).toBe(400);
      expect((await command(url(), 'run_0000000000', { command: 'cancel' })).status).toBe(404);
      await runEnd(url(), id);
    });
  });

  describe('a repeated request', () => {
    it('attaches to the run of its Idempotency-Key, also after the run has ended', async () => {
      const gate = latch();
      const s = script('repeated')
        .plan([expert('x1', 'Say how.')], { when: gate.opened })
        .expert('So.')
        .answer(['So ', 'it goes.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const headers = { 'idempotency-key': `key-${Date.now()}` };
      const first = await ChatStream.open(url(), body, headers);
      await first.sse.event('the role', () => true);
      const second = await ChatStream.open(url(), body, headers);
      expect(second.runId).toBe(first.runId);
      gate.open();
      await Promise.all([first.end(), second.end()]);
      expect([first.content, second.content]).toEqual(['So it goes.', 'So it goes.']);
      const third = await (await ChatStream.open(url(), body, headers)).end();
      expect([third.runId, third.content]).toEqual([first.runId, 'So it goes.']);
      expect(s.calls()).toHaveLength(3);
    });

    it('is a separate run without such a header', async () => {
      const s = whole('equal')
        .plan([expert('x1', 'Say how.')])
        .expert('Again.')
        .answer(['Again.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const one = await ask(url(), body);
      const two = await ask(url(), body);
      expect(one.headers.get('x-run-id')).not.toBe(two.headers.get('x-run-id'));
      expect(s.calls()).toHaveLength(6);
    });
  });

  it('refuses requests above the limit of open runs with 429 and Retry-After, and accepts none of them', async () => {
    const limit = 4;
    const gate = latch();
    const open = await Promise.all(
      Array.from({ length: limit }, async (_, n) => {
        const s = script(`filling ${n}`)
          .plan([expert('x1', 'Wait.')], { when: gate.opened })
          .expert('Done.')
          .answer(['Done.']);
        return (await startRun(url(), { model: 'conclave-fast', input: s.question })).body.id;
      }),
    );
    const refused = script('refused');
    for (const answer of [
      await ask(url(), { model: 'conclave', messages: user(refused.question) }),
      await ask(url(), { model: 'conclave', messages: user(refused.question), stream: true }),
      await startRun(url(), { model: 'conclave', input: refused.question }),
    ]) {
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(answer.body.error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
    }
    const list = (await (await fetch(`${url()}/v1/runs?limit=20`)).json()) as RunList;
    expect(list.data.filter((item) => item.question === refused.question)).toEqual([]);
    gate.open();
    for (const id of open) expect((await runEnd(url(), id)).outcome).toBe('completed');
    const later = whole('after the rush');
    expect((await ask(url(), { model: 'conclave-fast', messages: user(later.question) })).status).toBe(200);
    expect(refused.calls()).toHaveLength(0);
  });

  describe('a client that disconnects', () => {
    const ended = async (runId: string): Promise<void> => {
      expect(await runEnd(url(), runId)).toMatchObject({ outcome: 'cancelled', rule: 'D1' });
      const entries = await runEvents(url(), runId);
      expect(entries.filter((entry) => entry.kind === 'run.completed')).toHaveLength(1);
    };
    const abortedWithin = async (s: CommitteeScript, role: 'planner' | 'expert' | 'composer', at: number): Promise<void> => {
      await until(`the ${role}'s call to be aborted`, () => s.calls(role)[0]!.abortedAt);
      expect(s.calls(role)[0]!.abortedAt! - at).toBeLessThan(1_000);
    };

    it('in the middle of a streamed answer stops the call upstream within a second', async () => {
      const cancelled = sumOf(await allMetrics(system()), 'conclave_model_calls_total', { status: 'cancelled' });
      const s = script('left mid-stream')
        .plan([expert('x1', 'Say how.')])
        .expert('So.')
        .composer({ stallAfter: [{ text: 'Half of the ans' }] });
      const chat = await ChatStream.open(url(), { model: 'conclave-fast', messages: user(s.question) });
      await chat.shows('Half');
      const { runId } = chat;
      chat.sse.leave();
      await abortedWithin(s, 'composer', Date.now());
      await ended(runId);
      // The tokens of the call that was cut off are in the ledger, although the run was over before they were known.
      await until(
        'the record of the cut call',
        async () => sumOf(await allMetrics(system()), 'conclave_model_calls_total', { status: 'cancelled' }) > cancelled,
      );
      expect(s.calls()).toHaveLength(3);
    });

    it('before any content stops the call upstream within a second', async () => {
      const s = script('left while planning').planner({ hang: true });
      const chat = await ChatStream.open(url(), { model: 'conclave', messages: user(s.question) });
      await until('the planner to be asked', () => s.calls('planner').length === 1);
      const { runId } = chat;
      chat.sse.leave();
      await abortedWithin(s, 'planner', Date.now());
      await ended(runId);
      expect(s.calls()).toHaveLength(1);
    });

    it('without a stream stops the call upstream within a second', async () => {
      const s = script('left unstreamed')
        .plan([expert('x1', 'Say how.')])
        .expertReply({ hang: true });
      const leaving = new AbortController();
      const answer = ask(url(), { model: 'conclave', messages: user(s.question) }, {}, leaving.signal).catch((error: Error) => error.name);
      await until('the expert to be asked', () => s.calls('expert').length === 1);
      leaving.abort();
      await abortedWithin(s, 'expert', Date.now());
      expect(await answer).toBe('AbortError');
      const list = (await (await fetch(`${url()}/v1/runs?limit=5`)).json()) as RunList;
      await ended(list.data.find((item) => item.question === s.question)!.id);
      expect(s.calls()).toHaveLength(2);
    });

    it('with an Idempotency-Key parks the run: its call continues to its end, no other starts, and nothing is paid twice when the client comes back', async () => {
      const gate = latch();
      const parked = async (): Promise<number> => sumOf(await allMetrics(system()), 'conclave_parked_runs_total');
      const before = await parked();
      const s = script('left with a key')
        .plan([expert('x1', 'Say how.')])
        .expert('So.', { when: gate.opened })
        .answer(['It was ', 'worth waiting.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const headers = { 'idempotency-key': `back-${Date.now()}` };
      const first = await ChatStream.open(url(), body, headers);
      await until('the expert to be asked', () => s.calls('expert').length === 1);
      first.sse.leave();
      await first.end();
      await until('the parked run', async () => (await parked()) > before);
      gate.open();
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect([s.calls('expert')[0]!.abortedAt, s.calls('composer').length]).toEqual([null, 0]);
      const second = await ChatStream.open(url(), body, headers);
      expect(second.runId).toBe(first.runId);
      expect((await second.end()).content).toBe('It was worth waiting.');
      expect(s.calls()).toHaveLength(3);
    });

    it('in an SDK that retries stops the upstream call within a second, and the retry continues the same run', async () => {
      const s = script('left by an SDK')
        .plan([expert('x1', 'Say how.')])
        .expertReply({ hang: true })
        .expert('So.')
        .answer(['Once more.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const first = await ChatStream.open(url(), body, { 'x-stainless-retry-count': '0' });
      await until('the expert to be asked', () => s.calls('expert').length === 1);
      first.sse.leave();
      await abortedWithin(s, 'expert', Date.now());
      const second = await ChatStream.open(url(), body, { 'x-stainless-retry-count': '1' });
      expect(second.runId).toBe(first.runId);
      expect((await second.end()).content).toBe('Once more.');
      expect([s.calls('planner').length, s.calls('expert').length, s.calls('composer').length]).toEqual([1, 2, 1]);
    });

    it('leaves the run to the other client that is attached to it', async () => {
      const gate = latch();
      const s = script('one of two left')
        .plan([expert('x1', 'Say how.')], { when: gate.opened })
        .expert('So.')
        .answer(['It stays.']);
      const body = { model: 'conclave-fast', messages: user(s.question) };
      const headers = { 'idempotency-key': `two-${Date.now()}` };
      const first = await ChatStream.open(url(), body, headers);
      await first.sse.event('the role', () => true);
      const second = await ChatStream.open(url(), body, headers);
      await second.sse.event('the role', () => true);
      first.sse.leave();
      await first.end();
      gate.open();
      expect((await second.end()).content).toBe('It stays.');
      expect(s.calls()).toHaveLength(3);
    });
  });
}
