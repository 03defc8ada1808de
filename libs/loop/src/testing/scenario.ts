import type { Event, PlannedTask, ResultReady, RunLimits, Template } from '@conclave/contracts';
import {
  CommandIssued,
  commandId,
  makeEvent,
  noUsage,
  PlanCreated,
  planId,
  PlanRequested,
  ResultReady as ResultReadySpec,
  resultId,
  TimerFired,
  timerId,
  type Usage,
} from '@conclave/contracts';
import { step } from '../engine.js';
import type { EngineInput } from '../evolve.js';
import type { Decision } from '../moves.js';
import type { Draft, RunState } from '../state.js';
import type { Strategy } from '../strategy.js';

export const runId = 'run_00000001';
const start = 1_000_000;

export const template = (changes: Partial<Template> = {}): Template => ({
  id: 'conclave',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['m@fake'], prompt: 'general' } },
  capabilities: ['research'],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: { wall_time_s: 300, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 120,
  start_timeout_s: 30,
  planning_timeout_s: 60,
  progress: 'reasoning',
  prices: {},
  contexts: {},
  ...changes,
});

/** A strategy with the agentic shape and no prompts: what the engine needs to be tested by itself. */
export const plainStrategy: Strategy = {
  id: 'agentic',
  commands: ['cancel'],
  maxRounds: (of) => 1 + of.max_agentic_rounds,
  assessment: (of) => (of.max_agentic_rounds === 0 ? 'none' : of.gap_check),
  policy: { stuckThreshold: 3, stallLimit: 2 },
  taskInput: (run, { spec: task }) =>
    task.capability === 'research'
      ? { kind: 'research', task: task.task, query: task.query ?? '', limit: 5 }
      : {
          kind: 'expert',
          category: 'general',
          task: task.task,
          goal: run.goal,
          conversation: [],
          system: null,
          prompt: '',
          evidence: run.memory.facts,
        },
  gapInput: (run, draft) => ({
    kind: 'gap',
    question: run.goal,
    mode: draft ? 'answer' : 'evidence',
    draft: draft?.text ?? null,
    facts: run.memory.facts,
  }),
  hintsInput: (run, unsure) => ({
    kind: 'hints',
    question: run.goal,
    answers: unsure.map(([taskId, task]) => ({ taskId, category: 'general', task: task.spec.task, text: task.result!.text, gaps: [] })),
  }),
  scoreInput: (run, pairs) => ({
    kind: 'score',
    question: run.goal,
    pairs: pairs.map(({ id, before, after }) => ({
      taskId: id,
      category: 'general',
      task: before.spec.task,
      before: before.result!.text,
      after: after.result!.text,
    })),
  }),
  thinkingInput: (run) => ({ kind: 'thinking', question: run.goal, system: null, facts: run.memory.facts, answers: [] }),
  criticInput: (run, answer, categories) => ({
    kind: 'critic',
    question: run.goal,
    system: null,
    answer: answer.text,
    facts: run.memory.facts,
    categories: [...categories],
  }),
  synthesisInput: (run, openGap) => ({
    kind: 'synthesis',
    question: run.goal,
    conversation: [],
    system: null,
    facts: run.memory.facts,
    answers: [],
    failed: [],
    openGap,
    parameters: {},
    startedOn: '2026-01-01',
  }),
  ledgerAnswer: (run, reason): Draft | null =>
    run.memory.facts.length === 0
      ? null
      : {
          text: `${run.memory.facts.map((fact) => fact.text).join(' ')} (${reason})`,
          sources: [],
          insight: null,
          cutShort: false,
          epoch: run.epoch,
        },
  planSummary: (tasks) => tasks.map((task) => `${task.capability}: ${task.query ?? task.task}`).join('; '),
  findings: (run, epoch) =>
    run.memory.facts
      .filter((fact) => fact.epoch === epoch)
      .map((fact) => fact.text)
      .join('\n'),
};

export const research = (id: string, query: string): PlannedTask => ({
  id,
  capability: 'research',
  task: `Find: ${query}`,
  query,
  needs: [],
  metadata_filters: null,
});
export const expert = (id: string, task: string, needs: string[] = []): PlannedTask => ({
  id,
  capability: 'expert.general',
  task,
  query: null,
  needs,
  metadata_filters: null,
});
export const oneCall: Usage = { calls: 1, prompt: 100, completion: 20, reasoning: 0, cost: 0, estimated: false };

/** A run driven by hand: events in, decisions out, the clock moved by the test. */
export class Scenario {
  state: RunState | null = null;
  now = start;
  readonly outputs: Event[] = [];
  readonly decisions: Decision[] = [];
  private readonly of: Template;

  constructor(
    changes: Partial<Template> = {},
    private readonly strategy: Strategy = plainStrategy,
  ) {
    this.of = template(changes);
  }

  feed(event: EngineInput): Decision | null {
    const before = JSON.stringify(this.state);
    const decision = step(this.state, event, this.now, () => this.strategy);
    if (JSON.stringify(this.state) !== before) throw new Error('the step changed its argument');
    if (decision) {
      this.state = JSON.parse(JSON.stringify(decision.next)) as RunState;
      this.outputs.push(...decision.outputs);
      this.decisions.push(decision);
    }
    return decision;
  }

