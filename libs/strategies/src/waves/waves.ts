import { type Draft, type PlannedTask, type TaskInput, type TaskInputDraft, type RequestedTask } from '@conclave/contracts';
import { currentFacts, isJudge, type Move, type TaskState, type Verdict, type View } from '@conclave/loop';
import type { AskedJudge, AskingStrategy } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { ledgerAnswer } from '../committee/ledger.js';
import { initialOwn } from '../committee/own.js';
import { actionOf } from '../plan-rules.js';
import { asAsked } from '../prompts/as-asked.js';
import { askedText } from '../prompts/call-text.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';
import { waveAsk } from './wave-ask.js';
import { optionsOf, WaveContent, waveFaults, WavesOptions, type KnownCall, type WaveAsked } from './wave-plan.js';

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

/** The result of a call: its own, or that of the equal call it repeats. */
function knownCall(view: WavesView, [, task]: readonly [string, TaskState]): KnownCall {
  const { spec, result } = task;
  const argument = actionOf(spec, []).argument;
  const first =
    result?.status === 'repeated'
      ? calls(view).find(([, { spec: other, result: of }]) => of?.status === 'ok' && actionOf(other, []).argument === argument)
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

/** A call for the engine. Its needs have ended, because they were called in an earlier wave. */
function requestedTask(view: WavesView, task: PlannedTask): RequestedTask {
  const spec = { ...task, needs: [] };
  const mayRepeat = (view.template.tools ?? []).find(({ name }) => name === task.tool)?.repeatable ?? false;
  return {
    spec,
    action: { ...actionOf(spec, []), ...(mayRepeat ? {} : { once: true }) },
    models: [],
    learn: 'settled',
    stream: 'held',
    timeoutS: optionsOf(view.template).call_timeout_s,
  };
}

function taskInput(view: WavesView, _ref: string, { spec }: TaskState): TaskInputDraft {
  const call = { kind: 'mcp', task: spec.task, tool: spec.tool ?? '', args: spec.args ?? {} } as const;
  if (isOffered(view, spec)) return call;
  const names = (view.template.tools ?? []).map(({ name }) => name);
  return { ...call, refused: `The tool "${spec.tool ?? ''}" is not offered. Use one of: ${names.join(', ') || 'none is offered'}.` };
}

/** Calls that never worked, each once and with its last failure: what worked for other arguments says nothing about these. */
function failedCalls(view: WavesView): Extract<TaskInput, { kind: 'synthesis' }>['failed'] {
  const key = ({ spec }: TaskState): string => actionOf(spec, []).argument;
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
    const { status, answered } = own.said.at(-1)!;
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
