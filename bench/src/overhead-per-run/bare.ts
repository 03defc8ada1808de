import type { Fact, PlannedTask } from '@conclave/contracts';
import type { CommitteeSteps, ExpertAnswer, Gap } from './committee-steps.js';

/** The committee as one function: no engine, no store, nothing survives. What is left is what prompts and parsers cost. */
export async function runBare(steps: CommitteeSteps): Promise<string> {
  let facts: readonly Fact[] = [];
  let answers: readonly ExpertAnswer[] = [];
  let planned: readonly PlannedTask[] = [];
  let gap: Gap | null = null;
  for (let round = 0; ; round += 1) {
    const tasks = await steps.plan(round, gap, facts, planned);
    planned = [...planned, ...tasks];
    const evidence = facts;
    const found = await Promise.all(tasks.map((task) => steps.expert(task, round, evidence)));
    facts = [...facts, ...found.map(({ fact }) => fact)];
    answers = [...answers, ...found.map((one) => one.answer)];
    const verdict = await steps.assess(facts);
    if (verdict.verdict === 'complete') return steps.compose(answers);
    gap = verdict;
  }
}
