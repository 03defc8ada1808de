import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newProcessId, openLog } from '@conclave/host';
import { until } from '@conclave/test-support';
import { loadConfiguration, metricList, silentLogger } from '@conclave/platform';
import type { StoredRecord } from '@conclave/ports';
import {
  allMetrics,
  ask,
  ChatStream,
  command,
  CommitteeScript,
  System,
  expert,
  latch,
  logText,
  providerKey,
  research,
  runEnd,
  startRun,
  sumOf,
  twoHops,
  user,
} from '@conclave/test-support/system';

const hops = twoHops();
/** Used in a question, an answer and a system message; none of it may be logged. */
const secretWord = 'zanzibarquietly';
const clientKey = 'sk-client-canary-77aa10';
let system: System;

beforeAll(async () => {
  system = await System.start({ corpus: hops.documents, gateways: 1, env: { LOG_LEVEL: 'debug' } });
});
afterAll(() => system?.stop());

const logLines = (): readonly Record<string, unknown>[] =>
  logText(system)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Every record of a run, read from the log of a system whose processes have stopped. */
async function recordsOf(system: System, runId: string): Promise<readonly StoredRecord[]> {
  const loaded = loadConfiguration(system.environment(), system.folder);
  const opened = (await openLog({ loaded, logger: silentLogger, processId: newProcessId('replay') }))!;
  try {
    const found: StoredRecord[] = [];
    for (const topic of opened.topics)
      for await (const record of opened.log.read(topic)) if (record.event?.runId === runId) found.push(record);
    return found;
  } finally {
    await opened.close();
  }
}

