import type { Fact, PlannedTask } from '@conclave/contracts';
import type { CommitteeSteps, Gap, Heard } from './committee-steps.js';

/** The committee as one function, without run engine or store: measures the cost of prompts and parsers alone. */
export async function runBare(steps: CommitteeSteps, isShipped = false): Promise<string> {
  let facts: readonly Fact[] = [];
  let heard: readonly Heard[] = [];
  let planned: readonly PlannedTask[] = [];
  let gap: Gap | null = null;
  for (let round = 0; ; round += 1) {
    const tasks = await steps.plan(round, gap, facts, planned);
    planned = [...planned, ...tasks];
    const evidence = facts;
    const first = await Promise.all(tasks.map((task) => steps.expert(task, round, evidence)));
    const second = isShipped
      ? await Promise.all(first.map(async (one) => (steps.isUnsure(one) ? steps.expert(one.task, round, evidence, { tier: 't2' }) : one)))
      : first;
    facts = [...facts, ...second.map(({ fact }) => fact)];
    heard = [...heard, ...second];
    const verdict = await steps.assess(facts);
    if (verdict.verdict === 'complete')
      return isShipped ? refined(steps, heard, second, round, evidence) : steps.compose(heard.map(({ answer }) => answer));
    gap = verdict;
  }
}

/** Asks unsure experts of the last round again with hints and keeps only better answers. Then the thinking step and the answer. */
async function refined(
  steps: CommitteeSteps,
  heard: readonly Heard[],
  last: readonly Heard[],
  round: number,
  evidence: readonly Fact[],
): Promise<string> {
  const unsure = last.filter(steps.isUnsure);
  const hints = await steps.advise(unsure);
  const pairs = await Promise.all(
    unsure.map(async (before) => {
      const how = { tier: 't2', previous: before.answer.text, hints: hints[before.task.id]! } as const;
      return { before, after: await steps.expert(before.task, round, evidence, how) };
    }),
  );
  const scores = await steps.score(pairs);
  const better = pairs.filter(({ before }) => scores.some(({ taskId, before: was, after }) => taskId === before.task.id && after > was));
  const answers = heard.map((one) => better.find(({ before }) => before === one)?.after ?? one).map(({ answer }) => answer);
  return steps.compose(answers, await steps.think(answers));
}
