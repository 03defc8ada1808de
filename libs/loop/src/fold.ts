import { addUsage, noUsage, promptMarks, refusals, type FactOf, type RunFact, type ResultReady } from '@conclave/contracts';
import { ranMs } from './budget.js';
import { addFacts, factIdentity, saidBy } from './memory.js';
import { forked } from './fork-state.js';
import { isJudge, judgeName, type CommandRecord, type Owed, type RunState, type TaskResult, type TaskState } from './state.js';
import { viewOf, type Strategies } from './view.js';

/** The state after a fact. Only facts change a state. */
export function evolve(run: RunState | null, fact: RunFact, strategies: Strategies): RunState {
  if (fact.kind === 'RunStarted') return begun(fact);
  if (run === null) throw new Error(`The first fact of a run is RunStarted, not ${fact.kind}.`);
  const next = folded(run, fact, strategies);
  if (fact.kind === 'StrategyChosen' || next.faulty) return next;
  const strategy = strategies(next.strategy);
  const view = viewOf(next, strategies, null);
  let own: unknown = strategy.evolve ? strategy.evolve(next.own, fact, view) : next.own;
  if (fact.kind === 'TaskSettled' || fact.kind === 'TaskRefused') {
    const task = next.tasks[fact.ref]!;
    // Verdicts of earlier epochs and of cancelled judges are ignored.
    const counts = isJudge(task) && task.epoch === next.epoch && !isCancelled(fact);
    if (counts) own = strategy.judges[judgeName(task.spec.capability)]!.take(own, verdictOf(fact), { ...view, own }, fact.ref);
  }
  const kept = own === next.own ? next : { ...next, own };
  if (!strategy.wallTimeS) return kept;
  const wallS = strategy.wallTimeS({ ...view, own });
  return wallS === kept.wallS ? kept : { ...kept, wallS };
}

/** The state after recorded facts. */
export function foldFacts(run: RunState | null, facts: readonly RunFact[], runId: string, strategies: Strategies): RunState | null {
  return facts.reduce<RunState | null>((state, fact) => {
    const next = evolve(state, fact, strategies);
    return state === null ? { ...next, runId } : next;
  }, run);
}

const isCancelled = (fact: FactOf<'TaskSettled' | 'TaskRefused'>): boolean =>
  fact.kind === 'TaskSettled' ? fact.result.status === 'cancelled' : fact.why === 'cancelled';

const verdictOf = (fact: FactOf<'TaskSettled' | 'TaskRefused'>) =>
  fact.kind === 'TaskSettled' && fact.result.status === 'ok'
    ? ({ result: fact.result, why: null } as const)
    : fact.kind === 'TaskSettled'
      ? ({ result: null, why: fact.result.status, failure: fact.result.failure } as const)
      : ({ result: null, why: fact.why, failure: null } as const);

const begun = ({ at, strategy, request }: FactOf<'RunStarted'>): RunState => ({
  runId: '',
  request,
  strategy,
  own: null,
  epoch: 0,
  plan: null,
  awaiting: null,
  planned: 0,
  taken: -1,
  plans: [],
  keptPlan: null,
  tasks: {},
  round: null,
  factsBefore: 0,
  memory: { goal: request.goal, searchQuestion: null, facts: [], tried: [], userInputs: [] },
  history: [],
  decisions: [],
  rounds: 0,
  failedRounds: 0,
  roundsWithoutFacts: 0,
  adjusted: false,
  replans: 0,
  gap: '',
  nextFocus: '',
  assessed: false,
  spent: request.clientTools?.usage ?? noUsage,
  ran: 0,
  since: request.requestedAt,
  paused: null,
  question: null,
  commands: [],
  pauseSeq: 0,
  live: null,
  owed: [],
  ending: null,
  answer: null,
  failure: null,
  endedAt: null,
  openCalls: 0,
  due: { arm: 0, at: null },
  hash: '',
  last: at,
});

const owing = (run: RunState, owed: Owed): RunState => ({ ...run, owed: [...run.owed, owed] });
const commandsOf = (owed: readonly Owed[]): readonly Owed[] => owed.filter(({ hook }) => hook === 'command');
const withTask = (run: RunState, ref: string, change: Partial<TaskState>): RunState => ({
  ...run,
  tasks: { ...run.tasks, [ref]: { ...run.tasks[ref]!, ...change } },
});