describe('a system in operation', () => {
  it('is live and ready in every process', async () => {
    for (const url of [...system.healthUrls(), ...system.metricUrls()]) {
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      const ready = await fetch(`${url}/health/ready`);
      expect([ready.status, await ready.json()]).toEqual([200, expect.objectContaining({ status: 'ready' })]);
    }
  });

  it('prints the documents of its interfaces', async () => {
    const openApi = (await (await fetch(`${system.url()}/openapi.json`)).json()) as { openapi: string; paths: object };
    expect(openApi.openapi).toMatch(/^3\./);
    expect(Object.keys(openApi.paths)).toEqual(expect.arrayContaining(['/v1/chat/completions', '/v1/runs/{id}/events']));
    expect(((await (await fetch(`${system.url()}/asyncapi.json`)).json()) as { asyncapi: string }).asyncapi).toMatch(/^3\./);
  });

  it('counts a run with its rounds, tasks, calls and tokens in the metrics of the list', async () => {
    const s = new CommitteeScript(system.models, `${hops.question} ${secretWord}`)
      .plan([research('r1', `${hops.thing} founded`), expert('x1', 'Who?')])
      .expert(`It was ${hops.person}, ${secretWord}.`)
      .gap('the birthplace', 'Where?')
      .plan([research('r2', `${hops.person} born`)], { iteration: 1 })
      .complete()
      .answer([`${hops.place}, ${secretWord}.`]);
    const messages = [{ role: 'system', content: `Be brief, ${secretWord}.` }, ...user(s.question)];
    const { status, body } = await ask(system.url(), { model: 'conclave', messages }, { authorization: `Bearer ${clientKey}` });
    expect([status, body.conclave?.rounds]).toEqual([200, 2]);

    const tokens = CommitteeScript.tokens(['planner', 'expert', 'assessor', 'planner', 'assessor', 'composer']);
    const samples = await until(
      'the run in the metrics',
      async () => {
        const found = await allMetrics(system);
        return sumOf(found, 'conclave_runs_total') >= 1 && sumOf(found, 'conclave_consumer_lag_records') === 0 && found;
      },
      { timeoutMs: 15_000, everyMs: 200 },
    );
    const sum = (name: string, labels?: Record<string, string>): number => sumOf(samples, `conclave_${name}`, labels);
    expect(sum('runs_total', { template: 'conclave', strategy: 'agentic', outcome: 'completed' })).toBe(1);
    expect(sum('run_rounds_sum', { template: 'conclave' })).toBe(2);
    expect(sum('run_seconds_count')).toBe(1);
    expect([sum('decisions_total', { rule: 'D9' }), sum('decisions_total', { rule: 'D3' })]).toEqual([1, 1]);
    expect([sum('gaps_total'), sum('plans_total', { result: 'ok' })]).toEqual([1, 2]);
    expect(sum('tasks_total', { capability: 'research', status: 'ok' })).toBe(2);
    expect(sum('tasks_total', { capability: 'expert.general', status: 'ok' })).toBe(1);
    expect(sum('model_calls_total', { model: 'scripted@fake', status: 'ok' })).toBe(6);
    expect(sum('model_tokens_total', { model: 'scripted@fake', kind: 'prompt' })).toBe(tokens.prompt_tokens);
    expect(sum('model_tokens_total', { model: 'scripted@fake', kind: 'completion' })).toBe(tokens.completion_tokens);
    expect([sum('duplicate_calls_total'), sum('dead_letters_total'), sum('streams_open')]).toEqual([0, 0, 0]);
    expect(sum('event_handle_seconds_count')).toBeGreaterThan(10);
    expect(sum('event_queue_wait_seconds_count')).toBeGreaterThan(10);
    expect(sum('http_requests_total', { route: '/v1/chat/completions', status: '200' })).toBe(1);
  });

  it('exports no metric that is not in the list, and every label that the list names', async () => {
    const known = new Map(Object.entries(metricList).map(([name, spec]) => [`conclave_${name}`, spec]));
    for (const { name, labels } of await allMetrics(system)) {
      if (!name.startsWith('conclave_')) continue;
      const spec = known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
      expect([name, spec !== undefined]).toEqual([name, true]);
      expect(
        Object.keys(labels)
          .filter((label) => label !== 'le')
          .sort(),
      ).toEqual([...spec!.labels].sort());
    }
  });

  it('logs JSON lines with run and trace, without any word of a prompt, a reply or a key', async () => {
    const lines = logLines();
    const ofRuns = lines.filter((line) => typeof line['run'] === 'string');
    expect(ofRuns.map((line) => line['message'])).toEqual(expect.arrayContaining(['run accepted', 'run ended']));
    expect(ofRuns.filter((line) => !/^[0-9a-f]{32}$/.test(String(line['trace'])))).toEqual([]);
    expect(new Set(ofRuns.map((line) => line['trace'])).size).toBe(new Set(ofRuns.map((line) => line['run'])).size);
    for (const line of lines)
      expect(line).toMatchObject({ time: expect.any(String), level: expect.any(String), message: expect.any(String) });
    const text = logText(system);
    for (const canary of [secretWord, providerKey, clientKey, hops.question]) expect(text.includes(canary)).toBe(false);
    expect(JSON.stringify(system.history())).not.toContain(providerKey);
    const metrics = await Promise.all(system.metricUrls().map(async (url) => (await fetch(`${url}/metrics`)).text()));
    for (const canary of [secretWord, providerKey, clientKey]) expect(metrics.join('\n').includes(canary)).toBe(false);
  });

  it('shows no key in an error whose cause is the key', async () => {
    const refused = await ask(system.url(), { model: `x@${providerKey}`, messages: user('x') }, { authorization: `Bearer ${clientKey}` });
    expect(refused.status).toBe(404);
    expect(logText(system).includes(clientKey)).toBe(false);
  });

  it('stops in an orderly way while it streams: the client is notified, and the work of its run continues', async () => {
    const gate = latch();
    const reply = ['Before the stop ', { text: 'and after it.', when: gate.opened }] as const;
    const s = new CommitteeScript(system.models, 'What happens at a stop?')
      .plan([expert('x1', 'Go on.')])
      .expert('Fine.')
      .answer(reply)
      .answer(reply);
    const chat = await ChatStream.open(system.url(), { model: 'conclave-fast', messages: user(s.question) });
    await chat.shows('Before the stop');
    const gateway = system.process('gateway');
    const stopped = gateway.kill('SIGTERM');
    await chat.end();
    expect(chat.sse.ended).toBe('closed');
    expect(chat.error).toMatchObject({ type: expect.any(String), message: expect.any(String) });
    gate.open();
    expect(await stopped).toMatchObject({ code: 0, signal: null });
    await gateway.restart();
    const run = await runEnd(system.url(), chat.runId);
    expect(run).toMatchObject({ outcome: 'completed', answer: 'Before the stop and after it.' });
    expect(system.models.violations()).toEqual([]);
  });

  it('accepts and answers again after the start', async () => {
    const s = new CommitteeScript(system.models, 'Is it back?')
      .plan([expert('x1', 'Say.')])
      .expert('Yes.')
      .answer(['Yes.']);
    const { id } = (await startRun(system.url(), { model: 'conclave-fast', input: s.question })).body;
    expect((await runEnd(system.url(), id)).answer).toBe('Yes.');
    expect(s.calls()).toHaveLength(3);
  });

  it('has the trace of its client in every record of a run: steps, tasks, calls, the gap, a command and the end', async () => {
    const finished = new CommitteeScript(system.models, `${hops.question} (traced)`)
      .plan([research('r1', `${hops.thing} founded`), expert('x1', 'Who?')])
      .expert(`It was ${hops.person}.`)
      .gap('the birthplace', 'Where?')
      .plan([research('r2', `${hops.person} born`)], { iteration: 1 })
      .complete()
      .answer([`${hops.place}.`]);
    const gate = latch();
    const cancelled = new CommitteeScript(system.models, 'What is cancelled? (traced)')
      .plan([expert('x1', 'Say.')])
      .expert('This.', { when: gate.opened });
    const begin = async ({ question }: CommitteeScript, model: string, trace: string): Promise<string> =>
      (await startRun(system.url(), { model, input: question }, { traceparent: `00-${trace}-${'c'.repeat(16)}-01` })).body.id;
    const traces = ['a1'.repeat(16), 'b2'.repeat(16)] as const;
    const runs = [await begin(finished, 'conclave', traces[0]), await begin(cancelled, 'conclave-fast', traces[1])] as const;
    await until('the call of the expert', () => cancelled.calls('expert').length > 0, { timeoutMs: 15_000 });
    expect((await command(system.url(), runs[1], { command: 'cancel' })).status).toBe(202);
    gate.open();
    expect([(await runEnd(system.url(), runs[0])).outcome, (await runEnd(system.url(), runs[1])).outcome]).toEqual([
      'completed',
      'cancelled',
    ]);

    // Only one process may open the folder of the embedded mode; pending writes are made before the process ends.
    await Promise.all([...system.all().values()].map((process) => process.stop()));
    const types = new Set<string>();
    for (const [n, runId] of runs.entries())
      for (const { event, headers } of await recordsOf(system, runId)) {
        types.add(event!.type);
        expect([event!.type, event!.id, headers['traceparent']?.split('-')[1]]).toEqual([event!.type, event!.id, traces[n]]);
      }
    expect([...types]).toEqual(
      expect.arrayContaining([
        ...['PlanRequested', 'PlanCreated', 'TaskDispatched', 'ResultReady', 'GapDetected', 'RunCompleted'],
        ...['StepRecorded', 'CallRecorded', 'CommandIssued'],
      ]),
    );
  });
});
