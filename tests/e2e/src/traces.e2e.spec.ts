import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until, type ReceivedSpan, TraceReceiver } from '@conclave/test-support';
import {
  ask,
  command,
  CommitteeScript,
  expert,
  latch,
  logText,
  providerKey,
  research,
  runEnd,
  startRun,
  System,
  twoHops,
  user,
} from '@conclave/test-support/system';
import { describeOnce } from './harness/describe-once.js';

const hops = twoHops();
/** Used in a question, in system messages, answers and arguments; no span may contain it. */
const secretWord = 'quicksilverharbour';
const clientKey = 'sk-client-canary-traces-31f0';
const clientSpan = 'c'.repeat(16);
let receiver: TraceReceiver;
let system: System;

beforeAll(async () => {
  receiver = await TraceReceiver.start();
  system = await System.start({
    corpus: hops.documents,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of%20the%20collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      LOG_LEVEL: 'debug',
    },
  });
});
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
});

/** Spans without a parent in their trace. */
const tops = (spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans.filter(({ parentId }) => parentId === null || !ids.has(parentId));
};
const named = (spans: readonly ReceivedSpan[], name: string | RegExp): readonly ReceivedSpan[] =>
  spans.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)));

/** The trace of a run after the knowledge graph has handled its end and its request (a name of spans, if one is recorded) has ended: no span follows. */
async function traceOf(runId: string, request?: string): Promise<readonly ReceivedSpan[]> {
  return until(
    `the whole trace of ${runId}`,
    () => {
      const [traceId = ''] = receiver.tracesOf(runId);
      const spans = receiver.trace(traceId);
      const isWhole =
        named(spans, /^invoke_workflow/).length > 0 &&
        // The answer of a request may be sent, and the graph be done, a batch before the request itself ends.
        (request === undefined || named(spans, request).length > 0) &&
        named(spans, 'process run.completed').some(({ service }) => service === 'conclave-graph-ingest');
      // A parent may still wait in a batch of another process.
      return isWhole && tops(spans).length === 1 && spans;
    },
    { timeoutMs: 20_000, everyMs: 100 },
  ).catch((error: unknown) => {
    const found = receiver.tracesOf(runId).map((id) => receiver.trace(id));
    throw new Error(
      `${String(error)}: ${JSON.stringify(found.map((spans) => tops(spans).map(({ name, parentId, service }) => ({ name, parentId, service }))))}`,
    );
  });
}

/** A run of two rounds, and its whole trace. */
async function tracedRun(what: string, headers: Record<string, string> = {}) {
  const s = new CommitteeScript(system.models, `${hops.question} ${what} ${secretWord}`)
    .plan([research('r1', `${hops.thing} founded ${secretWord}`), expert('x1', 'Who?'), expert('x2', 'When?')])
    .expert(`It was ${hops.person}, ${secretWord}.`, { task: 'Who?' })
    .expert(`In 1871, ${secretWord}.`, { task: 'When?' })
    .gap(`the birthplace ${secretWord}`, 'Where?')
    .plan([research('r2', `${hops.person} born`)], { iteration: 1 })
    .complete()
    .answer([`${hops.place}, ${secretWord}.`]);
  const messages = [{ role: 'system', content: `Be brief, ${secretWord}.` }, ...user(s.question)];
  const { status, headers: got } = await ask(
    system.url(),
    { model: 'conclave', messages },
    { authorization: `Bearer ${clientKey}`, ...headers },
  );
  expect([status, s.unused()]).toEqual([200, []]);
  const runId = got.get('x-run-id')!;
  return { runId, calls: s.calls().length, spans: await traceOf(runId, 'POST /v1/chat/completions') };
}

