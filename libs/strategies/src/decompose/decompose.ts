import {
  deepestChild,
  depthOf,
  type Draft,
  type PlanCreated,
  type Synthesis,
  type TaskInputDraft,
  type RequestedTask,
} from '@conclave/contracts';
import { currentFacts, type Move, type NoPlan, type TaskState, unwrittenReason, type View } from '@conclave/loop';
import type { Unsourced } from '../answer-words/answer-words.js';
import { answerWords } from '../answer-words/languages.js';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { topicsNote, type SubTopics } from '../asks/sub-topics.js';
import { asAsked, languageAsked } from '../prompts/as-asked.js';
import { questionInFull } from '../prompts/follow-up.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { normalisedQuery } from '../research/freshness.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';
import { sourceList } from '../replies/citations.js';
import { collectionsIn, DecomposeOptions, optionsOf, topicFaults, TopicsContent, topicTask, type TopicsAsked } from './topics.js';
import { topicsAsk } from './topics-ask.js';
import { subTopicsOf } from './topic-results.js';
import { lastResort, ownPlan } from '../without-plan.js';

const nothingFound = 'Nothing was found about any sub-topic.';

/** Model calls that a run needs after its plan: a sub-topic, and the answer. */
const keeps = 2;

/** Own state of the strategy. */
interface Own {
  readonly how: Synthesis;
  readonly draft: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten: string | null;
}
type TopicsView = View<Own>;

const askedOf = ({ template }: TopicsView): TopicsAsked => ({
  most: optionsOf(template).max_topics,
  collections: [...(template.collections ?? [])],
});

/** The plan without a planner: the question itself is the only sub-topic. */
const fallback = (view: TopicsView, why: NoPlan): PlanCreated['data'] => {
  const goal = oneLine(view.run.request.goal);
  return ownPlan(view, why, { tasks: [topicTask(1, bounded(goal, 200), bounded(goal, 400), [])], content: { synthesis: 'merge' } });
};

/** The template whose runs work on the sub-topics; undefined if they are tasks. */
function childOf({ run, template }: TopicsView) {
  const { child } = optionsOf(template);
  return child !== undefined && depthOf(run.runId) < deepestChild ? run.request.children?.[child] : undefined;
}

/** Collections that a sub-topic searches: those it names, else all. */
function searched({ template }: TopicsView, spec: RequestedTask['spec']): readonly string[] {
  const offered = (template.collections ?? []).map(({ name }) => name);
  const named = collectionsIn(spec).filter((name) => offered.includes(name));
  return named.length > 0 ? named : offered;
}

/**
 * A sub-topic as a task for the engine. Questions about two similar things share nearly every word, so only an exact repeat counts as one.
 */
function requestedTask(view: TopicsView, spec: RequestedTask['spec']): RequestedTask {
  const argument = `${normalisedQuery(spec.query ?? spec.task)} | ${[...searched(view, spec)].sort().join(', ')}`;
  const child = childOf(view);
  const shared = { learn: 'settled', stream: 'held', ...lastResort(view) } as const;
  if (!child)
    return { ...shared, spec, action: { capability: spec.capability, argument, exact: true }, models: view.template.judge.models };
  const { limits } = child;
  return {
    ...shared,
    spec: { ...spec, capability: 'run' },
    action: { capability: 'run', argument, exact: true },
    models: [],
    calls: limits.model_calls,
    timeoutS: limits.wall_time_s,
  };
}

function taskInput(view: TopicsView, _ref: string, { spec }: TaskState): TaskInputDraft {
  const { run, template } = view;
  const { request } = run;
  const query = spec.query ?? spec.task;
  const child = childOf(view);
  if (spec.capability === 'run' && child)
    return {
      kind: 'run',
      goal: query,
      template: child,
      children: request.children ?? {},
      limits: request.limits,
      caller: request.caller,
      ...languageAsked(request),
    };
  return {
    kind: 'subtopic',
    topic: spec.task,
    query,
    goal: questionInFull(run),
    collections: [...searched(view, spec)],
    search: template.capabilities.includes('research'),
    filters: {},
    limit: optionsOf(template).passages,
  };
}

const hasFound = ({ run }: Pick<TopicsView, 'run'>): boolean => subTopicsOf(run, 'merge').found.length > 0;

/** Why no sub-topic has a result, if the answer is then written from what the model knows. A child run may answer without a fact. */
const foundNothing = (view: TopicsView): Unsourced | null => (hasFound(view) ? null : unsourced(view));

/** Writes the answer from what was found about each sub-topic. */
const synthesis: AskedJudge<Own> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => {
    const { goal, conversation, system, answer } = view.run.request;
    const { ending, gap, memory } = view.run;
    return {
      kind: 'synthesis',
      question: goal,
      conversation,
      system,
      facts: [...currentFacts(memory)],
      answers: [],
      failed: [],
      openGap: ending && ending.outcome !== 'completed' ? gap || null : null,
      topics: subTopicsOf(view.run, view.own.how),
      parameters: answer,
      ...asAsked(view.run.request),
      ...fromOwnKnowledge(foundNothing(view)),
    };
  },
  take: (own, { result, why, ...verdict }, { run }, ref) => {
    if (result?.output?.kind !== 'synthesis') {
      const failure = 'failure' in verdict ? verdict.failure : null;
      return { ...own, unwritten: why === null || why === 'budget' ? '' : (failure?.message ?? 'no reply') };
    }
    const { text, insight, cutShort, unsupported } = result.output;
    const draft = { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch };
    return { ...own, draft: { ...draft, ...(unsupported?.length ? { unsupported } : {}) } };
  },
};

