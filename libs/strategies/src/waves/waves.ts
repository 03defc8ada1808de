import { type Draft, type PlannedTask, type TaskInput, type TaskInputDraft, type RequestedTask } from '@conclave/contracts';
import { currentFacts, isJudge, type Move, type TaskState, type Verdict, type View } from '@conclave/loop';
import type { AskedJudge, AskingStrategy, PlanAsked, PlanSaid, TakenValue } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { ledgerAnswer } from '../committee/ledger.js';
import { initialOwn } from '../committee/own.js';
import { asAsked } from '../prompts/as-asked.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { askedText } from '../prompts/call-text.js';
import { isExcerpt } from '../prompts/excerpt.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';
import { likeliest } from '../replies/names.js';
import { callAction } from '../call-action.js';
import { undoneCalls } from '../undone-calls.js';
import { unfilledOf, type Unfilled } from '../unfilled.js';
import { filledIn, referencesOf, valueAt } from './references.js';
import { waveAsk } from './wave-ask.js';
import { optionsOf, WaveContent, waveFaults, WaveAsked, WavesOptions, type KnownCall } from './wave-plan.js';

/** Consecutive waves of only failed calls after which a run is stuck. */
const stuckWaves = 3;

/** Why waves end although the planner does not say that it is done. */
const noCall = 'The planner wants more, but names no call';
const allAnswered = 'All calls that the planner wants were answered before';

/** Own state of the strategy. */
interface Own {
  /** Contents of the plans, in order. */
  readonly said: readonly WaveContent[];
  readonly slots: Readonly<Record<string, unknown>>;
  readonly draft: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten: string | null;
}
type WavesView = View<Own>;

const calls = ({ run }: WavesView): readonly (readonly [string, TaskState])[] =>
  Object.entries(run.tasks).filter(([, task]) => !isJudge(task));

/** What equal calls have in common. */
const argumentOf = ({ template }: WavesView, { spec }: TaskState): string => callAction(spec, template.tools ?? []).argument;

/** The result of a call: its own, or that of the equal call it repeats. */
function knownCall(view: WavesView, [, task]: readonly [string, TaskState]): KnownCall {
  const { spec, result } = task;
  const argument = argumentOf(view, task);
  const first =
    result?.status === 'repeated'
      ? calls(view).find(([, other]) => other.result?.status === 'ok' && argumentOf(view, other) === argument)
      : undefined;
  const status = result?.status === 'ok' || first ? 'ok' : 'error';
  const text = first ? `The same as ${first[1].spec.id}.` : (result?.failure?.message ?? result?.text ?? '');
  return { id: spec.id, wave: task.epoch + 1, tool: spec.tool ?? '', args: spec.args ?? {}, status, text: text || 'an empty result' };
}

/** Input of the planner. */
const askedOf = (view: WavesView): WaveAsked => ({
  wave: view.run.planned + 1,
  of: optionsOf(view.template).max_waves,
  slots: view.own.slots,
  said: view.own.said.map(({ action, reasoning }) => ({ action, reasoning })),
  calls: calls(view).map((call) => knownCall(view, call)),
});

const isOffered = ({ template }: WavesView, { tool }: PlannedTask): boolean => (template.tools ?? []).some(({ name }) => name === tool);

/** What a plan takes from the results of earlier waves. */
function takenValues({ tasks }: PlanSaid, { asked }: PlanAsked): readonly TakenValue[] {
  const { calls: known } = WaveAsked.parse(asked);
  const answered = new Map(known.flatMap((call) => (call.status === 'ok' ? [[call.id, call] as const] : [])));
  const all = tasks.flatMap((task) => referencesOf(task, new Set(answered.keys())));
  return [...new Map(all.map((reference) => [reference.said, reference])).values()].map(({ said, call, path }) => {
    const { id, wave, text } = answered.get(call)!;
    return { said, task: { epoch: wave - 1, id }, known: text, isWhole: !isExcerpt(text), of: (whole) => valueAt(whole, path) };
  });
}

