import type { TaskInputDraft, TaskOutput } from '@conclave/contracts';
import { currentFacts, textKey } from '@conclave/loop';
import type { AnyQuestion, AskedJudge, JudgeQuestion } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { synthesisInput } from '../committee/context.js';
import { failureText, initialOwn as committeeOwn } from '../committee/own.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';
import { assessAsk } from './assess-ask.js';
import { factsAsk } from './facts-ask.js';
import { bestPassages, missingIn, type Own, type RagView } from './own.js';
import { Refined, Sufficiency, type AssessAsked, type FactsAsked, type RefineAsked } from './rag-shapes.js';
import { refineAsk } from './refine-ask.js';
import { critic } from './review.js';

const of = <In, Out extends TaskOutput>(question: JudgeQuestion<In, Out>): AnyQuestion => question as unknown as AnyQuestion;
const values = (asked: FactsAsked | AssessAsked | RefineAsked): TaskInputDraft => ({ kind: 'values', values: { ...asked } });

const questionOf = ({ run, own }: RagView) => ({ question: run.request.goal, readsAs: own.readsAs });
const factsOf = ({ run }: RagView) => currentFacts(run.memory).map(({ text, source }) => ({ text, source }));

/** A task of the round, because its facts join the ledger; an unusable reply adds no facts. */
const facts: AskedJudge<Own> = {
  question: of({ ask: factsAsk, unreadable: { kind: 'evidence', facts: [], notes: ['The facts could not be read from the reply.'] } }),
  task: 'Take the facts from what was found',
  input: (view, ref) => {
    const { own, run } = view;
    return values({
      ...questionOf(view),
      query: own.content?.query ?? run.request.goal,
      passages: [...bestPassages(own)],
      taskId: ref,
      epoch: run.epoch,
    });
  },
  take: (own) => own,
};

/** A missing or unreadable verdict means that the facts do not suffice. */
const assess: AskedJudge<Own> = {
  question: of({ ask: assessAsk, unreadable: { kind: 'values', values: { quality: 'insufficient', missing: [], parsed: false } } }),
  task: 'Judge whether the facts answer the question',
  input: (view) => values({ ...questionOf(view), facts: factsOf(view) }),
  take: (own, { result, why }, { run }) => {
    if (why === 'budget') return { ...own, unaffordable: 'the check of what is missing' };
    const about = currentFacts(run.memory).length;
    if (result?.output?.kind !== 'values') return { ...own, verdict: { quality: 'insufficient', missing: [], unread: 'failed', about } };
    const { parsed, ...verdict } = Sufficiency.parse(result.output.values);
    return { ...own, verdict: { ...verdict, unread: parsed ? null : 'unreadable', about } };
  },
};

/** The query of the next pass; without a usable reply it is built from the question and what is missing. */
const refine: AskedJudge<Own> = {
  question: of({ ask: refineAsk, unreadable: { kind: 'values', values: { query: '' } } }),
  task: 'Write the query of the next pass',
  input: (view) => {
    const { own } = view;
    return values({ ...questionOf(view), tried: [...own.tried], missing: missingAspects(view), facts: factsOf(view) });
  },
  take: (own, { result, why }, view) => {
    if (why === 'budget') return { ...own, unaffordable: 'the query of another pass' };
    const read = Refined.safeParse(result?.output?.kind === 'values' ? result.output.values : null);
    return { ...own, refined: read.data?.query ?? ownQuery(view) };
  },
};

const missingAspects = (view: RagView): string[] => {
  const { verdict } = view.own;
  const missing = missingIn(view);
  return verdict && verdict.missing.length > 0 ? [...verdict.missing] : missing === null ? [] : [missing];
};

/** Characters of the latest fact in a query that is made without a model. */
const quotedFact = 200;

/** A query without a model: the question with what is missing, or with the latest fact if that was tried. */
function ownQuery({ run, own }: RagView): string {
  const question = own.readsAs ?? run.request.goal;
  const isTried = (query: string): boolean => own.tried.some((one) => textKey(one.query) === textKey(query));
  const latest = currentFacts(run.memory).at(-1)?.text.slice(0, quotedFact) ?? '';
  const queries = [[question, ...(own.verdict?.missing ?? [])].join(' '), `${question} ${latest}`];
  return queries.find((query) => !isTried(query)) ?? queries[0]!;
}

/** Writes the answer from the ledger; a number in brackets without a fact is removed. */
const synthesis: AskedJudge<Own> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => {
    const { run } = view;
    const open = run.ending && run.ending.outcome !== 'completed' ? run.gap || missingIn(view) : null;
    const input = synthesisInput({ ...view, own: committeeOwn }, open);
    // In ledger order, as when the verdict was requested.
    if (input.kind !== 'synthesis') return input;
    const facts = [...currentFacts(run.memory)];
    return { ...input, facts, onlyKnown: true, ...fromOwnKnowledge(unsourced(view)) };
  },
  take: (own, { result, why, ...verdict }, { run }, ref) => {
    if (result?.output?.kind !== 'synthesis')
      return { ...own, unwritten: why === null || why === 'budget' || !('failure' in verdict) ? '' : failureText(verdict.failure) };
    const { text, insight, cutShort, unsupported } = result.output;
    const draft = { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch };
    return { ...own, draft: { ...draft, ...(unsupported?.length ? { unsupported } : {}) } };
  },
};

export const judges = { facts, assess, refine, synthesis, critic } as const;
