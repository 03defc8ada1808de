import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type ServedCall, until } from '@conclave/test-support';
import {
  allMetrics,
  ChatStream,
  CommitteeScript,
  composedText,
  System,
  entriesOf,
  expert,
  latch,
  repeatedFinished,
  runEnd,
  runEvents,
  type ServiceName,
  SseStream,
  startRun,
  streamFaults,
  sumOf,
  user,
} from '@conclave/test-support/system';
import { knowledgeScenarios } from './scenarios/knowledge.js';

// Every case ends one process with SIGKILL while it has work in progress; the supervisor starts it again. These are the deaths that a
// client notices, and what the client sees; deaths at every point of handling a record are in the kill matrix of tests/faults.
/** Long enough for every client here that comes back. */
const parkS = 8;
let system: System;

beforeAll(async () => {
  system = await System.start({
    gateways: 2,
    configuration: { gateway: { park_s: parkS } },
  });
});
afterAll(() => system?.stop());
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

const script = (label: string): CommitteeScript => new CommitteeScript(system.models, `Who survives? (${label})`);
const begin = async (question: string, model = 'conclave-fast', rest: object = {}): Promise<string> =>
  (await startRun(system.url(2), { model, input: question, ...rest })).body.id;

/** Kills the process of a service and waits until SIGKILL has ended it. */
async function kill(service: ServiceName, n = 1): Promise<void> {
  const { signal } = await system.process(service, n).kill('SIGKILL');
  expect(signal).toBe('SIGKILL');
}
const bound = 40_000;
const seenTwice = (calls: readonly ServedCall[]): number =>
  calls.length - new Set(calls.map(({ messages }) => JSON.stringify(messages))).size;
/** Calls that a process handed back to the next one during its orderly stop; these are not repeats after a death. */
let handedBack = 0;
async function survived(id: string, s: CommitteeScript): Promise<Awaited<ReturnType<typeof runEnd>>> {
  const run = await until(`the end of ${id}`, () => runEnd(system.url(2), id, bound), { timeoutMs: bound });
  expect(streamFaults(await runEvents(system.url(2), id))).toEqual([]);
  expect(repeatedFinished(s.calls())).toEqual([]);
  return run;
}

