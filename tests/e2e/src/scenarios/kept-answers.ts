import { describe, expect, it } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { ask, ChatStream, CommitteeScript, type System, expert, latch, plainTemplate, user } from '@conclave/test-support/system';
import { KeyedCaller, keys } from './callers.js';

export const keptAnswerTemplates = {
  keeps: {
    ...plainTemplate,
    strategy: 'single-pass',
    capabilities: [],
    caches: { answer: true, semantic: false, plan: false, search: false },
  },
  'keeps-plans': {
    ...plainTemplate,
    strategy: 'single-pass',
    capabilities: [],
    caches: { answer: false, semantic: false, plan: true, search: false },
  },
} as const;

/** A cached answer is sent before the engine handles its run; only the clock shows this. */
export function keptAnswerScenarios(system: () => System): void {
  const ann = new KeyedCaller(system, keys.ann);
  const as = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });
  const run = async (id: string): Promise<RunView> => (await ann.send('GET', `/runs/${id}`)).body as RunView;

  /** A question that was answered once and is now cached, and how often the models were asked about it. */
  async function known(question: string) {
    const s = new CommitteeScript(system().models, question)
      .plan([expert('x1', 'Say it.')], { times: Infinity })
      .expertReply({ text: 'It is so.\nCONFIDENCE: 0.9' }, undefined, Infinity);
    const body = { model: 'keeps', messages: user(question) };
    const first = await ask(system().url(), body, as(keys.ann));
    expect([first.status, first.headers.get('x-conclave-cache')]).toEqual([200, null]);
    // A question that is asked before the answer is cached gets a new answer, which may be cached as well.
    const made = [first.body.conclave!.run_id];
    await until(
      'the answer in the cache',
      async () => {
        const { headers, body: said } = await ask(system().url(), body, as(keys.ann));
        if (headers.get('x-conclave-cache') === 'exact') return true;
        made.push(said.conclave!.run_id);
        return false;
      },
      { timeoutMs: 20_000, everyMs: 100 },
    );
    return { body, first, made, calls: () => s.calls().length };
  }

  describe('an answer that was returned before', () => {
    it('is returned again immediately, in one piece and streamed, and its run has a record of its own', async () => {
      const { body, first, made, calls } = await known('What is given again at once?');
      const before = calls();
      const again = await ask(system().url(), body, as(keys.ann));
      const record = await run(again.headers.get('x-run-id')!);
      expect(again.body.choices[0]!.message.content).toBe(first.body.choices[0]!.message.content);
      expect(again.body).toMatchObject({
        usage: { total_tokens: 0 },
        conclave: { run_id: record.id, outcome: 'completed', reason: record.reason },
      });
      expect(record).toMatchObject({
        ...{ status: 'completed', terminal: true, answer: 'It is so.', usage: { total: { calls: 0 } } },
        cached: { origin: 'exact' },
      });
      expect(made).toContain(record.cached!.runId);
      const stream = await (await ChatStream.open(system().url(), body, as(keys.ann))).end();
      expect([stream.content, stream.error]).toEqual(['It is so.', undefined]);
      expect(await run(stream.runId)).toMatchObject({ terminal: true, answer: 'It is so.' });
      expect((await ann.events(stream.runId)).map(({ kind }) => kind)).toEqual(['run.started', 'thought', 'run.completed']);
      expect(calls()).toBe(before);
    });

    it('is one run for a request repeated with its key, with the same bytes each time', async () => {
      const { body } = await known('What is one run however often it is sent?');
      const headers = as(keys.ann, { 'idempotency-key': 'the-same' });
      const answers = [];
      for (let n = 0; n < 3; n += 1) answers.push(await ask(system().url(), body, headers));
      expect(new Set(answers.map((answer) => answer.headers.get('x-run-id'))).size).toBe(1);
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    });

    it('can be rated immediately, and a bad rating removes it', async () => {
      const { body } = await known('What is rated right after it was given?');
      const again = await ask(system().url(), body, as(keys.ann));
      expect(again.headers.get('x-conclave-cache')).toBe('exact');
      expect((await ann.send('POST', '/feedback', { response_id: again.body.id, rating: 1 })).status).toBe(202);
      await until(
        'an answer that is made anew',
        async () => (await ask(system().url(), body, as(keys.ann))).headers.get('x-conclave-cache') === null,
        { timeoutMs: 20_000, everyMs: 100 },
      );
    });

    it('is not returned to another tenant', async () => {
      const { body } = await known('What is not given to another tenant?');
      const other = await ask(system().url(), body, as(keys.cyd));
      expect([other.status, other.headers.get('x-conclave-cache')]).toEqual([200, null]);
    });
  });

  describe('a plan that was made before', () => {
    it('is reused for an equal question once its run has ended successfully; that of a cancelled run is not reused', async () => {
      const gate = latch();
      const s = new CommitteeScript(system().models, 'Which plan is made once?')
        .plan([expert('x1', 'Say it.')], { times: Infinity })
        .expert('Too late.', { when: gate.opened })
        .expertReply({ text: 'It is so.\nCONFIDENCE: 0.9' }, undefined, Infinity);
      const plans = (): number => s.calls('planner').length;
      const started = await ann.send('POST', '/runs', { model: 'keeps-plans', input: s.question });
      const { id } = started.body as { id: string };
      await until('the call of the expert', () => s.calls('expert').length > 0, { timeoutMs: 15_000 });
      expect((await ann.send('POST', `/runs/${id}/commands`, { command: 'cancel' })).status).toBe(202);
      await until('its end', async () => (await run(id)).terminal, { timeoutMs: 15_000, everyMs: 50 });
      gate.open();
      expect((await ann.answered('keeps-plans', s.question)).outcome).toBe('completed');
      expect(plans()).toBe(2);
      await until(
        'the plan in the cache',
        async () => {
          const before = plans();
          expect(await ann.answered('keeps-plans', `  ${s.question} `)).toMatchObject({ outcome: 'completed' });
          return plans() === before;
        },
        { timeoutMs: 20_000, everyMs: 100 },
      );
    });
  });
}