/** A call for the engine. Its needs have ended, because they were called in an earlier wave. */
function requestedTask(view: WavesView, task: PlannedTask): RequestedTask {
  const spec = { ...task, needs: [] };
  return {
    spec,
    action: callAction(spec, view.template.tools ?? []),
    models: [],
    learn: 'settled',
    stream: 'held',
    timeoutS: optionsOf(view.template).call_timeout_s,
  };
}

function taskInput(view: WavesView, _ref: string, { spec }: TaskState): TaskInputDraft {
  const call = { kind: 'mcp', task: spec.task, tool: spec.tool ?? '', args: spec.args ?? {} } as const;
  const names = (view.template.tools ?? []).map(({ name }) => name);
  if (!isOffered(view, spec))
    return { ...call, refused: `The tool "${spec.tool ?? ''}" is not offered. ${remedyFor(spec.tool ?? '', names)}` };
  const unfilled = unfilledIn(view)(spec);
  if (!unfilled) return call;
  const { name, said } = unfilled;
  return {
    ...call,
    refused: `It was not called: in "${name}", ${JSON.stringify(bounded(oneLine(said), 120))} stands for a value that is not filled in. Write the value itself, once an earlier wave has brought it.`,
    refusedAs: 'TOOL_ARGUMENTS_INVALID',
  };
}

/** Most tools that a refusal names: the prompt lists all. */
const namedTools = 8;

function remedyFor(tool: string, names: readonly string[]): string {
  if (names.length === 0) return 'None is offered.';
  const near = likeliest(tool, names).slice(0, namedTools);
  const others = names.length - near.length;
  return `Use one of: ${near.join(', ')}${others > 0 ? `, or another of the ${names.length} that are listed` : ''}.`;
}

/** Finds what stands for a value in a call of this run. */
function unfilledIn(view: WavesView): (spec: PlannedTask) => Unfilled | null {
  const ids = new Set(calls(view).map(([, task]) => task.spec.id));
  const names = (view.template.tools ?? []).map(({ name }) => name);
  return (spec) => unfilledOf(spec, ids, names);
}

/** Calls that never worked, each once and with its last failure: what worked for other arguments says nothing about these. */
function failedCalls(view: WavesView): Extract<TaskInput, { kind: 'synthesis' }>['failed'] {
  const key = (task: TaskState): string => argumentOf(view, task);
  const all = calls(view).map(([, task]) => task);
  const worked = new Set(all.filter(({ result }) => result?.status === 'ok').map(key));
  const failed = new Map<string, { capability: string; task: string; reason: string }>();
  for (const task of all) {
    const { spec, result } = task;
    if (result?.failure && !worked.has(key(task)))
      failed.set(key(task), { capability: spec.capability, task: askedText(spec), reason: result.failure.message });
  }
  return [...failed.values()];
}

/**
 * Whether the wave is the last one by its planner. One that takes results of the same wave as arguments is not: these calls were not
 * made, and the values are known now.
 */
function isLast(view: WavesView): boolean {
  const { run, own } = view;
  if (own.said.at(-1)!.status !== 'done') return false;
  const mine = calls(view).filter(([, task]) => task.epoch === run.epoch && isOffered(view, task.spec));
  const unfilled = unfilledIn(view);
  return !mine.some(([, { spec }]) => unfilled(spec) !== null);
}

/** Writes the answer from the results of the calls. */
const synthesis: AskedJudge<Own> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => {
    const { run } = view;
    const { goal, conversation, system, answer } = run.request;
    return {
      kind: 'synthesis',
      question: goal,
      conversation,
      system,
      facts: [...currentFacts(run.memory)],
      answers: [],
      failed: failedCalls(view),
      ...undoneCalls(
        calls(view).map(([, task]) => ({ task, at: task.epoch })),
        view.template.tools ?? [],
      ),
      // What is open says only that waves ran out, which is nothing about the question.
      openGap: null,
      parameters: answer,
      ...asAsked(run.request),
      ...fromOwnKnowledge(view.own.said.length === 0 ? unsourced(view) : null),
    };
  },
  take: (own, verdict, { run }, ref) => {
    const { result } = verdict;
    if (result?.output?.kind !== 'synthesis') return { ...own, unwritten: unwrittenWhy(verdict) };
    const { text, insight, cutShort, unsupported } = result.output;
    const draft = { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch };
    return { ...own, draft: { ...draft, ...(unsupported?.length ? { unsupported } : {}) } };
  },
};