function folded(run: RunState, fact: Exclude<RunFact, { kind: 'RunStarted' }>, strategies: Strategies): RunState {
  switch (fact.kind) {
    case 'StrategyChosen': {
      const chosen = { ...run, strategy: fact.strategy, plan: null, own: null };
      return { ...chosen, own: strategies(fact.strategy).initial(viewOf(chosen, strategies, null)) };
    }
    case 'StrategyFailed':
      return { ...run, faulty: true };
    case 'RunForked':
      return forked(run, fact);
    case 'PlanAwaited':
      return {
        ...run,
        epoch: fact.epoch,
        awaiting: { epoch: fact.epoch, deadline: fact.deadline },
        replans: run.replans + (fact.replan ? 1 : 0),
        owed: commandsOf(run.owed),
      };
    case 'PlanTaken':
      return owing(planTaken(run, fact), { hook: 'plan' });
    case 'PlanRefused': {
      const refused = { ...run, awaiting: null, spent: addUsage(run.spent, fact.usage), failure: fact.failure };
      return fact.by === 'engine' ? refused : owing(refused, { hook: 'noPlan', why: fact.why });
    }
    case 'UsageCounted': {
      const counted = { ...run, spent: addUsage(run.spent, fact.usage) };
      return run.tasks[fact.of] ? withTask(counted, fact.of, { lateUsage: fact.usage }) : counted;
    }
    case 'TaskAdmitted':
      return admitted(run, fact);
    case 'TaskOpened':
      return withTask(run, fact.ref, {
        status: 'open',
        allowance: fact.allowance,
        startBy: fact.startBy,
        deadline: fact.startBy + fact.timeoutS * 1000,
      });
    case 'TaskStarted':
      return withTask(run, fact.ref, { started: true });
    case 'TaskRefused': {
      const refused = withTask(run, fact.ref, { status: 'settled', result: refusedResult(fact) });
      return run.ending || isJudge(run.tasks[fact.ref]!) ? refused : owing(refused, { hook: 'result', ref: fact.ref });
    }
    case 'TaskSettled':
      return settled(run, fact);
    case 'TaskAccepted':
      return accepted(run, fact);
    case 'Turn':
      return { ...run, owed: run.owed.slice(1) };
    case 'RoundClosed':
      return {
        ...run,
        round: null,
        rounds: run.rounds + 1,
        failedRounds: fact.failed ? run.failedRounds + 1 : 0,
        roundsWithoutFacts: fact.newFacts > 0 ? 0 : run.roundsWithoutFacts + 1,
        assessed: false,
        history: [...run.history, { iteration: fact.epoch, plan_summary: fact.planSummary, findings: fact.findings, gap: '' }],
      };
    case 'Assessed': {
      const { reading } = fact;
      const gap = reading.sufficient === true ? '' : (reading.open ?? '');
      return {
        ...run,
        gap,
        nextFocus: reading.nextFocus ?? (gap === '' ? '' : run.nextFocus),
        failedRounds: reading.invalid ? run.failedRounds + 1 : run.failedRounds,
        assessed: reading.by !== 'rounds' && reading.unread === undefined && reading.unaffordable === undefined,
        history: run.history.map((entry, index) => (index === run.history.length - 1 ? { ...entry, gap } : entry)),
      };
    }
    case 'Decided': {
      const { epoch, rule, sentence, at, then } = fact;
      const decided = {
        ...run,
        decisions: [...run.decisions, { epoch, rule, sentence, at }],
        adjusted: run.adjusted || rule === 'D7',
      };
      return then === 'finish' ? decided : owing(decided, { hook: 'decided', then });
    }
    case 'Finishing':
      return { ...run, ending: fact.ending, awaiting: null, owed: commandsOf(run.owed) };
    case 'QuestionAsked':
      return { ...run, question: asked(fact), ran: ranMs(run, fact.at), since: null };
    case 'CommandAccepted': {
      const { seq, name, actor, at, key = null } = fact;
      return { ...run, commands: [...run.commands, { seq, name, actor, at, key, status: 'accepted', epoch: null, reason: null }] };
    }
    case 'CommandQueued': {
      const before = commandsOf(run.owed).length;
      const command = { hook: 'command', seq: fact.seq, command: fact.command } as unknown as Owed;
      return { ...run, owed: [...run.owed.slice(0, before), command, ...run.owed.slice(before)] };
    }
    case 'CommandApplied':
      return commandApplied(run, fact);
    case 'Paused':
      return { ...run, paused: { until: fact.until }, ran: ranMs(run, fact.at), since: null };
    case 'Resumed':
      return { ...run, paused: null, since: run.question ? null : fact.at };
    case 'CommandRejected':
      return {
        ...acknowledged(run, fact.seq, { status: 'rejected', reason: fact.reason }),
        owed: run.owed.filter((owed) => owed.hook !== 'command' || owed.seq !== fact.seq),
      };
    case 'StepEvaluated':
    case 'MemoryReplaced':
    case 'MemoryCompressed':
    case 'Noted':
      return run;
    case 'RunEnded': {
      const { ending, answer, failure, at, openCalls } = fact;
      return { ...run, ending, answer, failure, openCalls, endedAt: at, awaiting: null, owed: [], paused: null, question: null };
    }
  }
}