describe('traces', () => {
  it('are one trace per run with one root through all five services, below the span of the client, without any text of users or models', async () => {
    const traceId = 'a1'.repeat(16);
    const { runId, calls, spans } = await tracedRun('(traced)', { traceparent: `00-${traceId}-${clientSpan}-01` });
    expect(receiver.tracesOf(runId)).toEqual([traceId]);
    expect(tops(spans)).toEqual([expect.objectContaining({ name: 'invoke_workflow conclave', parentId: clientSpan })]);
    expect(new Set(spans.map(({ service }) => service))).toEqual(
      new Set(['gateway', 'planner', 'experts', 'merger', 'graph-ingest'].map((name) => `conclave-${name}`)),
    );

    const [request] = named(spans, 'POST /v1/chat/completions');
    expect(request).toMatchObject({ kind: 'server', service: 'conclave-gateway', parentId: tops(spans)[0]!.spanId });
    expect(request!.attributes).toMatchObject({ 'http.response.status_code': 200, 'http.route': '/v1/chat/completions' });
    expect(tops(spans)[0]!.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'conclave',
      'conclave.run.id': runId,
      'conclave.run.outcome': 'completed',
      'conclave.run.rounds': 2,
    });

    const asked = named(spans, /^chat /);
    expect(asked.length).toBeGreaterThan(3);
    expect(new Set(asked.map(({ attributes }) => attributes['gen_ai.workflow.name']))).toEqual(new Set(['conclave']));

    // Every record is sent once and handled by each of its consumers.
    const sent = named(spans, /^send /);
    expect(new Set(sent.map(({ attributes }) => attributes['messaging.destination.name']))).toEqual(
      new Set([
        'plan.requested',
        'plan.created',
        'tasks.dispatched.evidence',
        'tasks.dispatched.expert',
        'tasks.dispatched.judge',
        'results.ready',
        'gap.detected',
        'run.completed',
      ]),
    );
    expect(sent.every(({ kind }) => kind === 'producer')).toBe(true);
    const [gap] = named(spans, 'send gap.detected');
    expect(named(spans, 'process gap.detected')).toEqual([
      expect.objectContaining({ kind: 'consumer', parentId: gap!.spanId, service: 'conclave-planner' }),
    ]);
    expect(gap!.attributes).toMatchObject({
      'messaging.system': system.mode === 'embedded' ? 'conclave' : 'kafka',
      'messaging.operation.type': 'send',
      'messaging.message.id': `${runId}/0/gap`,
    });

    // The engine's rules, the second round, and what the synthesis joins.
    const steps = named(spans, /^engine step/);
    expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['engine step D9', 'engine step D3']));
    expect(steps.flatMap(({ events }) => events)).toEqual(['re-plan']);
    const joined = steps.filter(({ links }) => links.length > 0);
    expect(joined).toHaveLength(1);
    const results = named(spans, 'send results.ready').filter(({ attributes }) =>
      /\/(r1|x1|x2|r2)\/result$/.test(String(attributes['messaging.message.id'])),
    );
    expect([...joined[0]!.links].sort()).toEqual(results.map(({ spanId }) => spanId).sort());
    expect(results).toHaveLength(4);

    const chats = named(spans, /^chat /);
    expect(chats).toHaveLength(calls);
    for (const { attributes, kind } of chats)
      expect({ kind, ...attributes }).toMatchObject({
        kind: 'client',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'fake',
        'gen_ai.request.model': 'scripted',
        'gen_ai.usage.input_tokens': expect.any(Number),
        'gen_ai.usage.output_tokens': expect.any(Number),
      });
    const parents = new Set(chats.map(({ parentId }) => spans.find(({ spanId }) => spanId === parentId)!.name));
    expect(parents).toEqual(new Set(['plan', 'invoke_agent expert.general', 'invoke_agent judge.gap', 'invoke_agent judge.synthesis']));
    expect(named(spans, /^retrieval /).length).toBeGreaterThan(0);
    expect(spans.filter(({ isError }) => isError)).toEqual([]);

    const text = receiver.bodies.join('\n');
    for (const canary of [secretWord, providerKey, clientKey, hops.person, hops.thing, 'of the collector'])
      expect(text.includes(canary)).toBe(false);
    expect(receiver.headers['x-collector-key']).toBe('of the collector');
    expect(text).toContain('deployment.environment.name');
  });

  it('have their own root when the client sends none, and the trace id of the log lines', async () => {
    const { runId, spans } = await tracedRun('(rooted)');
    expect(tops(spans)).toEqual([expect.objectContaining({ name: 'invoke_workflow conclave', parentId: null })]);
    const lines = logText(system)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(new Set(lines.filter(({ run }) => run === runId).map(({ trace }) => trace))).toEqual(new Set([spans[0]!.traceId]));
  });

  it('show the failed first tries of a call, a failed run and a cancelled one', async () => {
    const tried = new CommitteeScript(system.models, 'Is it tried again?')
      .plan([expert('x1', 'Say.')])
      .expertReply({ status: 503 }, undefined, 1)
      .expert('Yes.')
      .answer(['Yes.']);
    const first = (await startRun(system.url(), { model: 'conclave-fast', input: tried.question })).body.id;
    await runEnd(system.url(), first);
    const spans = await traceOf(first);
    const attempts = named(spans, /^attempt /);
    expect(attempts.map(({ name, isError }) => [name, isError])).toEqual([
      ['attempt 1', true],
      ['attempt 2', false],
    ]);
    expect(new Set(attempts.map(({ parentId }) => parentId)).size).toBe(1);
    expect(spans.find(({ spanId }) => spanId === attempts[0]!.parentId)).toMatchObject({ name: 'chat scripted', isError: false });
    expect(attempts[0]!.attributes['error.type']).toMatch(/^provider_/);

    const gate = latch();
    const cancelled = new CommitteeScript(system.models, 'Is it cancelled?')
      .plan([expert('x1', 'Say.')])
      .expert('This.', { when: gate.opened });
    const second = (await startRun(system.url(), { model: 'conclave-fast', input: cancelled.question })).body.id;
    await until('the call of the expert', () => cancelled.calls('expert').length > 0, { timeoutMs: 15_000 });
    expect((await command(system.url(), second, { command: 'cancel' })).status).toBe(202);
    gate.open();
    await runEnd(system.url(), second);
    const ended = await traceOf(second);
    expect(tops(ended)[0]).toMatchObject({ events: ['cancelled'], isError: false, attributes: { 'conclave.run.outcome': 'cancelled' } });
    expect(named(ended, 'process run.commands')).toEqual([expect.objectContaining({ events: ['cancel'] })]);

    const failed = new CommitteeScript(system.models, 'Does it fail?').planner({ status: 400 }).expertReply({ status: 400 });
    const third = (await startRun(system.url(), { model: 'conclave-fast', input: failed.question })).body.id;
    expect((await runEnd(system.url(), third)).outcome).toBe('failed');
    const broken = await traceOf(third);
    expect(tops(broken)[0]).toMatchObject({ isError: true, attributes: { 'error.type': expect.stringMatching(/_/) } });
    expect(named(broken, /^chat /).filter(({ isError }) => isError).length).toBeGreaterThan(0);
  });

  it('are not recorded when the client does not record, and a direct call is one trace below its request', async () => {
    const s = new CommitteeScript(system.models, 'Is it recorded?')
      .plan([expert('x1', 'Say.')])
      .expert('No.')
      .answer(['No.']);
    const traceparent = `00-${'d4'.repeat(16)}-${clientSpan}-00`;
    const { id } = (await startRun(system.url(), { model: 'conclave-fast', input: s.question }, { traceparent })).body;
    await runEnd(system.url(), id);
    system.models.add({ match: 'Straight through?', reply: { text: 'Straight.' } });
    const direct = await ask(system.url(), { model: 'scripted@fake', messages: user('Straight through?') });
    expect(direct.status).toBe(200);
    const [call, request] = await until(
      'the trace of the direct call',
      () => {
        const chat = receiver.spans.find(
          ({ name, service, attributes }) =>
            name === 'chat scripted' && service === 'conclave-gateway' && attributes['conclave.call.purpose'] === 'direct',
        );
        const above = chat && receiver.spans.find(({ spanId }) => spanId === chat.parentId);
        return above && ([chat, above] as const);
      },
      { timeoutMs: 10_000 },
    );
    expect(request).toMatchObject({ name: 'POST /v1/chat/completions', parentId: null, kind: 'server', traceId: call.traceId });
    expect(receiver.trace('d4'.repeat(16))).toEqual([]);
  });

  it('have one root even when the gateway of a background run dies during the run', async () => {
    const gate = latch();
    const s = new CommitteeScript(system.models, 'Who outlives the gateway?')
      .plan([expert('x1', 'Say.')])
      .expert('The run.', { when: gate.opened })
      .answer(['The run.']);
    const { id } = (await startRun(system.url(), { model: 'conclave-fast', input: s.question })).body;
    await until('the call of the expert', () => s.calls('expert').length > 0, { timeoutMs: 15_000 });
    await until(
      'the request in the trace',
      () => receiver.tracesOf(id).length > 0 && named(receiver.trace(receiver.tracesOf(id)[0]!), /^POST|^send plan.requested/).length > 0,
      { timeoutMs: 10_000 },
    );
    const gateway = system.process('gateway');
    await gateway.kill('SIGKILL');
    gate.open();
    await gateway.ready();
    if (system.mode === 'embedded') s.expert('The run.');
    await runEnd(system.url(), id, 60_000);
    const spans = await traceOf(id);
    expect(receiver.tracesOf(id)).toHaveLength(1);
    expect(spans.filter(({ parentId }) => parentId === null)).toEqual([expect.objectContaining({ name: 'invoke_workflow conclave-fast' })]);
  });
});

