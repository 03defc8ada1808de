import type { Draft, PlanCreated, Review, RunFact, SafetyTopic } from '@conclave/contracts';
import { currentFacts, isJudge, type View } from '@conclave/loop';
import { Discovered, RagContent, type DiscoveredDocument, type Passage, type Sufficiency, type Tried } from './rag-shapes.js';

/** A passage with the task that found it and its place among that task's hits. */
interface RankedPassage extends Passage {
  readonly task: string;
  readonly rank: number;
}

/** Own state of the strategy. */
export interface Own {
  /** What the current pass does; null before the first one. */
  readonly content: RagContent | null;
  /** Topics of the question on which a wrong answer does harm. */
  readonly safety: readonly SafetyTopic[];
  /** A self-contained wording of a follow-up; null for any other question. */
  readonly readsAs: string | null;
  /** The passages that the current pass has found. */
  readonly passages: readonly RankedPassage[];
  readonly documents: readonly DiscoveredDocument[];
  /** Queries and their outcomes by pass, the current one last. */
  readonly tried: readonly Tried[];
  /** The last verdict, why it is a fallback, and how many facts it is about. */
  readonly verdict: (Omit<Sufficiency, 'parsed'> & { readonly unread: 'failed' | 'unreadable' | null; readonly about: number }) | null;
  /** The query of the next pass. */
  readonly refined: string | null;
  /** The work for which the budget leaves no model call. */
  readonly unaffordable: string | null;
  readonly draft: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten: string | null;
  /** The verdict of the critic; null before it. */
  readonly review: Review | null;
}
export type RagView = View<Own>;

export const initialOwn: Own = {
  content: null,
  safety: [],
  readsAs: null,
  passages: [],
  documents: [],
  tried: [],
  verdict: null,
  refined: null,
  unaffordable: null,
  draft: null,
  unwritten: null,
  review: null,
};

/** Most passages that facts are taken from. */
const mostPassages = 20;

/** The state after a fact of the run. Verdicts of judges are folded by the judges. */
export function evolveOwn(own: Own, fact: RunFact, { run }: RagView): Own {
  switch (fact.kind) {
    case 'PlanTaken':
      return withPlan(withSafety(own, fact.plan), RagContent.parse(fact.plan.content), run.request.goal);
    case 'PlanRefused':
      return fact.plan ? withSafety(own, fact.plan) : own;
    case 'TaskSettled': {
      const task = run.tasks[fact.ref]!;
      const { status, output } = fact.result;
      if (isJudge(task) || task.epoch !== run.epoch || status !== 'ok' || output === null) return own;
      if (output.kind === 'values') return { ...own, documents: Discovered.parse(output.values).documents };
      if (output.kind !== 'evidence') return own;
      const found = output.facts.map(({ text, source }, rank) => ({ text, source, task: fact.ref, rank }));
      return { ...own, passages: [...own.passages, ...found] };
    }
    case 'RoundClosed': {
      const before = own.tried.slice(0, -1);
      const last = own.tried.at(-1);
      const found = fact.newFacts === 1 ? '1 new fact' : `${fact.newFacts} new facts`;
      const outcome = fact.failed ? 'the search failed' : fact.newFacts > 0 ? found : 'nothing new';
      return last ? { ...own, tried: [...before, { ...last, outcome }] } : own;
    }
    default:
      return own;
  }
}

/** The planner's service adds the topics to every plan, also to one that is unusable. */
const withSafety = (own: Own, { safety }: PlanCreated['data']): Own => ({ ...own, safety: [...new Set([...own.safety, ...safety])] });

function withPlan(own: Own, content: RagContent, goal: string): Own {
  const isFirst = own.tried.length === 0;
  return {
    ...own,
    content,
    readsAs: isFirst && content.query !== goal ? content.query : own.readsAs,
    passages: [],
    documents: [],
    tried: [...own.tried, { ...content, outcome: '' }],
    // An unreadable verdict says nothing about its facts.
    verdict: own.verdict?.unread ? null : own.verdict,
    refined: null,
  };
}

/** The best passages of the pass, those of all tasks in turn, each text once. */
export function bestPassages({ passages }: Own): readonly Passage[] {
  const seen = new Set<string>();
  return [...passages]
    .sort((a, b) => a.rank - b.rank || (a.task < b.task ? -1 : a.task > b.task ? 1 : 0))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
    .slice(0, mostPassages)
    .map(({ text, source }) => ({ text, source }));
}

/** What is missing, as one sentence for people and for the next query; null if the last verdict found nothing missing. */
export function missingIn({ run, own }: RagView): string | null {
  if (currentFacts(run.memory).length === 0) return 'Nothing was found yet that answers the question.';
  const { verdict } = own;
  if (verdict === null) return 'Whether the facts suffice was not assessed.';
  if (verdict.unread !== null) return 'Whether the facts suffice could not be read from the assessment.';
  if (verdict.quality === 'sufficient') return null;
  return verdict.missing.length > 0 ? verdict.missing.join('; ') : 'The facts do not answer the question yet.';
}