describe('a process that ends', () => {
  it('as the judge in the middle of the answer: the new attempt supersedes the text sent so far, and is counted', async () => {
    const before = sumOf(await allMetrics(system), 'conclave_duplicate_calls_total');
    const s = script('mid-stream')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .composer({ stallAfter: [{ text: 'Words of the first attempt' }] })
      .answer(['The second ', 'attempt is whole.']);
    const id = await begin(s.question);
    const events = await SseStream.open(`${system.url(2)}/v1/runs/${id}/events`);
    await events.event('the first words', ({ name }) => name === 'chunk');
    await kill('merger');
    expect(await survived(id, s)).toMatchObject({ outcome: 'completed', answer: 'The second attempt is whole.' });
    const entries = await runEvents(system.url(2), id);
    const mark = entries.findIndex((entry) => entry.kind === 'superseded');
    expect(entries[mark]).toMatchObject({ discarded: 'Words of the first attempt'.length });
    expect(entries.findIndex((entry) => entry.kind === 'chunk' && entry.text.startsWith('The second'))).toBeGreaterThan(mark);
    expect(composedText(entries)).toBe('The second attempt is whole.');
    expect(s.calls('composer')).toHaveLength(2);
    expect(s.calls()).toHaveLength(4);
    expect(sumOf(await allMetrics(system), 'conclave_duplicate_calls_total') - before).toBe(1);
  });

  it('as the judge in the middle of the answer that a chat shows: its retry attaches and gets the whole new attempt', async () => {
    const gate = latch();
    const s = script('mid-stream chat')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .composer({ stallAfter: [{ text: 'Words of the first attempt' }] })
      .answer(['The second ', { text: 'attempt ', when: gate.opened }, { text: 'is whole.', afterMs: 200 }]);
    const body = { model: 'conclave-fast', messages: user(s.question) };
    const headers = { 'idempotency-key': `chat-${Date.now()}` };
    const chat = await ChatStream.open(system.url(2), body, headers);
    await chat.shows('Words of the first attempt');
    const { runId } = chat;
    await kill('merger');
    await chat.end(bound);
    // In a single process the gateway dies with its judge; a separate gateway reports what happened.
    if (system.mode === 'embedded') expect([chat.sse.ended, chat.error]).toEqual(['cut', undefined]);
    else
      expect([chat.sse.ended, chat.error]).toEqual([
        'closed',
        expect.objectContaining({ code: 'ANSWER_SUPERSEDED', message: expect.stringContaining('same Idempotency-Key') }),
      ]);
    expect(chat.sse.events.some(({ data }) => data === '[DONE]')).toBe(false);
    await system.process('gateway', 2).ready();
    const retry = await ChatStream.open(system.url(2), body, headers);
    await until('the second attempt', () => s.calls('composer').length === 2, { timeoutMs: bound });
    gate.open();
    await retry.end();
    expect([retry.runId, retry.content, retry.error]).toEqual([runId, 'The second attempt is whole.', undefined]);
    expect(retry.sse.events.at(-1)!.data).toBe('[DONE]');
    expect(await survived(runId, s)).toMatchObject({ outcome: 'completed', answer: 'The second attempt is whole.' });
    const marks = (await runEvents(system.url(2), runId)).filter((entry) => entry.kind === 'superseded');
    expect(marks).toEqual([expect.objectContaining({ attempt: 2, discarded: 'Words of the first attempt'.length })]);
    expect(s.calls('composer')).toHaveLength(2);
    expect(s.calls()).toHaveLength(4);
  });

  it('as the judge before the first word: the waiting chat continues with the new attempt', async () => {
    const s = script('before the first word')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .composer({ hang: true })
      .answer(['Nobody ', 'noticed.']);
    const body = { model: 'conclave-fast', messages: user(s.question) };
    const headers = { 'idempotency-key': `quiet-${Date.now()}` };
    let chat = await ChatStream.open(system.url(2), body, headers);
    const { runId } = chat;
    await until('the composer to be asked', () => s.calls('composer').length === 1, { timeoutMs: 20_000 });
    await kill('merger');
    if (system.mode === 'embedded') {
      await chat.end();
      await system.process('gateway').ready();
      chat = await ChatStream.open(system.url(2), body, headers);
    }
    await chat.end(bound);
    expect([chat.runId, chat.content, chat.error]).toEqual([runId, 'Nobody noticed.', undefined]);
    await survived(runId, s);
    expect(s.calls()).toHaveLength(4);
  });

  it('as the gateway of the OpenAI client that waits for a whole answer: its own retry attaches to the run', async () => {
    const gate = latch();
    const reply = ['One run, ', { text: 'one answer.', when: gate.opened }] as const;
    const s = script('whole answer')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .answer(reply)
      .answer(reply);
    const client = new OpenAI({ baseURL: `${system.url(1)}/v1`, apiKey: 'sk-anything', maxRetries: 8 });
    const answer = client.chat.completions
      .create({ model: 'conclave-fast', messages: [{ role: 'user', content: s.question }] })
      .withResponse();
    await until('the composer to be asked', () => s.calls('composer').length === 1, { timeoutMs: 20_000 });
    await kill('gateway', 1);
    gate.open();
    const { data, response } = await answer;
    expect(data.choices[0]!.message.content).toBe('One run, one answer.');
    await survived(response.headers.get('x-run-id')!, s);
    expect(s.calls('planner')).toHaveLength(1);
    expect(s.calls()).toHaveLength(system.mode === 'embedded' ? 4 : 3);
  });

  it('as the gateway while it streams: the run is not affected, and another gateway resumes the stream without a gap', async () => {
    const gate = latch();
    const reply = ['Before the end ', { text: 'and after it.', when: gate.opened }] as const;
    const s = script('gateway')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .answer(reply)
      .answer(reply);
    const body = { model: 'conclave-fast', messages: user(s.question) };
    const headers = { 'idempotency-key': `gateway-${Date.now()}` };
    const chat = await ChatStream.open(system.url(1), body, headers);
    await chat.shows('Before the end');
    const { runId } = chat;
    const events = await SseStream.open(`${system.url(1)}/v1/runs/${runId}/events`);
    await events.event('the first words', ({ name }) => name === 'chunk');
    await kill('gateway', 1);
    expect((await chat.sse.end()).ended).toBe('cut');
    await events.end();
    const seen = [...entriesOf(events)];
    await system.process('gateway', 2).ready();
    const rest = await SseStream.open(`${system.url(2)}/v1/runs/${runId}/events`, {
      headers: { 'last-event-id': String(seen.at(-1)!.id) },
    });
    gate.open();
    seen.push(...entriesOf(await rest.end(bound)));
    expect(streamFaults(seen)).toEqual([]);
    expect(composedText(seen)).toBe('Before the end and after it.');
    const run = await survived(runId, s);
    expect(run).toMatchObject({ outcome: 'completed', answer: 'Before the end and after it.' });
    const retry = await (await ChatStream.open(system.url(2), body, headers)).end();
    expect([retry.runId, retry.content]).toEqual([runId, 'Before the end and after it.']);
    // In a single process the call for the answer dies with its gateway; in a separate process it is not affected.
    expect(s.calls()).toHaveLength(system.mode === 'embedded' ? 4 : 3);
  });

  it.each([
    ['killed', 'SIGKILL'],
    ['told to stop', 'SIGTERM'],
  ] as const)(
    'as the gateway of clients that wait, and is %s: their runs are parked, and end cancelled unless a client comes back',
    async (how, signal) => {
      const gate = latch();
      const waiting = (label: string): CommitteeScript => {
        const s = script(label).plan([expert('x1', 'Go on.')]);
        return s.expert('Fine.', { when: gate.opened }).expert('Fine.', { when: gate.opened }).answer(['Somebody ', 'waited.']);
      };
      const [back, lost] = [waiting(`comes back, ${how}`), waiting(`never comes back, ${how}`)];
      await system.process('gateway', 1).ready();
      const open = (s: CommitteeScript, n: 1 | 2): Promise<ChatStream> =>
        ChatStream.open(system.url(n), { model: 'conclave-fast', messages: user(s.question) }, { 'idempotency-key': s.question });
      const chats = [await open(back, 1), await open(lost, 1)];
      const [backId, lostId] = chats.map(({ runId }) => runId) as [string, string];
      await until('the experts to be asked', () => back.calls('expert').length + lost.calls('expert').length === 2, { timeoutMs: 20_000 });
      const before = system.mode === 'embedded' ? 0 : sumOf(await allMetrics(system), 'conclave_parked_runs_total');
      const gateway = system.process('gateway', 1);
      await gateway.kill(signal);
      if (signal === 'SIGTERM') await gateway.restart();
      const parked = async (): Promise<boolean> => sumOf(await allMetrics(system), 'conclave_parked_runs_total') - before >= 2;
      await until('both runs to be parked', parked, { timeoutMs: 15_000, everyMs: 100 });
      const parkedAt = Date.now();
      // Calls in flight come to their end; no further call is made.
      gate.open();
      const retry = await open(back, 2);
      expect(retry.runId).toBe(backId);
      await retry.end(bound);
      expect([retry.content, retry.error]).toEqual(['Somebody waited.', undefined]);
      await survived(backId, back);
      const run = await until('the end of the run that nobody waits for', () => runEnd(system.url(2), lostId, bound), { timeoutMs: bound });
      expect(run).toMatchObject({ outcome: 'cancelled' });
      expect(lost.calls().filter(({ at }) => at > parkedAt)).toEqual([]);
      expect(lost.calls('composer')).toEqual([]);
      if (signal === 'SIGTERM') handedBack += seenTwice([...back.calls(), ...lost.calls()]);
    },
  );

  it('leaves no lag, no dead letter and no open stream behind, and the next run works normally', async () => {
    for (const process of system.all().values()) await process.ready();
    const s = script('afterwards')
      .plan([expert('x1', 'Go on.')])
      .expert('All is well.')
      .answer(['All is well.']);
    const id = await begin(s.question);
    expect(await survived(id, s)).toMatchObject({ outcome: 'completed', answer: 'All is well.' });
    await until('the end of all work', async () => sumOf(await allMetrics(system), 'conclave_consumer_lag_records') === 0, {
      timeoutMs: 15_000,
      everyMs: 200,
    });
    const samples = await allMetrics(system);
    expect([sumOf(samples, 'conclave_dead_letters_total'), sumOf(samples, 'conclave_streams_open')]).toEqual([0, 0]);
    // Whatever processes have died since, all calls that the upstream saw twice are counted.
    const twice = seenTwice(system.models.calls) - handedBack;
    expect(twice).toBeGreaterThan(2);
    const counted = sumOf(samples, 'conclave_duplicate_calls_total') - twice;
    expect(counted).toBe(0);
  });
});

knowledgeScenarios(() => system);
