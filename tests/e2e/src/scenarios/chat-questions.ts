import { describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { ask, ChatStream, CommitteeScript, readRun, runEvents, user, type System } from '@conclave/test-support/system';
import { decided, scored, step } from './reasoning.js';

const asked = 'Clocks or ships?';

/** A run that asks its user in a chat, and continues with the next message. */
export function chatQuestionScenarios(system: () => System): void {
  /** Replies up to the question, and after its answer. */
  const script = (question: string): CommitteeScript =>
    new CommitteeScript(system().models, question)
      .phase('reasoner', { steps: [step('research', 'find it')] })
      .phase('preparer', { input: 'Northlight Clock Company' })
      .phase('rater', scored(2))
      .phase('decider', decided('ask_user', { question: asked }))
      .phase('reasoner', (prompt) => {
        expect(prompt).toMatch(/\[USER ANSWER\] Clocks/);
        return { steps: [step('research', 'find the clock company')] };
      })
      .phase('preparer', { input: 'founder of the Northlight Clock Company' })
      .phase('rater', scored(5))
      .answer(['It is ', 'Northlight.']);
  const answering = (s: CommitteeScript) => [...user(s.question), { role: 'assistant', content: asked }, ...user('Clocks')];

  describe('a question over chat', () => {
    it('ends the stream as its text, and the next message of the conversation continues the run', async () => {
      const s = script('Which company do I mean, over chat?');
      const stream_options = { include_usage: true };
      const first = await ChatStream.open(system().url(), { model: 'talk', messages: user(s.question), stream_options });
      await first.end();
      expect([first.error, first.content, first.sse.events.at(-1)?.data]).toEqual([undefined, asked, '[DONE]']);
      expect(first.chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual(['stop']);
      const run = await readRun(system().url(), first.runId);
      expect([run.status, run.waitsFor?.question, s.calls().length]).toEqual(['waiting', asked, 4]);

      const second = await ChatStream.open(system().url(2), { model: 'talk', messages: answering(s), stream_options });
      await second.end();
      expect([second.error, second.runId, second.content]).toEqual([undefined, first.runId, expect.stringContaining('It is Northlight.')]);
      expect(second.reasoning).not.toContain('find it');
      const ended = await readRun(system().url(), first.runId);
      expect([ended.outcome, ended.decisions.map(({ rule }) => rule)]).toEqual(['completed', ['D11', 'D10', 'D3']]);
      expect([s.unused(), s.calls().length]).toEqual([[], 8]);
      // The usage of the run is that of both turns together.
      const used = [first, second].map(({ chunks }) => chunks.at(-1)!.usage!.total_tokens);
      expect(used[0]! + used[1]!).toBe(ended.usage.total.prompt + ended.usage.total.completion);
    });

    it('keeps waiting even when every process that knew it dies', async () => {
      const s = script('Which company do I mean, across a restart?');
      const first = await ask(system().url(), { model: 'talk', messages: user(s.question) });
      expect([first.status, first.body.choices[0]?.message.content]).toEqual([200, asked]);
      const runId = first.headers.get('x-run-id')!;
      for (const service of ['gateway', 'merger'] as const) {
        await system().process(service).kill('SIGKILL');
        await system().process(service).ready();
      }
      await until('the question', async () => (await readRun(system().url(), runId)).waitsFor?.question === asked, { timeoutMs: 20_000 });
      const second = await ask(system().url(), { model: 'talk', messages: answering(s) });
      expect([second.status, second.headers.get('x-run-id'), second.body.choices[0]?.message.content]).toEqual([
        200,
        runId,
        expect.stringContaining('It is Northlight.'),
      ]);
      const answers = (await runEvents(system().url(), runId)).filter(({ kind }) => kind === 'command.applied');
      expect([answers.length, s.unused(), s.calls().length]).toEqual([1, [], 8]);
    });

    it('is not asked when the template does not allow it', async () => {
      const s = new CommitteeScript(system().models, 'Which company do I mean, without asking?')
        .phase('reasoner', { steps: [step('research', 'find it')] })
        .phase('preparer', { input: 'Northlight Clock Company' })
        .phase('rater', scored(2))
        .phase('decider', (prompt) => {
          expect(prompt).toContain('Nobody can be asked');
          return decided('done', { final_answer: 'One of two.' });
        });
      const { status, body } = await ask(system().url(), { model: 'goal', messages: user(s.question) });
      expect([status, body.choices[0]?.message.content]).toEqual([200, expect.stringContaining('One of two.')]);
    });
  });
}