const doing: Readonly<Record<Synthesis, string>> = {
  merge: 'Joins what was found',
  compare: 'Compares what was found',
  rank: 'Puts in order what was found',
};

const answered = ({ found, empty, failed }: SubTopics): string =>
  `${found.length} of ${found.length + empty.length + failed.length} sub-topics were answered`;

/** The answer without a model: what was found about each sub-topic, and the failure of the call that was to write it. */
function foundAnswer({ run, own }: TopicsView, reason: string): Draft | null {
  const topics = subTopicsOf(run, own.how);
  const facts = currentFacts(run.memory);
  if (topics.found.length === 0) return null;
  const words = answerWords(run.request.language);
  const parts = topics.found.map(({ topic, facts: numbers, answer }) => {
    const lines = numbers.map((n) => `- ${bounded(oneLine(facts[n - 1]!.text), 400)} [${n}]`);
    return `${bounded(oneLine(topic), 200)}:\n${[...(answer === undefined ? [] : [bounded(answer, 2_000)]), ...lines].join('\n')}`;
  });
  const sources = topics.found.flatMap(({ facts: numbers }) => numbers.map((n) => ({ n, source: facts[n - 1]!.source })));
  const why = own.unwritten ? `\n\n${words.whyStopped} ${unwrittenReason(reason, own.unwritten)}` : '';
  const text = `${parts.join('\n\n')}${why}${sourceList(sources, words)}${topicsNote(topics, words)}`;
  return {
    text,
    sources: sources.map(({ n, source }) => ({ ...source, n })),
    insight: null,
    cutShort: false,
    epoch: run.epoch,
    ...(own.unwritten === null ? {} : { unwritten: own.unwritten }),
  };
}

/** Researches the sub-topics of a question at the same time, then joins, compares or ranks what was found. */
export const decompose: AskingStrategy<Own> = {
  id: 'decompose',
  commands: ['cancel', 'pause', 'resume'],
  options: DecomposeOptions,
  startsRuns: ({ child }) => (typeof child === 'string' ? [child] : []),
  readsNoAttachments: true,
  limits: (view) => ({ rounds: 1, adjusts: 0, stuck: 3, stall: null, end: hasFound(view) ? 'completed' : 'limit_reached' }),
  planAsk: topicsAsk,
  planner: {
    keeps,
    ask: (view) => ({ asked: askedOf(view) }),
    faults: ({ template }, { tasks, content }) => [
      ...(TopicsContent.safeParse(content).success ? [] : ['The plan does not say how its sub-topics become one answer.']),
      ...topicFaults(tasks, optionsOf(template).max_topics),
    ],
    fallback: (view, why) => (Object.keys(view.run.tasks).length > 0 ? null : fallback(view, why)),
  },
  judges: { synthesis },
  initial: () => ({ how: 'merge', draft: null, unwritten: null }),
  evolve: (own, fact) => (fact.kind === 'PlanTaken' ? { ...own, how: TopicsContent.parse(fact.plan.content).synthesis } : own),
  task: taskInput,
  onPlan: (view, { tasks }) => {
    const topics = tasks.map(({ task }) => bounded(task, 100)).join('; ');
    const text = `Researches ${tasks.length} sub-topic${tasks.length === 1 ? '' : 's'} at the same time: ${topics}`;
    return [
      { do: 'note', stage: 'researching_parallel', text },
      { do: 'dispatch', tasks: tasks.map((task) => requestedTask(view, task)) },
    ];
  },
  next: (view): readonly Move[] => {
    const { run, own } = view;
    if (run.ending === null) {
      if (run.plan) return [{ do: 'decide', reading: { by: 'rounds', ...(hasFound(view) ? {} : { open: nothingFound }) } }];
      return [{ do: 'note', stage: 'decomposing', text: 'Splits the question into sub-topics' }, { do: 'plan' }];
    }
    const topics = subTopicsOf(run, own.how);
    if (own.draft)
      return [
        { do: 'note', stage: 'done', text: answered(topics) },
        { do: 'say', draft: own.draft },
      ];
    if (own.unwritten !== null || (topics.found.length === 0 && foundNothing(view) === null)) return [];
    return [
      { do: 'note', stage: 'synthesizing', text: doing[own.how] },
      { do: 'judge', name: 'synthesis', from: 'reserve', stream: 'live', composes: true },
    ];
  },
  lastAnswer: (view, reason) => view.own.draft ?? foundAnswer(view, reason),
  summary: ({ run }, tasks) => ({
    planSummary: bounded(tasks.map(({ task }) => task).join('; '), 400),
    findings: bounded(
      currentFacts(run.memory)
        .map(({ text }) => bounded(oneLine(text), 300))
        .join('; '),
      2_000,
    ),
  }),
  report: ({ run }) => ({ complexity: 'complex', review: 'none', unique: subTopicsOf(run, 'merge').failed.length > 0 }),
};