function planTaken(run: RunState, { epoch, plan }: FactOf<'PlanTaken'>): RunState {
  const { complexity, cached, fallback, usage, failure, searchQuestion, signals, tasks, content } = plan;
  const mayBeKept =
    run.planned === 0 &&
    tasks.length > 0 &&
    content === undefined &&
    (run.request.caching?.plan ?? null) !== null &&
    usage.calls > 0 &&
    !fallback;
  return {
    ...run,
    epoch,
    plan,
    awaiting: null,
    planned: run.planned + 1,
    taken: epoch,
    spent: addUsage(run.spent, usage),
    plans: [...run.plans, { epoch, complexity, cached, fallback, usage, failure, ...(content ? { content } : {}) }],
    ...(mayBeKept ? { keptPlan: { complexity, signals, tasks, searchQuestion } } : {}),
    memory: searchQuestion !== null && run.memory.searchQuestion === null ? { ...run.memory, searchQuestion } : run.memory,
  };
}

function admitted(run: RunState, { ref, epoch, helper, taskClass, wish }: FactOf<'TaskAdmitted'>): RunState {
  const task: TaskState = {
    ...wish,
    epoch,
    taskClass,
    helper,
    status: 'blocked',
    allowance: null,
    startBy: 0,
    deadline: 0,
    started: false,
    result: null,
    accepted: wish.learn !== 'accepted',
    superseded: false,
    unanswered: false,
    lateUsage: null,
  };
  const tasks = { ...run.tasks, [ref]: task };
  if (helper) return { ...run, tasks };
  return { ...run, tasks, round: [...(run.round ?? []), ref], ...(run.round ? {} : { factsBefore: run.memory.facts.length }) };
}

function settled(run: RunState, { ref, by, at, result }: FactOf<'TaskSettled'>): RunState {
  const task = run.tasks[ref]!;
  const said = task.learn === 'settled' ? saidBy(ref, task, result) : [];
  const memory = addFacts(run.memory, said);
  const learned: RunState = { ...run, memory, spent: addUsage(run.spent, result.usage) };
  const facts = memory.facts.length - run.memory.facts.length;
  const isWhole = task.stream === 'live' && result.status === 'ok' && by === 'worker';
  // The engine itself settles the tasks that it cancels. A worker that reports a cancel has therefore found the run's cancel flag.
  const flagged = by === 'worker' && result.status === 'cancelled' ? { flaggedAt: run.flaggedAt ?? at } : {};
  const next = withTask({ ...tried(learned, task, result, facts), ...(isWhole ? { live: ref } : {}), ...flagged }, ref, {
    status: 'settled',
    allowance: null,
    unanswered: by === 'engine',
    result: { ...resultOf(result, facts), echoes: said.length > facts ? said.map(factIdentity) : [] },
  });
  return run.ending || isJudge(task) || task.epoch !== run.epoch ? next : owing(next, { hook: 'result', ref });
}

function tried(run: RunState, { action }: TaskState, { status, output }: ResultReady['data'], facts: number): RunState {
  if (action === null) return run;
  const outcome = status === 'ok' ? (output !== null && facts > 0 ? 'facts' : 'empty') : status === 'cancelled' ? 'cancelled' : 'failed';
  const { once: _, ...same } = action;
  return { ...run, memory: { ...run.memory, tried: [...run.memory.tried, { ...same, outcome }] } };
}

