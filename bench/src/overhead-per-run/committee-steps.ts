import type { Fact, PlannedTask, GapVerdict } from '@conclave/contracts';
import {
  actionOf,
  anyRoom,
  expertPrompt,
  gapAsk,
  hintsAsk,
  planAsk,
  readExpert,
  scoreAsk,
  sureFrom,
  synthesisAsk,
  thinkingAsk,
  type Ask,
} from '@conclave/strategies';
import { instantModel, secondModel, type InstantModels } from '../committee/instant-models.js';
import { question, rounds } from '../committee/replies.js';
import { committeeTemplate as template } from '../committee/template.js';

export interface ExpertAnswer {
  readonly category: string;
  readonly text: string;
  readonly confidence: number;
  readonly epoch: number;
}
/** An expert's task and its answer. */
export interface Heard {
  readonly task: PlannedTask;
  readonly fact: Fact;
  readonly answer: ExpertAnswer;
}
export interface Gap {
  readonly gap: string;
  readonly nextFocus: string;
}

/**
 * The steps of the committee as plain functions, with the prompts, models and parsers of the product's services but without an
 * engine. Benchmarks compare what connects these steps.
 */
export function committeeSteps(models: InstantModels) {
  const ask = async (
    messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[],
    model = instantModel,
  ): Promise<string> => (await models.call({ model, messages, timeoutMs: 60_000 }, { signal: new AbortController().signal })).content;
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
    /** Round 0 plans for the question, later rounds for the gap. */
    async plan(
      round: number,
      missing: Gap | null,
      facts: readonly Fact[],
      earlier: readonly PlannedTask[],
    ): Promise<readonly PlannedTask[]> {
      const left = template.limits;
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
              left: { model_calls: left.model_calls, tokens: left.tokens, wall_time_s: left.wall_time_s },
            };
      return (await answer(planAsk, { request, gap, complexity: 'moderate' })).tasks;
    },
    async expert(
      task: PlannedTask,
      round: number,
      evidence: readonly Fact[],
      again: { readonly tier?: 't2'; readonly previous?: string; readonly hints?: string } = {},
    ): Promise<Heard> {
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
            previous: again.previous ?? null,
            hints: again.hints ?? null,
          }),
          again.tier ? secondModel : instantModel,
        ),
      );
      return {
        task,
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
    isUnsure: ({ answer: { confidence } }: Heard): boolean => confidence < sureFrom,
    /** Hints for unsure experts, by task id. */
    async advise(unsure: readonly Heard[]): Promise<Readonly<Record<string, string>>> {
      const answers = unsure.map(({ task, answer }) => ({
        taskId: task.id,
        category: answer.category,
        task: task.task,
        text: answer.text,
        gaps: [],
      }));
      return (await answer(hintsAsk, { kind: 'hints', question, answers })).hints;
    },
    /** Scores of answers before and after, by task id. */
    async score(pairs: readonly { readonly before: Heard; readonly after: Heard }[]) {
      const shown = pairs.map(({ before: { task, answer }, after }) => ({
        taskId: task.id,
        category: answer.category,
        task: task.task,
        before: answer.text,
        after: after.answer.text,
      }));
      return (await answer(scoreAsk, { kind: 'score', question, pairs: shown })).scores;
    },
    async think(answers: readonly ExpertAnswer[]): Promise<string> {
      return (await answer(thinkingAsk, { kind: 'thinking', question, system: null, facts: [], answers: [...answers] })).text;
    },
    async assess(facts: readonly Fact[]): Promise<GapVerdict> {
      return (await answer(gapAsk, { kind: 'gap', question, mode: 'evidence', draft: null, facts: [...facts] })).assessment;
    },
    async compose(answers: readonly ExpertAnswer[], thinking: string | null = null): Promise<string> {
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
        thinking,
        parameters: {},
        startedOn: '2026-01-01',
      });
      return written.text;
    },
  };
}
export type CommitteeSteps = ReturnType<typeof committeeSteps>;
