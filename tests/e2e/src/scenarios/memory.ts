import { describe, expect, it } from '@jest/globals';
import { promptMarks } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  allMetrics,
  ChatStream,
  CommitteeScript,
  type System,
  expert,
  inventedName,
  plainTemplate,
  sumOf,
  type Task,
  user,
} from '@conclave/test-support/system';
import { KeyedCaller, keys } from './callers.js';

const remembering = {
  ...plainTemplate,
  strategy: 'single-pass',
  capabilities: ['graph'],
  // Contexts of the graph are cached too, so a rating must reach them.
  caches: { answer: false, semantic: false, plan: false, search: true },
} as const;
export const memoryTemplates = {
  remembers: { ...remembering, learn: 'triples' },
  recalls: { ...remembering, learn: 'off' },
} as const;

const recall: Task = { id: 'g1', task: 'What is known of it?', capability: 'graph' };

/** What one answer teaches the next one, over HTTP alone. */
export function memoryScenarios(system: () => System): void {
  const ann = new KeyedCaller(system, keys.ann);
  const cyd = new KeyedCaller(system, keys.cyd);
  const { open, close } = promptMarks.insight;

  /** An invented bridge, the first question about it, and later questions. */
  function newBridge() {
    const [bridge, builder, town] = [`${inventedName()} Bridge`, inventedName(), inventedName()];
    const summary = `${builder} built every bridge of ${town} from local steel.`;
    const block = `${open}${JSON.stringify({ summary, entities: [builder, town], insight_type: 'synthesis' })}${close}`;
    const first = new CommitteeScript(system().models, `Who built the ${bridge}?`)
      .plan([expert('x1', 'Name the builder.')])
      .expert(`${builder} of ${town} did.`)
      .answer([`${builder} of ${town} built the ${bridge}. ${block}`]);
    const teaches = (): CommitteeScript =>
      first.judge('learner', [
        { subject: bridge, subject_type: 'bridge', relation: 'CREATED_BY', object: builder, object_type: 'person', confidence: 0.9 },
        { subject: builder, subject_type: 'person', relation: 'LOCATED_IN', object: town, object_type: 'town', confidence: 0.8 },
      ]);
    /** The same question each time it is asked, as the committee answers it then. */
    const later = (says: string) =>
      new CommitteeScript(system().models, `What is the ${bridge} made of?`)
        .plan([recall, expert('x1', 'Say what it is made of.')])
        .expert('Steel, perhaps.')
        .answer([says]);
    return { bridge, builder, town, summary, first, teaches, later };
  }
  const toldTo = (s: CommitteeScript): string => JSON.stringify(s.calls('composer').at(-1)!.messages);

  describe('what an answer teaches', () => {
    it('is cited by the answer to another question about it, but no longer after a rating of 1', async () => {
      const { builder, town, summary, bridge, first, teaches, later } = newBridge();
      teaches();
      const one = await ann.answered('remembers', first.question);
      expect(one.answer!.trim()).toBe(`${builder} of ${town} built the ${bridge}.`);
      const learned = await ann.taught(one.id);

      const second = later('Steel, as in all of its bridges [1].');
      const two = await ann.answered('recalls', second.question);
      expect(toldTo(second)).toContain(summary);
      expect(two.answer).toContain(`[1] Earlier insight: ${summary}`);
      expect(two.sources).toEqual([expect.objectContaining({ kind: 'graph', n: 1, insight: { id: learned.id, runs: [one.id] } })]);
      expect(await ann.insight(two.sources[0]!.insight!.id)).toMatchObject({
        text: summary,
        entities: [builder, town].sort(),
        flagged: false,
        confidence: 0.6,
        learned_from: [{ run: one.id, at: one.completedAt, answer: expect.stringContaining(`${builder} of ${town} built`), sources: [] }],
      });

      expect((await ann.send('POST', '/feedback', { response_id: one.id, rating: 1 })).status).toBe(202);
      const doubted = await until(
        'the rating in the graph',
        async () => {
          const found = await ann.insight(learned.id);
          return found.flagged && found;
        },
        { timeoutMs: 20_000, everyMs: 100 },
      );
      expect(doubted.trust).toBeLessThan(learned.trust);
      const again = later('Nobody has said [1].');
      const three = await ann.answered('recalls', again.question);
      expect(toldTo(again)).not.toContain(summary);
      expect(three.answer).not.toContain('Earlier insight');
      expect(three.sources.filter(({ insight }) => insight)).toEqual([]);
    });

    it('is still there after questions with characters that are special to databases', async () => {
      const { summary, first, teaches, later, bridge, builder } = newBridge();
      teaches();
      const one = await ann.answered('remembers', first.question);
      await ann.taught(one.id);
      for (const signs of [
        `'}) DETACH DELETE n //`,
        `" }) MATCH (n) DETACH DELETE n //`,
        `'); DELETE FROM graph_fact; --`,
        `*:* AND NOT "x"~ \\`,
      ]) {
        const words = `${signs} ${bridge} ${builder}`;
        const hostile = new CommitteeScript(system().models, `What of ${words}?`)
          .plan([{ ...recall, task: words }, expert('x1', 'Say it.')])
          .expert('It is said.')
          .answer(['It is said.']);
        expect((await ann.answered('recalls', hostile.question)).answer).toContain('It is said.');
      }
      const second = later('Steel, as in all of its bridges [1].');
      const two = await ann.answered('recalls', second.question);
      expect(toldTo(second)).toContain(summary);
      expect(two.answer).toContain(`[1] Earlier insight: ${summary}`);
    });

    it('is invisible to another tenant that asks the same question', async () => {
      const { summary, first, teaches, later } = newBridge();
      teaches();
      const one = await ann.answered('remembers', first.question);
      const { id } = await ann.taught(one.id);
      const second = later('Nobody has said.');
      const two = await cyd.answered('recalls', second.question);
      expect(toldTo(second)).not.toContain(summary);
      expect(two.sources).toEqual([]);
      expect((await cyd.send('GET', `/knowledge/insights/${id}`)).status).toBe(404);
      expect((await cyd.send('GET', `/knowledge/insights?run=${one.id}`)).status).toBe(404);
    });

    it('is used by a streamed chat of its tenant, and not by a chat of another tenant', async () => {
      const { summary, first, teaches, later } = newBridge();
      teaches();
      const one = await ann.answered('remembers', first.question);
      await ann.taught(one.id);
      const streamed = async (key: string, says: string) => {
        const s = later(says);
        const body = { model: 'recalls', messages: user(s.question) };
        const { content, error } = await (await ChatStream.open(system().url(), body, { authorization: `Bearer ${key}` })).end();
        expect(error).toBeUndefined();
        return { content, told: toldTo(s) };
      };
      const own = await streamed(keys.ann, 'Steel [1].');
      expect(own.told).toContain(summary);
      expect(own.content).toContain(`[1] Earlier insight: ${summary}`);
      const other = await streamed(keys.cyd, 'Nobody has said.');
      expect(other.told).not.toContain(summary);
      expect(other.content).not.toContain('Earlier insight');
    });

    it('does not exist for a template that learns nothing', async () => {
      const read = async (): Promise<number> =>
        sumOf(await allMetrics(system()), 'conclave_event_handle_seconds_count', { type: 'RunCompleted', service: 'graph-ingest' });
      const before = await read();
      const { summary, first, later } = newBridge();
      const one = await ann.answered('recalls', first.question);
      expect(one.answer).not.toContain(summary);
      await until('the run to be read for what it teaches', async () => (await read()) > before, { timeoutMs: 20_000, everyMs: 100 });
      expect((await ann.send('GET', `/knowledge/insights?run=${one.id}`)).body).toEqual({ object: 'list', data: [] });
      const second = later('Nobody has said.');
      const two = await ann.answered('recalls', second.question);
      expect(toldTo(second)).not.toContain(summary);
      expect(two.sources).toEqual([]);
      expect(first.calls('learner')).toHaveLength(0);
    });
  });

  describe('what earlier answers found', () => {
    /** An answer about a harbour by the science expert, and questions about it whose plans ask for facts of one kind. */
    function newHarbour() {
      const harbour = `${inventedName()} Harbour`;
      const first = new CommitteeScript(system().models, `How deep is the ${harbour} at low tide?`)
        .plan([expert('x1', 'Say how deep it is.', 'science')])
        .expert('Nine fathoms.')
        .answer([`The ${harbour} is nine fathoms deep at low tide.`])
        .judge('learner', []);
      let asked = 0;
      const later = (filters: Readonly<Record<string, string>>) =>
        new CommitteeScript(system().models, `Can a deep ship enter the ${harbour} at low tide, berth ${++asked}?`)
          .plan([{ ...recall, metadata_filters: filters }, expert('x1', 'Say whether it can.')])
          .expert('It can.')
          .answer(['It can [1].']);
      return { first, later, fact: first.question, depth: 'nine fathoms deep' };
    }
    const read = async (): Promise<number> =>
      sumOf(await allMetrics(system()), 'conclave_event_handle_seconds_count', { type: 'RunCompleted', service: 'graph-ingest' });

    it('is passed only to a plan that filters by its kind, as domain-filtered memory', async () => {
      const { first, later, fact, depth } = newHarbour();
      const before = await read();
      const one = await ann.answered('remembers', first.question);
      await until('the answer to be kept as a fact', async () => (await read()) > before, { timeoutMs: 20_000, everyMs: 100 });

      const ofItsKind = later({ expert_domain: 'science' });
      const two = await ann.answered('recalls', ofItsKind.question);
      expect(toldTo(ofItsKind)).toContain(fact);
      expect(toldTo(ofItsKind)).toContain(depth);
      expect(toldTo(ofItsKind)).toContain('[Domain-Filtered Memory] Earlier answer');
      expect(two.sources).toEqual([expect.objectContaining({ kind: 'memory', n: 1, title: 'Earlier answer' })]);
      expect(two.answer).toContain('[1] Earlier answer');

      const others: readonly Readonly<Record<string, string>>[] = [
        { expert_domain: 'legal_advisor' },
        { expert_domain: 'science', jurisdiction: 'nowhere' },
      ];
      for (const filters of others) {
        const ofAnother = later(filters);
        const three = await ann.answered('recalls', ofAnother.question);
        expect(toldTo(ofAnother)).not.toContain(depth);
        expect(three.sources).toEqual([]);
      }
      const elsewhere = later({ expert_domain: 'science' });
      expect((await cyd.answered('recalls', elsewhere.question)).sources).toEqual([]);
      expect(toldTo(elsewhere)).not.toContain(depth);
      expect(one.sources).toEqual([]);
    });
  });
}
