import { describe, expect, it } from '@jest/globals';
import type { RunView, StreamEntry } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import {
  byAdmin,
  command,
  CommitteeScript,
  type System,
  latch,
  readRun,
  runEnd,
  runEvents,
  SseStream,
  startRun,
} from '@conclave/test-support/system';

export const step = (capability: string, what: string): object => ({ capability, input_description: what, reason: 'It is needed.' });
export const scored = (score: number, more: object = {}): object => ({
  ...{ relevance: score, completeness: score, usability: score, goal_progress: score },
  summary: `It is worth ${score}.`,
  ...more,
});
export const decided = (action: string, more: object = {}): object => ({ action, confidence: 0.9, reason: `It is ${action}.`, ...more });

const rulesOf = ({ decisions }: RunView): readonly string[] => decisions.map(({ rule }) => rule);
const kinds = (entries: readonly StreamEntry[], kind: StreamEntry['kind']): readonly StreamEntry[] =>
  entries.filter((entry) => entry.kind === kind);
const promptsOf = (s: CommitteeScript, role: Parameters<CommitteeScript['calls']>[0]): readonly string[] =>
  s.calls(role).map(({ messages }) => messages.map(({ content }) => String(content)).join('\n'));

/** The strategy `reasoning` over HTTP, with a corpus that takes two hops. */
export function reasoningScenarios(system: () => System): void {
  const script = (question: string): CommitteeScript => new CommitteeScript(system().models, question);
  const started = async (s: CommitteeScript, model = 'goal'): Promise<string> => {
    const accepted = await startRun(system().url(), { model, input: s.question });
    return accepted.body.id;
  };
  const run = async (s: CommitteeScript, model = 'goal'): Promise<RunView> => runEnd(system().url(), await started(s, model), 60_000);

  describe('a fixed plan', () => {
    it('runs its steps one after the other, each prepared and scored, and is done when all have run and the last one is good', async () => {
      const s = script('Where was the founder born (one by one)?')
        .phase('reasoner', {
          steps: [step('research', 'find the founder'), step('research', 'find where the founder was born')],
          working_memory: 'Nothing yet.',
        })
        .phase('preparer', { input: 'founder of the Northlight Clock Company', working_memory: 'Looking for the founder.' })
        .phase('rater', scored(4, { quality: 'failed', working_memory: 'The founder is Ada Quill.' }))
        .phase('preparer', (prompt) => {
          expect(prompt).toContain('The founder is Ada Quill.');
          return { input: 'birthplace of Ada Quill', working_memory: 'Looking for the birthplace.' };
        })
        .phase('rater', scored(5))
        .answer(['In Port Ellery [1].']);
      const view = await run(s);
      expect(view).toMatchObject({ outcome: 'completed', rule: 'D3', assessed: true });
      expect(rulesOf(view)).toEqual(['D5', 'D3']);
      expect(view.answer).toContain('In Port Ellery');
      expect([s.unused(), s.calls().length]).toEqual([[], 6]);
      const entries = await runEvents(system().url(), view.id);
      expect(kinds(entries, 'thought').map((entry) => (entry as { text: string }).text)).toEqual(
        expect.arrayContaining([expect.stringContaining('good (4 of 5)'), expect.stringContaining('good (5 of 5)')]),
      );
    });

    it('is refused with the fault when a step is not on the list, and requested again', async () => {
      const s = script('Who may launch rockets?')
        .phase('reasoner', { steps: [step('rocket.launch', 'launch')] })
        .phase('reasoner', (prompt) => {
          expect(prompt.slice(-1_500)).toContain('"rocket.launch", which is not allowed');
          return { steps: [step('research', 'who may')] };
        })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(4))
        .answer(['Nobody.']);
      expect(await run(s)).toMatchObject({ outcome: 'completed', rule: 'D3' });
    });

    it('ends at once when the goal is out of reach', async () => {
      const s = script('What will the weather be in a hundred years?').phase('reasoner', {
        error: 'impossible',
        reason: 'Nobody knows that.',
      });
      const view = await run(s);
      expect(view).toMatchObject({ rule: 'D4', reason: expect.stringContaining('Nobody knows that.') });
      expect(s.calls().length).toBe(1);
    });
  });

  describe('a user', () => {
    it('is asked, answers, and the answer is in the next plan', async () => {
      const s = script('Which company do I mean?')
        .phase('reasoner', { steps: [step('research', 'find it')] })
        .phase('preparer', { input: 'Northlight Clock Company' })
        .phase('rater', scored(2))
        .phase('decider', decided('ask_user', { question: 'Clocks or ships?' }))
        .phase('reasoner', (prompt) => {
          expect(prompt).toMatch(/\[USER ANSWER\] Clocks/);
          return { steps: [step('research', 'find the clock company')] };
        })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(5))
        .answer(['Northlight.']);
      const id = await started(s);
      await until('the question', async () => (await readRun(system().url(), id)).status === 'waiting', { timeoutMs: 20_000 });
      await command(system().url(), id, { command: 'answer', text: 'Clocks' });
      const view = await runEnd(system().url(), id, 60_000);
      expect(rulesOf(view)).toEqual(['D11', 'D10', 'D3']);
      expect(view).toMatchObject({ outcome: 'completed', rounds: expect.anything() });
    });

    it('steers while a step is scored: the words are in every later prompt', async () => {
      const gate = latch();
      const s = script('Who founded it, and when?')
        .phase('reasoner', { steps: [step('research', 'find the founder'), step('research', 'find the year')] })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(4), { when: gate.opened })
        .phase('preparer', (prompt) => {
          expect(prompt).toContain('[USER GUIDANCE] The year matters most.');
          return { input: 'year in which the Northlight Clock Company was founded' };
        })
        .phase('rater', scored(4))
        .answer(['In 1911.']);
      const id = await started(s);
      await until('the evaluation', () => s.calls('rater').length === 1, { timeoutMs: 20_000 });
      const stream = await SseStream.open(`${system().url()}/v1/runs/${id}/events`);
      await command(system().url(), id, { command: 'steer', text: 'The year matters most.' });
      await stream.event('the acknowledgement', ({ data }) => data?.includes('command.applied') ?? false);
      stream.leave();
      gate.open();
      expect(await runEnd(system().url(), id, 60_000)).toMatchObject({ outcome: 'completed' });
      expect(promptsOf(s, 'rater')[1]).toContain('[USER GUIDANCE] The year matters most.');
    });

    it('runs their own step in place of the one in flight, but cannot run one that is not on the list', async () => {
      const gate = latch();
      const s = script('Who is behind the clocks?')
        .phase('reasoner', { steps: [step('research', 'find the owner')] })
        .phase('preparer', { input: 'owner' }, { when: gate.opened })
        .phase('rater', (prompt) => {
          expect(prompt).toContain('research: founder of the Northlight Clock Company');
          return scored(5);
        })
        .phase('preparer', { input: 'owner of the Northlight Clock Company' })
        .phase('rater', scored(5))
        .answer(['Ada Quill.']);
      const id = await started(s);
      await until('the preparation', () => s.calls('preparer').length === 1, { timeoutMs: 20_000 });
      await command(system().url(), id, { command: 'override_step', skill: 'rocket', input: 'x' });
      await command(system().url(), id, { command: 'override_step', skill: 'research', input: 'founder of the Northlight Clock Company' });
      const view = await runEnd(system().url(), id, 60_000);
      gate.open();
      expect(rulesOf(view)).toEqual(['D5', 'D3']);
      const entries = await runEvents(system().url(), id);
      expect(kinds(entries, 'command.rejected')).toMatchObject([
        { reason: expect.stringContaining('"rocket" is not allowed here. Use one of: research') },
      ]);
      expect(kinds(entries, 'command.applied')).toMatchObject([{ name: 'override_step' }]);
    });
  });

  describe('memory', () => {
    it('contains the answer and each step of a run, and the next plan starts with them', async () => {
      const s = script('Who founded the Northlight Clock Company, for the record?')
        .phase('reasoner', { steps: [step('research', 'find the founder of the Northlight Clock Company')] })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(5))
        .answer(['It was founded by the lighthouse keeper.']);
      expect(await run(s)).toMatchObject({ outcome: 'completed' });
      let tries = 0;
      await until(
        'the memory in a plan',
        async () => {
          tries += 1;
          const again = script(`Who founded the Northlight Clock Company (${tries})?`).phase('reasoner', {
            error: 'impossible',
            reason: 'Only looking.',
          });
          await run(again);
          return promptsOf(again, 'reasoner')[0]!.includes('It was founded by the lighthouse keeper.');
        },
        { timeoutMs: 20_000, everyMs: 300 },
      );
    });
  });

  describe('options changed while the system runs', () => {
    const put = async (options: object): Promise<Response> =>
      fetch(`${system().url()}/v1/admin/templates/goal`, {
        method: 'PUT',
        headers: { ...byAdmin, 'content-type': 'application/json' },
        body: JSON.stringify({ options }),
      });

    it('apply to runs that start afterwards, prompts too; a run keeps those it started with', async () => {
      const gate = latch();
      const before = script('Who founded it before the change?')
        .phase('reasoner', { steps: [step('research', 'find the founder'), step('research', 'find the year')] }, { when: gate.opened })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(4))
        .phase('preparer', { input: 'year in which the Northlight Clock Company was founded' })
        .phase('rater', scored(4))
        .answer(['Ada Quill, in 1911.']);
      const id = await started(before);
      await until('the plan', () => before.calls('reasoner').length === 1, { timeoutMs: 20_000 });
      const changed = await put({ max_iterations: 1, prompts: { planning: 'Plan at most {max_steps} steps. Think of the lighthouse.' } });
      expect([changed.status, await changed.json()]).toMatchObject([
        200,
        { version: 1, options: { max_iterations: 1, stuck_threshold: 3 } },
      ]);
      const after = script('Who founded it after the change?')
        .phase('reasoner', { steps: [step('research', 'find the founder'), step('research', 'find the year')] })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(4))
        .answer(['Ada Quill.']);
      expect(await run(after)).toMatchObject({ outcome: 'limit_reached', rule: 'D6' });
      expect(promptsOf(after, 'reasoner')[0]).toContain('Think of the lighthouse.');
      gate.open();
      expect(await runEnd(system().url(), id, 60_000)).toMatchObject({ outcome: 'completed', rule: 'D3' });
      expect((await put({})).status).toBe(200);
    });

    it('accept models and limits too, which apply to runs that start afterwards, and refuse a model that does not exist', async () => {
      const change = async (settings: object): Promise<Response> =>
        fetch(`${system().url()}/v1/admin/templates/goal`, {
          method: 'PUT',
          headers: { ...byAdmin, 'content-type': 'application/json' },
          body: JSON.stringify({ options: {}, settings }),
        });
      const refused = await change({ planner: { models: ['otter@fake'] } });
      expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
        400,
        expect.stringContaining('fake has no model otter. Did you mean other@fake?'),
      ]);
      expect((await change({ planner: { models: ['other@fake'] }, limits: { model_calls: 7 } })).status).toBe(200);
      const s = script('Who founded it, by another model?')
        .phase('reasoner', { steps: [step('research', 'find the founder')] })
        .phase('preparer', { input: 'founder of the Northlight Clock Company' })
        .phase('rater', scored(4))
        .answer(['Ada Quill.']);
      expect(await run(s)).toMatchObject({ outcome: 'completed', limits: { model_calls: 7 } });
      expect(s.calls('reasoner').map(({ model }) => model)).toEqual(['other']);
      expect((await change({})).status).toBe(200);
    });

    it('are refused with a reason when invalid, and switch the template off and on again', async () => {
      const faults = [{ max_iteration: 1 }, { stuck_threshold: 0 }, { prompts: { planning: 'Use {everything}.' } }];
      for (const options of faults) expect((await put(options)).status).toBe(400);
      expect(await (await put({ enabled: false })).json()).toMatchObject({ options: null, changed: { enabled: false } });
      expect((await startRun(system().url(), { model: 'goal', input: 'Is anybody there?' })).status).toBe(404);
      expect(await (await put({})).json()).toMatchObject({ options: { enabled: true }, changed: null });
      const other = await fetch(`${system().url()}/v1/admin/templates/no-such`, { headers: byAdmin });
      expect(other.status).toBe(404);
    });
  });
}
