import { addUsage, type FactOf, type ResultReady } from '@conclave/contracts';
import { addFacts, factIdentity, saidBy } from '../memory.js';
import { isJudge, type RunState, type TaskState } from '../state.js';
import { newTask, refusedResult, resultOf } from '../task-results.js';
import { owing, withTask, type Folds } from './changes.js';

export const ofTasks: Folds<'TaskAdmitted' | 'TaskOpened' | 'TaskStarted' | 'TaskRefused' | 'TaskSettled' | 'TaskAccepted'> = {
  TaskAdmitted: admitted,
  TaskOpened: (run, { ref, allowance, startBy, timeoutS }) =>
    withTask(run, ref, { status: 'open', allowance, startBy, deadline: startBy + timeoutS * 1000 }),
  TaskStarted: (run, { ref }) => withTask(run, ref, { started: true }),
  TaskRefused: (run, fact) => {
    const refused = withTask(run, fact.ref, { status: 'settled', result: refusedResult(fact) });
    return run.ending || isJudge(run.tasks[fact.ref]!) ? refused : owing(refused, { hook: 'result', ref: fact.ref });
  },
  TaskSettled: settled,
  TaskAccepted: accepted,
};

function admitted(run: RunState, { ref, epoch, helper, taskClass, wish }: FactOf<'TaskAdmitted'>): RunState {
  const task: TaskState = {
    ...wish,
    epoch,
    taskClass,
    helper,
    ...newTask,
    accepted: wish.learn !== 'accepted',
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

/** Characters of an error that a planner sees. */
const longestError = 300;

function tried(run: RunState, { action }: TaskState, { status, output, failure }: ResultReady['data'], facts: number): RunState {
  if (action === null) return run;
  const outcome = status === 'ok' ? (output !== null && facts > 0 ? 'facts' : 'empty') : status === 'cancelled' ? 'cancelled' : 'failed';
  const { once: _, ...same } = action;
  // A planner that does not see why a call failed makes the same mistake again.
  const error = action.exact && outcome === 'failed' && failure ? { error: failure.message.slice(0, longestError) } : {};
  const unsent = outcome === 'failed' && failure?.unsent ? { unsent: true as const } : {};
  return { ...run, memory: { ...run.memory, tried: [...run.memory.tried, { ...same, outcome, ...error, ...unsent }] } };
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
