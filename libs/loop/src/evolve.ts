import type { AnyEvent, Fact, ResultReady } from '@conclave/contracts';
import { addUsage } from '@conclave/contracts';
import { addFacts } from './memory.js';
import { actionOf } from './plan-rules.js';
import { takePlaces } from './superseding.js';
import { isJudge, unborn, type RunState, type TaskState } from './state.js';

/** Inputs of the engine. */
export type EngineInput = Extract<AnyEvent, { type: 'PlanRequested' | 'PlanCreated' | 'ResultReady' | 'TimerFired' | 'CommandIssued' }>;

/** What is now true. Never decides; a copy is returned, the argument stays as it was. What a step never changes in place is shared. */
export function evolve(current: RunState | null, event: EngineInput): RunState {
  const run = copyOf(current ?? unborn(event.runId));
  if (run.phase === 'done') return run;
  switch (event.type) {
    case 'PlanRequested':
      if (run.phase === 'unborn') {
        const { data } = event;
        run.goal = data.goal;
        run.memory = { ...run.memory, goal: data.goal };
        run.conversation = data.conversation;
        run.system = data.system;
        run.template = data.template;
        run.limits = data.limits;
        run.caller = data.caller;
        run.parameters = data.answer;
        run.origin = data.origin;
        // What an older request does not say stays unsaid, so that its recorded run has the state it had.
        if (data.attachments) run.attachments = data.attachments;
        if (data.cached) run.cached = data.cached;
        if (data.caching) run.caching = data.caching;
        if (data.detail) run.detail = data.detail;
        if (data.skill) run.skill = data.skill;
        run.startedAt = data.requestedAt;
      }
      return run;
    case 'PlanCreated':
      if (isAwaited(run, event.data.epoch)) run.earlyPlans[event.data.epoch] = event.data;
      else run.spent = addUsage(run.spent, event.data.usage);
      return run;
    case 'ResultReady': {
      const task = run.tasks[event.data.taskId];
      if (!task) run.earlyResults[event.data.taskId] = event.data;
      else if (task.status === 'settled') noteLate(run, task, event.data);
      else settle(run, event.data.taskId, task, event.data, event.time);
      return run;
    }
    case 'CommandIssued':
      run.commandSeq = Math.max(run.commandSeq, event.data.seq);
      if (run.phase === 'unborn') run.earlyCommands.push(event.data);
      return run;
    case 'TimerFired':
      return run;
  }
}

const copyEach = <V extends object>(table: Readonly<Record<string, V>>): Record<string, V> => {
  const copy: Record<string, V> = {};
  for (const [key, value] of Object.entries(table)) copy[key] = { ...value };
  return copy;
};

/** New where a step may write: the members of the run, of its tasks, timers and counters, and its lists. Everything below is only ever replaced. */
const copyOf = (run: RunState): RunState => ({
  ...run,
  earlyPlans: { ...run.earlyPlans },
  earlyResults: { ...run.earlyResults },
  earlyCommands: [...run.earlyCommands],
  plans: [...run.plans],
  tasks: copyEach(run.tasks),
  history: [...run.history],
  decisions: [...run.decisions],
  counters: { ...run.counters },
  timers: copyEach(run.timers),
  ...(run.composing ? { composing: { ...run.composing } } : {}),
});

/** A plan that is not awaited (any more) is no plan of this run; what it cost is counted all the same. */
const isAwaited = (run: RunState, epoch: number): boolean =>
  run.phase === 'unborn' || epoch > run.epoch || (run.phase === 'planning' && epoch === run.epoch);

/** A late result adds nothing to the answer; what it cost is counted all the same. */
function noteLate(run: RunState, task: TaskState, data: ResultReady['data']): void {
  if (task.lateUsage !== null || task.result?.attempt === data.attempt) return;
  task.lateUsage = data.usage;
  run.spent = addUsage(run.spent, data.usage);
}

const unreadVerdict = 'The reply held no verdict that could be read. It was taken as COMPLETE, and counts as not assessed.';