  private at = () => ({ runId, source: 'gateway' as const, time: this.now });

  request(limits: Partial<RunLimits> = {}, more: Partial<PlanRequested['data']> = {}): PlanRequested {
    return makeEvent(
      PlanRequested,
      { id: runId, ...this.at() },
      {
        goal: 'Who founded it?',
        conversation: [],
        system: null,
        template: this.of,
        limits: { ...this.of.limits, ...limits },
        caller: { tenant: 'default', actor: 'anonymous' },
        answer: {},
        origin: 'chat',
        requestedAt: this.now,
        ...more,
      },
    );
  }

  requested(limits: Partial<RunLimits> = {}, more: Partial<PlanRequested['data']> = {}): Decision | null {
    return this.feed(this.request(limits, more));
  }

  planned(epoch: number, tasks: PlannedTask[], usage: Usage = oneCall, more: Partial<PlanCreated['data']> = {}): Decision | null {
    return this.feed(
      makeEvent(
        PlanCreated,
        { id: planId(runId, epoch), ...this.at() },
        { epoch, complexity: 'moderate', tasks, searchQuestion: null, fallback: false, reAsks: 0, failure: null, usage, ...more },
      ),
    );
  }

  planFailed(epoch: number): Decision | null {
    return this.feed(
      makeEvent(
        PlanCreated,
        { id: planId(runId, epoch), ...this.at() },
        {
          epoch,
          complexity: 'moderate',
          tasks: [],
          searchQuestion: null,
          fallback: false,
          reAsks: 2,
          failure: { code: 'PROVIDER_UNREACHABLE', message: 'gone', retriable: true },
          usage: noUsage,
        },
      ),
    );
  }

  result(local: string, data: Partial<ResultReady['data']>, epoch = this.state?.epoch ?? 0): Decision | null {
    const id = `${runId}/${epoch}/${local}`;
    return this.feed(
      makeEvent(
        ResultReadySpec,
        { id: resultId(id), ...this.at() },
        {
          taskId: id,
          epoch,
          status: 'ok',
          output: null,
          confidence: null,
          gaps: [],
          refer: [],
          sources: [],
          failure: null,
          model: 'm@fake',
          usage: oneCall,
          attempt: 1,
          durationMs: 5,
          ...data,
        },
      ),
    );
  }

  found(local: string, ...texts: string[]): Decision | null {
    const taskId = `${runId}/${this.state?.epoch ?? 0}/${local}`;
    return this.result(local, {
      output: {
        kind: 'evidence',
        facts: texts.map((text) => ({
          text,
          source: { kind: 'corpus', title: 'doc', url: null },
          taskId,
          epoch: this.state?.epoch ?? 0,
          confidence: null,
        })),
      },
      usage: noUsage,
    });
  }

  failed(local: string): Decision | null {
    return this.result(local, { status: 'error', failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true } });
  }

  answered(local: string, finding: string, confidence = 0.6): Decision | null {
    return this.result(local, { output: { kind: 'answer', text: finding, finding }, confidence });
  }

  judged(verdict: 'complete' | 'needs_more_info', gap = '', name = 'judge.gap'): Decision | null {
    return this.result(name, { output: { kind: 'assessment', assessment: { verdict, gap, nextFocus: gap, parsed: true } } });
  }

  composed(text: string, name = 'judge.synthesis'): Decision | null {
    return this.result(name, { output: { kind: 'synthesis', text, insight: null, insightRejected: null, cutShort: false } });
  }

  fired(
    name: string,
    task: { started: boolean; liveWorkers: number } | null = null,
    arm = this.state?.timers[name]?.arm ?? 1,
  ): Decision | null {
    return this.feed(
      makeEvent(
        TimerFired,
        { id: timerId(runId, name, arm), ...this.at() },
        { runId, name, arm, dueAt: this.now, firedAt: this.now, task },
      ),
    );
  }

  cancel(seq = 1): Decision | null {
    return this.feed(
      makeEvent(
        CommandIssued,
        { id: commandId(runId, seq), ...this.at() },
        { seq, actor: 'me', issuedAt: this.now, command: { name: 'cancel', reason: 'no longer needed' } },
      ),
    );
  }

  abort(reason: string): Decision | null {
    return this.feed(
      makeEvent(
        CommandIssued,
        { id: commandId(runId, 9), ...this.at() },
        { seq: 9, actor: 'transport', issuedAt: this.now, command: { name: 'abort', reason } },
      ),
    );
  }

  types(): string[] {
    return this.outputs.map((event) => event.type);
  }

  dispatched(): string[] {
    return this.outputs.filter((event) => event.type === 'TaskDispatched').map((event) => event.id.slice(runId.length + 1));
  }

  completed(): Record<string, unknown> | undefined {
    const all = this.outputs.filter((event) => event.type === 'RunCompleted');
    if (all.length > 1) throw new Error('more than one terminal event');
    return all[0]?.data as Record<string, unknown> | undefined;
  }
}
