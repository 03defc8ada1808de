import { noteSettled, settleUnanswered, startTimer, taskTimer } from './dispatch.js';
import { evolve, type EngineInput } from './evolve.js';
import { hinted, refineBarrier, scored, thought, type Write } from './compose.js';
import { answerFromCache, complete, endReview, finish, finishCancelled, interrupt, reviewEnded, write } from './finish.js';
import { Moves, type Decision } from './moves.js';
import { advance, assess, assessed, draftFailed, noteDecision, planMissing, takePlan, writeDraft } from './rounds.js';
import { isBorn, isJudge, type RunState, type TaskState } from './state.js';
import type { Strategy } from './strategy.js';
import { escalate } from './tiers.js';

/**
 * One step of a run: what is now true (`evolve`), then what follows (`decide`). Pure; `now` is the store's clock.
 * Null when the event changes nothing: the run has ended, or a timer was armed again meanwhile.
 */
export function step(current: RunState | null, event: EngineInput, now: number, strategyOf: (id: string) => Strategy): Decision | null {
  if (current?.phase === 'done') return null;
  if (event.type === 'TimerFired' && !isCurrent(current, event.data)) return null;
  return decide(evolve(current, event), event, now, strategyOf);
}

const isCurrent = (run: RunState | null, timer: { name: string; arm: number }): boolean => {
  const armed = run?.timers[timer.name];
  return armed !== undefined && armed.dueAt !== null && armed.arm === timer.arm;
};

/** What follows from an event on a state that has already taken it in. */
export function decide(state: RunState, event: EngineInput, now: number, strategyOf: (id: string) => Strategy): Decision {
  if (!isBorn(state)) return { next: state, outputs: [], entries: [], arm: [], disarm: [], cancels: [], rule: null };
  const moves = new Moves(state, now);
  // A command needs no strategy, so that a run whose strategy cannot be run can still be ended.
  if (event.type === 'CommandIssued') {
    takeCommand(moves, event.data);
    return moves.decision();
  }
  const strategy = strategyOf(state.template.strategy);
  switch (event.type) {
    case 'PlanRequested':
      if (state.phase === 'unborn') begin(moves, strategy);
      break;
    case 'PlanCreated':
      takePlan(moves, strategy);
      break;
    case 'ResultReady':
      takeResult(moves, strategy, event.data.taskId);
      break;
    case 'TimerFired':
      takeTimer(moves, strategy, event.data);
      break;
  }
  return moves.decision();
}

function begin(moves: Moves, strategy: Strategy): void {
  const { run } = moves;
  const end = run.startedAt + run.limits.wall_time_s * 1000;
  run.phase = 'planning';
  moves.entries.push({
    kind: 'run.started',
    template: run.template.id,
    strategy: run.template.strategy,
    maxRounds: strategy.maxRounds(run.template),
    question: run.goal,
  });
  if (run.skill) moves.think('skill.resolved', `Skill /${run.skill.name} ${run.skill.arguments}`.trim(), null, run.goal);
  if (run.cached && run.earlyCommands.length === 0) return answerFromCache(moves);
  moves.entries.push({ kind: 'planning', epoch: 0, iteration: 0, max: run.template.max_agentic_rounds });
  moves.arm('wall.reserve', run.startedAt + run.limits.wall_time_s * 850);
  moves.arm('wall', end);
  moves.arm('planning', moves.now + run.template.planning_timeout_s * 1000);
  const commands = run.earlyCommands;
  run.earlyCommands = [];
  for (const command of commands) takeCommand(moves, command);
  takePlan(moves, strategy);
}

const isArmed = (run: RunState, timer: string): boolean => typeof run.timers[timer]?.dueAt === 'number';

/** A result whose task the engine had settled before has no armed timer any more and moves nothing. */
function takeResult(moves: Moves, strategy: Strategy, id: string): void {
  const { run } = moves;
  const task = run.tasks[id];
  if (!task || task.result === null) return;
  if (!isArmed(run, startTimer(id)) && !isArmed(run, taskTimer(id))) return;
  noteSettled(moves, id, task);
  // The engine settles what it cancels itself, so the worker found the flag of the run: its command may be late or lost.
  if (task.result.status === 'cancelled') return finishCancelled(moves, 'cancel', 'its flag was set');
  taskEnded(moves, strategy, id, task);
}

