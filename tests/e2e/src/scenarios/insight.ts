import { describe, expect, it } from '@jest/globals';
import { promptMarks } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { ChatStream, CommitteeScript, type System, expert, inventedName, readRun, runEvents, user } from '@conclave/test-support/system';
import { forgetSynthesis, synthesesOf } from '../harness/graph.js';

/** Text in pieces of `size` characters, as a model that streams by tokens might cut it. */
const pieces = (text: string, size: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];

/** What an answer leaves behind for later questions. */
export function insightScenarios(system: () => System): void {
  describe('the insight at the end of an answer', () => {
    const { open, close } = promptMarks.insight;

    it.each([1, 7])('is never shown, cut into pieces of %d characters, and becomes a node of the graph', async (size) => {
      const [one, other] = [inventedName(), inventedName()].sort();
      const summary = `${one} is older than ${other}.`;
      const block = `${open}${JSON.stringify({ summary, entities: [one, other], insight_type: 'comparison' })}${close}`;
      const s = new CommitteeScript(system().models, `Which is older, ${one} or ${other}?`)
        .plan([expert('x1', 'Compare the ages.')])
        .expert(`${one} is the older one.`)
        .answer(pieces(`It is ${one}. ${block}`, size));
      const chat = await (await ChatStream.open(system().url(), { model: 'conclave-fast', messages: user(s.question) })).end();
      expect(chat.content.trim()).toBe(`It is ${one}.`);
      expect(JSON.stringify(await runEvents(system().url(), chat.runId))).not.toContain('SYNTHESIS_INSIGHT');
      expect((await readRun(system().url(), chat.runId)).answer!.trim()).toBe(`It is ${one}.`);
      const rows = await until(
        'the node in the graph',
        async () => {
          const found = await synthesesOf(system(), summary);
          return found.length > 0 && found;
        },
        { timeoutMs: 10_000, everyMs: 100 },
      );
      await forgetSynthesis(system(), summary);
      expect(rows).toEqual([{ text: summary, insightType: 'comparison', entities: [one, other] }]);
      expect(s.calls()).toHaveLength(3);
    });

    it('is dropped without affecting the answer when it is invalid', async () => {
      const name = inventedName();
      const s = new CommitteeScript(system().models, `What about ${name}?`)
        .plan([expert('x1', 'Look.')])
        .expert(`${name} is fine.`)
        .answer([`${name} is fine.`, `${open}{"summary": 7, "entities": "no"`]);
      const chat = await (await ChatStream.open(system().url(), { model: 'conclave-fast', messages: user(s.question) })).end();
      expect(chat.content).toBe(`${name} is fine.`);
      expect(chat.error).toBeUndefined();
    });
  });
}
