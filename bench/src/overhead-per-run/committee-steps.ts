import type { Fact, PlannedTask, Verdict } from '@conclave/contracts';
import { actionOf } from '@conclave/loop';
import { anyRoom, expertPrompt, gapAsk, planAsk, readExpert, synthesisAsk, type Ask } from '@conclave/strategies';
import { instantModel, type InstantModels } from '../committee/instant-models.js';
import { question, rounds } from '../committee/replies.js';
import { committeeTemplate as template } from '../committee/template.js';

export interface ExpertAnswer {
  readonly category: string;
  readonly text: string;
  readonly confidence: number;
  readonly epoch: number;
}
export interface Gap {
  readonly gap: string;
  readonly nextFocus: string;
}

/**
 * The steps of the committee as plain functions: the same prompts, the same model and the same parsers as the product's
 * services use, without any engine around them. What holds them together is what a benchmark compares.
 */
export function committeeSteps(models: InstantModels) {
  const ask = async (messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[]): Promise<string> =>
    (await models.call({ model: instantModel, messages, timeoutMs: 60_000 }, { signal: new AbortController().signal })).content;
  const answer = async <In, Out>(asked: Ask<In, Out>, input: In): Promise<Out> => {
    const reading = asked.read({ text: await ask(asked.prompt(input, anyRoom)), cutShort: false }, input);
    if ('faults' in reading) throw new Error(`The reply cannot be used: ${reading.faults.join(' ')}`);
    return reading.output;
  };
  const request = {
    goal: question,
    conversation: [],
    system: null,
    template,
    limits: template.limits,
    caller: { tenant: 'default', actor: 'bench' },
    answer: {},
    origin: 'runs' as const,
    requestedAt: 0,
  };

  return {
    /** Round 0 plans the question, a later round the gap. */
    async plan(
      round: number,
      missing: Gap | null,
      facts: readonly Fact[],
      earlier: readonly PlannedTask[],
    ): Promise<readonly PlannedTask[]> {
      const gap =
        missing === null
          ? null
          : {
              epoch: round - 1,
              iteration: round,
              max: rounds,
              ...missing,
              history: [],
              memory: {
                goal: question,
                facts: [...facts],
                tried: earlier.map((task) => ({
                  ...actionOf(task, earlier),
                  outcome: 'facts' as const,
                })),
                searchQuestion: null,
                userInputs: [],
              },
              forbidden: [],
              left: template.limits,
            };
      return (await answer(planAsk, { request, gap, complexity: 'moderate' })).tasks;
    },
    async expert(
      task: PlannedTask,
      round: number,
      evidence: readonly Fact[],
    ): Promise<{ readonly fact: Fact; readonly answer: ExpertAnswer }> {
      const category = task.capability.slice('expert.'.length);
      const prompt = template.experts[category]!.prompt;
      const reply = readExpert(
        await ask(
          expertPrompt({
            kind: 'expert',
            category,
            task: task.task,
            goal: question,
            conversation: [],
            system: null,
            prompt,
            evidence: [...evidence],
          }),
        ),
      );
      return {
        fact: {
          text: reply.finding,
          source: { kind: 'expert', title: category, url: null },
          taskId: task.id,
          epoch: round,
          confidence: reply.confidence,
        },
        answer: { category, text: reply.text, confidence: reply.confidence, epoch: round },
      };
    },
    async assess(facts: readonly Fact[]): Promise<Verdict> {
      return (await answer(gapAsk, { kind: 'gap', question, mode: 'evidence', draft: null, facts: [...facts] })).assessment;
    },
    async compose(answers: readonly ExpertAnswer[]): Promise<string> {
      const latest = [...new Map(answers.map((answer) => [answer.category, answer])).values()];
      const written = await answer(synthesisAsk, {
        kind: 'synthesis',
        question,
        conversation: [],
        system: null,
        facts: [],
        answers: latest,
        failed: [],
        openGap: null,
        thinking: null,
        parameters: {},
        startedOn: '2026-01-01',
      });
      return written.text;
    },
  };
}
export type CommitteeSteps = ReturnType<typeof committeeSteps>;