/** What follows when a task has its outcome, by itself or by its clock. */
function taskEnded(moves: Moves, strategy: Strategy, id: string, task: TaskState): void {
  const { run } = moves;
  const result = task.result!;
  const next: Write = run.composing?.purpose === 'draft' ? writeDraft : write;
  if (!isJudge(task)) {
    if (run.phase === 'refining') return refineBarrier(moves, strategy, next);
    if (run.phase === 'collecting') escalate(moves, id, task);
    return advance(moves, strategy);
  }
  if (task.epoch !== run.epoch) return;
  const ok = result.status === 'ok';
  switch (task.spec.capability) {
    case 'judge.gap':
      return assessed(moves, strategy, ok);
    case 'judge.hints':
      return hinted(moves, strategy, task, next);
    case 'judge.score':
      return scored(moves, strategy, task, next);
    case 'judge.thinking':
      return thought(moves, strategy, task, next);
    case 'judge.critic':
      return reviewEnded(moves, task);
    default:
      if (run.phase === 'composing') return complete(moves, strategy, ok, result.failure);
      return ok ? assess(moves, strategy) : draftFailed(moves, strategy);
  }
}

function takeTimer(
  moves: Moves,
  strategy: Strategy,
  timer: { name: string; task: { started: boolean; liveWorkers: number } | null },
): void {
  const { run } = moves;
  run.timers[timer.name]!.dueAt = null;
  if (timer.name === 'planning') return run.phase === 'planning' ? planMissing(moves, strategy, null) : undefined;
  if (timer.name === 'wall' || timer.name === 'wall.reserve') return takeWall(moves, strategy, timer.name === 'wall');
  const id = timer.name.slice(timer.name.indexOf(':') + 1);
  const task = run.tasks[id];
  if (!task || task.status !== 'open') return;
  if (timer.name.startsWith('start:')) {
    if (timer.task?.started) return;
    const dead = timer.task?.liveWorkers === 0;
    settleUnanswered(
      moves,
      id,
      task,
      dead ? 'unavailable' : 'timeout',
      dead ? `No live worker serves the class ${task.taskClass}.` : 'No worker took the task before its start deadline.',
    );
  } else settleUnanswered(moves, id, task, 'timeout', 'The task did not end before its deadline.');
  taskEnded(moves, strategy, id, task);
}

function takeWall(moves: Moves, strategy: Strategy, over: boolean): void {
  const { run, now } = moves;
  if (!over && (run.phase === 'composing' || run.phase === 'reviewing')) return;
  const used = Math.round((now - run.startedAt) / 1000);
  const sentence = `The wall time is ${over ? '' : 'nearly '}used up: ${used} s of ${run.limits.wall_time_s} s.`;
  if (run.phase === 'reviewing') return endReview(moves);
  if (run.phase === 'composing') return interrupt(moves, strategy, sentence);
  noteDecision(moves, 'D2', sentence);
  finish(moves, strategy, { outcome: 'limit_reached', rule: 'D2', reason: sentence, reasonCode: 'budget_wall_time_s' }, over);
}

function takeCommand(moves: Moves, data: { seq: number; command: { name: string; reason?: string } }): void {
  const { run } = moves;
  const { seq, command } = data;
  if (run.phase === 'done') return;
  if (command.name === 'detach' || command.name === 'attach') return;
  if (command.name !== 'cancel' && command.name !== 'abort') {
    moves.entries.push({
      kind: 'command.rejected',
      seq,
      name: command.name,
      reason: `The strategy ${run.template.strategy} does not take this command.`,
    });
    return;
  }
  moves.entries.push({ kind: 'command.applied', seq, name: command.name, epoch: run.epoch });
  finishCancelled(moves, command.name, command.reason ?? 'no reason given');
}
