import type { AskedJudge } from '../asks/asked-judge.js';
import { criticQuestion, gapQuestion, hintsQuestion, scoreQuestion, synthesisQuestion, thinkingQuestion } from '../asks/questions.js';
import { criticInput, gapInput, hintsInput, scoreInput, synthesisInput, thinkingInput } from './context.js';
import { failureText, type Own } from './own.js';
import { reviewed, reviewedCategories } from './review.js';
import { givenUp, pairsOf, unsureOf } from './stages.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';

/** Without a verdict the fallback is COMPLETE; the reason says so, and the answer counts as unassessed. */
const gap: AskedJudge<Own> = {
  question: gapQuestion,
  task: 'Assess what is missing',
  input: (view) => gapInput(view, view.own.draft),
  take: (own, { result, why }) => {
    if (why === 'budget') return { ...own, unaffordable: true };
    if (result?.output?.kind !== 'assessment')
      return { ...own, gap: { verdict: { verdict: 'complete', gap: '', nextFocus: '', parsed: false }, unread: 'failed' } };
    const { assessment } = result.output;
    return { ...own, gap: { verdict: assessment, unread: assessment.parsed ? null : 'unreadable' } };
  },
};

const hints: AskedJudge<Own> = {
  question: hintsQuestion,
  task: 'Say how unsure experts may do better',
  input: (view) => hintsInput(view, unsureOf(view)),
  take: (own, { result }, view) => {
    const given = result?.output?.kind === 'hints' ? result.output.hints : {};
    return Object.keys(given).length > 0 ? { ...own, refining: 'answers', hints: given } : { ...own, ...givenUp(view) };
  },
};

const score: AskedJudge<Own> = {
  question: scoreQuestion,
  task: 'Compare the answers of experts that were asked again',
  input: (view) => scoreInput(view, pairsOf(view)),
  take: (own, { result }) => ({ ...own, refining: 'scored', scores: result?.output?.kind === 'scores' ? result.output.scores : [] }),
};

const thinking: AskedJudge<Own> = {
  question: thinkingQuestion,
  task: 'Think before the answer is written',
  input: thinkingInput,
  take: (own, { result }) => ({ ...own, thinking: result?.output?.kind === 'thinking' ? result.output.text : '' }),
};

const synthesis: AskedJudge<Own> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => ({
    ...synthesisInput(view, view.run.ending && view.run.ending.outcome !== 'completed' ? view.run.gap || null : null),
    ...fromOwnKnowledge(unsourced(view)),
  }),
  take: (own, verdict, { run }, ref) => {
    const { result } = verdict;
    if (result?.output?.kind === 'synthesis') {
      const { text, insight, cutShort, unsupported } = result.output;
      const draft = { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch };
      return { ...own, draft: { ...draft, ...(unsupported?.length ? { unsupported } : {}) } };
    }
    if (run.ending === null) return { ...own, ...(verdict.why === 'budget' ? { unaffordable: true } : {}), undraftable: true };
    return { ...own, unwritten: verdict.why === 'budget' || verdict.result ? '' : failureText(verdict.failure) };
  },
};

const critic: AskedJudge<Own> = {
  question: criticQuestion,
  task: 'Review the answer',
  input: (view) => criticInput(view, view.own.draft!, reviewedCategories(view)),
  take: reviewed,
};

export const judges = { gap, hints, score, thinking, synthesis, critic } as const;
