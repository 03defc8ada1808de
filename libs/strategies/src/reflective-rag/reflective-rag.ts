import type { PlanCreated, Reading } from '@conclave/contracts';
import { currentFacts, type Move, type NoPlan } from '@conclave/loop';
import type { AskingStrategy } from '../asks/asked-judge.js';
import { ledgerAnswer } from '../committee/ledger.js';
import { initialOwn as committeeOwn } from '../committee/own.js';
import { judges } from './judges.js';
import { evolveOwn, initialOwn, missingIn, type Own, type RagView } from './own.js';
import { beginning, following, passInput, passSummary } from './pass.js';
import { optionsOf, placesOf, RagContent, RagOptions, type RagAsked } from './rag-shapes.js';
import { unsourced } from '../own-knowledge.js';
import { awaitsReview, isReviewed, reviewOf, unreviewed } from './review.js';
import { routeAsk } from './route-ask.js';
import { ownPlan } from '../without-plan.js';

/** Consecutive failed passes after which a run is stuck, and passes without a new fact after which it is stalled. */
const [stuckPasses, stalledPasses] = [3, 2];

/** Model calls that a pass needs after its plan: the facts, and the answer. */
const keeps = 2;

/** Whether a run that found nothing is answered all the same. One that has nowhere to look fails: its template has to be set up first. */
const answersUnfound = (view: RagView): boolean => placesOf(view.template).length > 0 && unsourced(view) !== null;

/** Why no pass can be made, and what to do. */
const nothingToSearch =
  'there is no collection and no search to look in. Upload documents to a collection, or set `search.corpus` or `search.searxng` in conclave.yaml.';

const classWords: Readonly<Record<RagContent['class'], string>> = {
  factual: 'a question of facts',
  exploratory: 'an open question',
  deep_dive: 'a question that needs a whole document',
  comparative: 'a comparison',
};

const askedOf = ({ own, template }: RagView): RagAsked => ({ query: own.refined, places: [...placesOf(template)] });

/**
 * The plan of a pass whose router has failed, or for whose first pass the budget leaves no call: the unchanged query, looked up everywhere.
 * A later pass needs calls for its facts, which such a budget does not leave either.
 */
const everywhere = (view: RagView, why: NoPlan): PlanCreated['data'] | null => {
  const { run, own, template } = view;
  if (why === 'budget' && run.plan !== null) return null;
  const collections = placesOf(template).map(({ name }) => name);
  return ownPlan(view, why, { content: { class: 'factual', collections, query: own.refined ?? run.request.goal } });
};

/** The verdict on the facts, for the decision table. */
function readingOf(view: RagView): Reading {
  const { own } = view;
  const missing = missingIn(view);
  const open = missing === null ? {} : { open: missing };
  if (own.unaffordable !== null) return { by: 'rounds', ...open, unaffordable: own.unaffordable };
  const unread = own.verdict?.unread;
  const isAssessed = own.verdict !== null || currentFacts(view.run.memory).length === 0;
  if (!isAssessed) return { by: 'rounds', ...open };
  return { by: 'assessment', sufficient: missing === null, ...open, ...(unread ? { unread, invalid: true } : {}) };
}

/** Whether the facts must be judged: no verdict covers all of them, and the budget allows more than the answer. */
function mayAssess({ run, own, budget }: RagView): boolean {
  const known = currentFacts(run.memory).length;
  const isKnown = own.verdict !== null && own.verdict.about === known;
  return known > 0 && !isKnown && own.unaffordable === null && (budget === 'free' || budget === 'narrow');
}

const route: readonly Move[] = [{ do: 'note', stage: 'routing', text: 'Decides where to look' }, { do: 'plan' }];

function finish(view: RagView): readonly Move[] {
  const { run, own } = view;
  if (own.draft === null && own.unwritten === null && (currentFacts(run.memory).length > 0 || answersUnfound(view)))
    return [
      { do: 'note', stage: 'generating', text: '' },
      { do: 'judge', name: 'synthesis', from: 'reserve', stream: isReviewed(view) ? 'held' : 'live', composes: true },
    ];
  if (awaitsReview(view)) return [{ do: 'judge', name: 'critic', from: 'reserve' }];
  const draft = lastAnswer(view, run.ending!.reason);
  return draft
    ? [
        { do: 'note', stage: 'done', text: '' },
        { do: 'say', draft },
      ]
    : [];
}

function lastAnswer(view: RagView, reason: string) {
  const { draft, unwritten } = view.own;
  if (draft) return unreviewed(view, draft);
  const answer = ledgerAnswer({ ...view, own: committeeOwn }, reason, unwritten);
  return answer && { ...unreviewed(view, answer), ...(unwritten ? { unwritten } : {}) };
}

/**
 * Retrieves, takes cited facts from what was found, judges them against the immutable goal and, while something is missing, searches with
 * another query. Facts of all passes add up.
 */
export const reflectiveRag: AskingStrategy<Own> = {
  id: 'reflective-rag',
  roundName: 'pass',
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
  options: RagOptions,
  readsNoAttachments: true,
  limits: ({ template }) => {
    const rounds = optionsOf(template).max_rounds;
    return { rounds, adjusts: rounds - 1, stuck: stuckPasses, stall: stalledPasses, end: 'limit_reached' };
  },
  planAsk: routeAsk,
  planner: {
    keeps,
    ask: (view) => ({ asked: askedOf(view) }),
    faults: ({ template }, { content }) => {
      const read = RagContent.safeParse(content);
      if (!read.success) return ['The plan does not say where to look.'];
      const known = new Set(placesOf(template).map(({ name }) => name));
      return read.data.collections.filter((name) => !known.has(name)).map((name) => `There is no collection "${name}".`);
    },
    fallback: everywhere,
  },
  judges,
  initial: () => initialOwn,
  evolve: evolveOwn,
  task: (view, _ref, task) => passInput(view, task),
  announces: ({ content }) => {
    const { data } = RagContent.safeParse(content);
    return data && `${classWords[data.class]}, looked up in ${data.collections.join(', ')}: ${data.query}`;
  },
  onPlan: (_view, { content }) => beginning(RagContent.parse(content)),
  next: (view): readonly Move[] => {
    const { run, own, template } = view;
    if (run.ending) return finish(view);
    if (own.unaffordable !== null) return [{ do: 'decide', reading: readingOf(view) }];
    if (placesOf(template).length === 0) return [{ do: 'decide', reading: { by: 'rounds', model: 'stuck', open: nothingToSearch } }];
    if (run.plan === null || own.refined !== null) return route;
    const moves = following(view);
    if (moves) return moves;
    if (mayAssess(view))
      return [
        { do: 'note', stage: 'evaluating', text: '' },
        { do: 'judge', name: 'assess' },
      ];
    return [{ do: 'decide', reading: readingOf(view) }];
  },
  onDecided: () => [
    { do: 'note', stage: 'refining', text: 'Looks for another query' },
    { do: 'judge', name: 'refine' },
  ],
  lastAnswer,
  summary: (view) => passSummary(view),
  report: (view) => ({ complexity: 'moderate', review: reviewOf(view, view.run.answer) }),
};
