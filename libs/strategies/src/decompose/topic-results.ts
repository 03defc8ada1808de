import type { Synthesis } from '@conclave/contracts';
import { currentFacts, factIdentity, isJudge, type RunState } from '@conclave/loop';
import { withoutSourceList } from '../replies/citations.js';
import type { SubTopics } from '../asks/sub-topics.js';

/** The sub-topics of a run by their outcome: found, empty or failed. Facts are numbered from 1 in the order of the ledger. */
export function subTopicsOf(run: RunState, how: Synthesis): SubTopics {
  const facts = currentFacts(run.memory);
  const topics: SubTopics = { how, found: [], empty: [], failed: [] };
  for (const [ref, task] of Object.entries(run.tasks)) {
    if (isJudge(task)) continue;
    const { spec, result } = task;
    const topic = spec.task;
    if (result?.status !== 'ok') {
      const reason = result?.failure?.message || result?.text || 'it did not end in time';
      topics.failed.push({ topic, reason });
      continue;
    }
    const echoes = new Set(result.echoes);
    const mine = facts.flatMap((fact, index) => (fact.taskId === ref || echoes.has(factIdentity(fact)) ? [index + 1] : []));
    const answer = spec.capability === 'run' && result.text !== '' ? { answer: withoutCitations(result.text) } : {};
    if (mine.length > 0 || 'answer' in answer) topics.found.push({ topic, facts: mine, ...answer });
    else topics.empty.push(topic);
  }
  return topics;
}

/** An answer of a child run without its source list and numbers: the facts have other numbers in the ledger of its parent. */
const withoutCitations = (text: string): string =>
  withoutSourceList(text)
    .replace(/(?<!\s)\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]/g, '')
    .trim();