/** First effective outcome of a task: it is settled, its facts join the ledger, its reservation is released. */
export function settle(run: RunState, id: string, task: TaskState, data: ResultReady['data'], at: number): void {
  const before = run.memory.facts.length;
  const output = data.status === 'ok' ? data.output : null;
  // An expert that was asked again is heard only once its answer was scored better.
  const said = task.standing === 'candidate' ? [] : saidBy(id, task, data);
  run.memory = addFacts(run.memory, said);
  task.status = 'settled';
  task.allowance = null;
  task.result = {
    status: data.status,
    text: textOf(output),
    confidence: data.confidence,
    facts: run.memory.facts.length - before,
    gaps: data.gaps,
    refer: data.refer,
    model: data.model,
    failure: data.failure,
    usage: data.usage,
    attempt: data.attempt,
    durationMs: data.durationMs,
    settledAt: at,
    ...(output?.kind === 'answer' && output.cutShort ? { cutShort: true } : {}),
    ...(output?.kind === 'answer' && task.standing ? { finding: output.finding } : {}),
    ...(output?.kind === 'evidence' && output.notes?.length ? { notes: output.notes } : {}),
    ...(output?.kind === 'assessment' && !output.assessment.parsed ? { notes: [unreadVerdict] } : {}),
    ...(output?.kind === 'hints' ? { hints: output.hints } : {}),
    ...(output?.kind === 'scores' ? { scores: output.scores } : {}),
    ...(output?.kind === 'critique' ? { critique: output } : {}),
  };
  if (task.standing !== 'candidate') takePlaces(run, id, task, said);
  run.spent = addUsage(run.spent, data.usage);
  if (!isJudge(task) && task.origin === undefined) noteTried(run, task, data.status, output !== null && run.memory.facts.length > before);
  if (output?.kind === 'assessment') run.assessment = output.assessment;
  if (output?.kind === 'synthesis')
    run.draft = {
      text: output.text,
      sources: data.sources,
      insight: output.insight,
      cutShort: output.cutShort,
      epoch: task.epoch,
      ...(output.unsupported?.length ? { unsupported: output.unsupported } : {}),
    };
}

/** Facts that a result brings: its evidence, or the finding of an answer. */
function saidBy(id: string, task: TaskState, { status, output, confidence }: ResultReady['data']): readonly Fact[] {
  if (status !== 'ok') return [];
  if (output?.kind === 'evidence') return output.facts;
  if (output?.kind !== 'answer' || output.finding.trim() === '') return [];
  return [findingOf(task.spec.capability.slice('expert.'.length), id, task.epoch, output.finding, confidence)];
}

export const findingOf = (category: string, taskId: string, epoch: number, text: string, confidence: number | null): Fact => ({
  text,
  source: { kind: 'expert', title: category, url: null },
  taskId,
  epoch,
  confidence,
});

function textOf(output: ResultReady['data']['output']): string {
  if (output === null) return '';
  switch (output.kind) {
    case 'answer':
    case 'synthesis':
    case 'thinking':
      return output.text;
    case 'evidence':
      return output.facts.map((fact) => fact.text).join('\n');
    case 'assessment':
      return output.assessment.gap;
    case 'critique':
      return output.reasons.join('; ');
    case 'hints':
      return Object.values(output.hints).join('\n');
    case 'scores':
      return output.scores.map(({ before, after }) => `${before} -> ${after}`).join('; ');
  }
}

function noteTried(run: RunState, task: TaskState, status: ResultReady['data']['status'], foundFacts: boolean): void {
  const plan = Object.values(run.tasks)
    .filter((other) => other.epoch === task.epoch)
    .map((other) => other.spec);
  const outcome = status === 'ok' ? (foundFacts ? 'facts' : 'empty') : status === 'cancelled' ? 'cancelled' : 'failed';
  run.memory = {
    ...run.memory,
    tried: [...run.memory.tried, { ...actionOf(task.spec, plan), outcome }],
  };
}