/** Marks the facts of replaced results as superseded in the ledger, except those that the new result repeats. */
function accepted(run: RunState, { ref, instead }: FactOf<'TaskAccepted'>): RunState {
  const task = run.tasks[ref]!;
  const { finding, confidence } = task.result ?? { finding: null, confidence: null };
  const said = finding ? saidBy(ref, task, { status: 'ok', finding, confidence }) : [];
  const memory = task.learn === 'accepted' && !task.accepted ? addFacts(run.memory, said) : run.memory;
  const mine = [...memory.facts.filter((fact) => fact.taskId === ref), ...said].map(factIdentity);
  const own = new Set([...mine, ...(task.result?.echoes ?? [])]);
  const gone = new Set(instead);
  const facts = memory.facts.map((fact) =>
    gone.has(fact.taskId) && !fact.superseded && !own.has(factIdentity(fact)) ? { ...fact, superseded: true } : fact,
  );
  const tasks = { ...run.tasks, [ref]: { ...task, accepted: true } };
  for (const old of instead) if (tasks[old]) tasks[old] = { ...tasks[old], superseded: true };
  return { ...run, memory: { ...memory, facts }, tasks };
}

const acknowledged = (run: RunState, seq: number, change: Partial<CommandRecord>): RunState => ({
  ...run,
  commands: run.commands.map((command) => (command.seq === seq ? { ...command, ...change } : command)),
});

const asked = ({ question, deadline, calls }: FactOf<'QuestionAsked'>): RunState['question'] => ({
  ...{ text: question, deadline },
  ...(calls ? { calls } : {}),
});

function commandApplied(before: RunState, { seq, name, epoch, text, at, evidence }: FactOf<'CommandApplied'>): RunState {
  const run = acknowledged(before, seq, { status: 'applied', epoch });
  const said = text === undefined ? [] : [{ seq, text: markOf(name) + text }];
  const userInputs = [...run.memory.userInputs, ...said].sort((a, b) => a.seq - b.seq);
  const next: RunState = { ...run, memory: { ...run.memory, userInputs } };
  if (name === 'pause' || name === 'resume') return { ...next, pauseSeq: seq };
  if (name !== 'answer') return next;
  if (evidence) return { ...next, memory: addFacts(next.memory, evidence), question: null, since: run.paused ? null : at };
  const command = { name: 'answer' as const, text: text ?? '' };
  return owing({ ...next, question: null, since: run.paused ? null : at }, { hook: 'command', seq, command });
}

const markOf = (name: string): string => (name === 'steer' || name === 'add_context' ? `${promptMarks.userInputs[name]} ` : '');

const refusedResult = ({ why }: FactOf<'TaskRefused'>): TaskResult => ({
  ...nothing,
  status: why === 'budget' ? 'error' : why === 'cancelled' ? 'cancelled' : 'repeated',
  text: why === 'budget' || why === 'cancelled' ? '' : refusals[why],
  failure: why === 'budget' ? { code: 'ALLOWANCE_EXHAUSTED', message: refusals.budget, retriable: false } : null,
});

const nothing: TaskResult = {
  status: 'repeated',
  text: '',
  confidence: null,
  facts: 0,
  gaps: [],
  refer: [],
  model: null,
  failure: null,
  usage: noUsage,
  attempt: 0,
  durationMs: 0,
  cutShort: false,
  finding: null,
  notes: [],
  echoes: [],
};

const unreadVerdict = 'The reply held no verdict that could be read. It was taken as COMPLETE, and counts as not assessed.';

const resultOf = (data: ResultReady['data'], facts: number): Omit<TaskResult, 'echoes'> => {
  const output = data.status === 'ok' ? data.output : null;
  const { confidence, gaps, refer, model, failure, usage, attempt, durationMs, status } = data;
  return {
    ...{ status, confidence, facts, gaps, refer, model, failure, usage, attempt, durationMs },
    text: textOf(data),
    cutShort: output?.kind === 'answer' && output.cutShort === true,
    finding: output?.kind === 'answer' ? output.finding : null,
    notes:
      output?.kind === 'evidence'
        ? (output.notes ?? [])
        : output?.kind === 'assessment' && !output.assessment.parsed
          ? [unreadVerdict]
          : [],
  };
};

/** The text of a result, for people. */
export function textOf({ status, output }: ResultReady['data']): string {
  if (status !== 'ok' || output === null) return '';
  switch (output.kind) {
    case 'answer':
    case 'synthesis':
    case 'thinking':
    case 'run':
      return output.text;
    case 'evidence':
      return output.facts.map((fact) => fact.text).join('\n');
    case 'assessment':
      return output.assessment.gap;
    case 'critique':
      return output.reasons.join('; ');
    case 'hints':
      return Object.values(output.hints).join('\n');
    case 'values':
      return JSON.stringify(output.values);
    case 'scores':
      return output.scores.map(({ before, after }) => `${before} -> ${after}`).join('; ');
  }
}
