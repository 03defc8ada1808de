import { callsLeft, type Move, type View } from '@conclave/loop';
import * as z from 'zod';
import type { AskingStrategy } from '../asks/asked-judge.js';
import { keptCalls } from '../committee/one-expert.js';
import { placesOf, RagOptions } from '../reflective-rag/rag-shapes.js';
import { DecomposeOptions } from '../decompose/topics.js';
import { type QuestionClass, readClass } from './question-class.js';
import { RouteContent, routeAsk } from './route-ask.js';
import { ownPlan } from '../without-plan.js';

/** The strategy for questions of each class, and for one that could not be classified. */
const routes: Readonly<Record<QuestionClass | 'unread', string>> = {
  comparative: 'decompose',
  deep_dive: 'reflective-rag',
  exploratory: 'reflective-rag',
  factual: 'single-pass',
  unread: 'agentic',
};

/** Strategies that answer only from what they find. */
const looking: ReadonlySet<string> = new Set(['decompose', 'reflective-rag']);

/** Options of the strategies that a run may become, by their names. */
const AdaptiveOptions = z.strictObject({
  decompose: DecomposeOptions.prefault({}).describe('options of `decompose`, which answers comparative questions'),
  'reflective-rag': RagOptions.prefault({}).describe('options of `reflective-rag`, which answers exploratory questions and deep dives'),
});

/** Model calls that the shortest run of the committee needs after the routing: its plan, and those after it. */
const keeps = 1 + keptCalls;

/** Ends the routing: the run continues with another strategy. */
const handOver = (named: QuestionClass | null, how: string, { template }: View<null>): readonly Move[] => {
  const wanted = routes[named ?? 'unread'];
  // If there is nothing to search, only the committee can answer.
  const strategy = looking.has(wanted) && placesOf(template).length === 0 ? routes.unread : wanted;
  const what = named === null ? 'The kind of question could not be told' : `A ${named.replace('_', ' ')} question`;
  return [
    { do: 'note', stage: 'routing', text: `${what} (${how}): ${strategy}` },
    { do: 'become', strategy },
  ];
};

/**
 * A router: reads from the words of a question what kind of research it needs, asks a model if the words leave that open, and hands the run
 * over to another strategy. Questions with images or files, and those that refer to earlier turns, are not classified by their words.
 */
export const adaptive: AskingStrategy<null> = {
  id: 'adaptive',
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
  options: AdaptiveOptions,
  startsRuns: ({ decompose }) => {
    const { child } = DecomposeOptions.parse(decompose ?? {});
    return child === undefined ? [] : [child];
  },
  limits: () => ({ rounds: 1, adjusts: 0, stuck: 1, stall: null, end: 'completed' }),
  planAsk: routeAsk,
  planner: {
    keeps,
    ask: () => ({ asked: {} }),
    faults: (_view, { tasks, content }) =>
      tasks.length === 0 && RouteContent.safeParse(content).success ? [] : ['The reply names no class of question.'],
    fallback: (view, why) => ownPlan(view, why, { content: { class: null } }),
  },
  judges: {},
  initial: () => null,
  task: () => {
    throw new Error('A router has no tasks.');
  },
  onPlan: (view, { content }) => handOver(RouteContent.parse(content).class, 'asked a model', view),
  next: (view) => {
    const { request, ending } = view.run;
    if (ending) return [];
    // Only the committee looks at images and files.
    if ((request.attachments?.length ?? 0) > 0) return handOver(null, 'it has attachments', view);
    // Any other strategy needs more, and a call for the router would be lost.
    if (callsLeft(view.run) <= keeps) return handOver(null, 'the budget leaves no call for it', view);
    const read = readClass(request.goal);
    if (read.sure && request.conversation.length === 0) return handOver(read.class, 'by its words', view);
    return [{ do: 'plan' }];
  },
  lastAnswer: () => null,
  summary: () => ({ planSummary: '', findings: '' }),
  report: () => ({ complexity: 'moderate', review: 'none' }),
};