const unwrittenWhy = (verdict: Verdict): string =>
  verdict.why === null || verdict.why === 'budget' ? '' : (verdict.failure?.message ?? 'no reply');

/**
 * Tool waves: the planner names only calls that are possible with what is known, sees their results and plans the next wave; a composer
 * writes the answer.
 */
export const waves: AskingStrategy<Own> = {
  id: 'waves',
  roundName: 'wave',
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'],
  options: WavesOptions,
  callsTools: true,
  readsNoAttachments: true,
  limits: ({ template }) => {
    const rounds = optionsOf(template).max_waves;
    return { rounds, adjusts: rounds - 1, stuck: stuckWaves, stall: null, end: 'limit_reached' };
  },
  planAsk: waveAsk,
  planTakes: { values: takenValues, filled: (said, values) => ({ ...said, tasks: said.tasks.map((task) => filledIn(task, values)) }) },
  planner: {
    ask: (view) => ({ asked: askedOf(view) }),
    faults: (view, { tasks, content }) => [
      ...(WaveContent.safeParse(content).success ? [] : ['The plan does not say whether it is done.']),
      ...waveFaults(tasks, new Set(calls(view).map(([, { spec }]) => spec.id))),
    ],
  },
  judges: { synthesis },
  initial: () => ({ said: [], slots: {}, draft: null, unwritten: null }),
  evolve: (own, fact) => {
    if (fact.kind !== 'PlanTaken') return own;
    const said = WaveContent.parse(fact.plan.content);
    return { ...own, said: [...own.said, said], slots: { ...own.slots, ...said.slots } };
  },
  task: taskInput,
  announces: ({ content }) => {
    const { action = '', answered } = WaveContent.safeParse(content).data ?? {};
    return answered === undefined ? action : [action, allAnswered].filter(Boolean).join('. ');
  },
  onPlan: (view, { tasks }) => [{ do: 'dispatch', tasks: tasks.map((task) => requestedTask(view, task)) }],
  next: (view): readonly Move[] => {
    const { run, own, lastRound } = view;
    if (run.ending) {
      if (own.draft) return [{ do: 'say', draft: own.draft }];
      const mayWrite = own.unwritten === null && (own.said.length > 0 || run.memory.facts.length > 0 || unsourced(view) !== null);
      return mayWrite ? [{ do: 'judge', name: 'synthesis', from: 'reserve', stream: 'live', composes: true }] : [];
    }
    if (run.plan === null) return [{ do: 'plan' }];
    const { answered } = own.said.at(-1)!;
    const status = isLast(view) ? 'done' : 'continue';
    if (answered !== undefined || (status !== 'done' && run.plan.tasks.length === 0))
      return [{ do: 'decide', reading: { by: 'planner', sufficient: true, ends: answered === undefined ? noCall : allAnswered } }];
    if (status === 'done') return [{ do: 'decide', reading: { by: 'planner', sufficient: true } }];
    // Something stays open only if no wave is left.
    const open = lastRound ? { open: 'the planner wanted more calls' } : {};
    return [{ do: 'decide', reading: { by: 'planner', sufficient: false, model: 'continue', ...open } }];
  },
  onDecided: () => [{ do: 'plan' }],
  lastAnswer: (view, reason) => {
    const { own } = view;
    if (own.draft) return own.draft;
    // What the planner says it does is no answer to the question.
    const found = ledgerAnswer({ ...view, own: initialOwn }, reason, own.unwritten);
    return found && { ...found, unwritten: own.unwritten ?? '' };
  },
  summary: ({ own, run }, tasks) => ({
    planSummary: `${own.said.at(-1)?.action ?? ''} (${tasks.map(({ id, tool }) => `${id} ${tool ?? ''}`).join(', ')})`,
    findings: currentFacts(run.memory)
      .filter(({ epoch }) => epoch === run.epoch)
      .map(({ text }) => text.slice(0, 300))
      .join('; '),
  }),
  report: (view) => ({ complexity: 'moderate', review: 'none', unique: calls(view).length > 0 }),
};