describeOnce('a collector that is away', () => {
  it('A port that was free a moment ago, so nothing listens there.', async () => {
    // The exporter tries for ten seconds before it gives up.
    const gone = await TraceReceiver.start();
    const url = gone.url;
    await gone.close();
    const lonely = await System.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
    try {
      for (const question of ['Does it run alone?', 'Does it run alone again?']) {
        const s = new CommitteeScript(lonely.models, question)
          .plan([expert('x1', 'Say.')])
          .expert('It does.')
          .answer(['It does.']);
        const { id } = (await startRun(lonely.url(), { model: 'conclave-fast', input: s.question })).body;
        expect((await runEnd(lonely.url(), id)).outcome).toBe('completed');
      }
      const said = (): readonly string[] => logText(lonely).match(/"message":"[^"]*(?:[Tt]races)[^"]*"/g) ?? [];
      // The exporter tries for ten seconds before it gives up.
      await until('the warning', () => said().length > 1, { timeoutMs: 30_000 });
      const from = performance.now();
      expect(await lonely.process('gateway').stop(10_000)).toMatchObject({ code: 0 });
      expect(performance.now() - from).toBeLessThan(8_000);
      expect(said().map((line) => (JSON.parse(`{${line}}`) as { message: string }).message)).toEqual([
        'Traces are exported.',
        'Traces do not reach the collector and are dropped; runs continue.',
      ]);
    } finally {
      await lonely.stop();
    }
  });
});
