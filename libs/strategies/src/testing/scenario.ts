import type { Event, PlannedTask, ResultReady, RunFact, RunLimits, Template } from '@conclave/contracts';
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
import {
  canonicalJson,
  foldFacts,
  overdueTasks,
  recordedFacts,
  restoredFacts,
  step,
  type StepResult,
  type EngineInput,
  type RecordedStep,
  type RunState,
  type Strategy,
} from '@conclave/loop';
import { strategyOf } from '../registry.js';

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
  readonly decisions: StepResult[] = [];
  readonly facts: RunFact[] = [];
  /** Each input that had an effect, as the audit records its step. */
  readonly audit: RecordedStep[] = [];
  readonly strategies: (id: string) => Strategy;
  private readonly of: Template;

  constructor(changes: Partial<Template> = {}, strategy: Strategy | null = null) {
    this.of = template(changes);
    this.strategies = strategy ? () => strategy : strategyOf;
  }

  /** Applies a step as a store does: state and facts pass through JSON, and folding the facts must yield the state. */
  feed(event: EngineInput, request: PlanRequested | null = null): StepResult | null {
    const before = JSON.stringify(this.state);
    const decision = step(this.state, event, this.now, this.strategies, request);
    if (JSON.stringify(this.state) !== before) throw new Error('the step changed its argument');
    if (!decision) return null;
    const { hash, due, last } = decision.next;
    const given = { input: event, request };
    const stored = JSON.parse(JSON.stringify(recordedFacts(decision.facts, given))) as ReturnType<typeof recordedFacts>;
    const folded = foldFacts(this.state, restoredFacts({ ...given, facts: stored }), runId, this.strategies);
    const states = [decision.next, { ...folded, hash, due, last }].map(
      (state) => JSON.parse(JSON.stringify(state)) as Record<string, unknown>,
    );
    for (const key of new Set(states.flatMap((state) => Object.keys(state)))) {
      const [was, is] = states.map((state) => canonicalJson(state[key] ?? null));
      if (was !== is) throw new Error(`the facts fold to another ${key}:\n${was}\n${is}`);
    }
    this.state = JSON.parse(JSON.stringify(decision.next)) as RunState;
    this.outputs.push(...decision.outputs);
    this.facts.push(...decision.facts);
    this.decisions.push(decision);
    this.audit.push(this.recorded(event, request, stored, decision));
    return decision;
  }

  private recorded(event: EngineInput, request: PlanRequested | null, facts: RecordedStep['facts'], { outputs }: StepResult): RecordedStep {
    const inputOf = ({ id, type, time, data }: EngineInput) => ({ id, type, time, data });
    return {
      version: this.audit.length + 1,
      input: inputOf(event),
      ...(request ? { request: inputOf(request) } : {}),
      now: this.now,
      facts,
      ...{ rule: null, ruleSentence: null, hash: '', stateHash: null },
      outputs: outputs.map(({ id, type }) => ({ id, type })),
    };
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

  requested(limits: Partial<RunLimits> = {}, more: Partial<PlanRequested['data']> = {}): StepResult | null {
    return this.feed(this.request(limits, more));
  }

  planned(epoch: number, tasks: PlannedTask[], usage: Usage = oneCall, more: Partial<PlanCreated['data']> = {}): StepResult | null {
    return this.feed(
      makeEvent(
        PlanCreated,
        { id: planId(runId, epoch), ...this.at() },
        { epoch, complexity: 'moderate', tasks, searchQuestion: null, fallback: false, reAsks: 0, failure: null, usage, ...more },
      ),
    );
  }

  planFailed(epoch: number, usage: Usage = noUsage): StepResult | null {
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
          usage,
        },
      ),
    );
  }

  result(local: string, data: Partial<ResultReady['data']>, epoch = this.state?.epoch ?? 0): StepResult | null {
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

  found(local: string, ...texts: string[]): StepResult | null {
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

  failed(local: string): StepResult | null {
    return this.result(local, { status: 'error', failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true } });
  }

  answered(local: string, finding: string, confidence = 0.6): StepResult | null {
    return this.result(local, { output: { kind: 'answer', text: finding, finding }, confidence });
  }

  judged(verdict: 'complete' | 'needs_more_info', gap = '', name = 'judge.gap'): StepResult | null {
    return this.result(name, { output: { kind: 'assessment', assessment: { verdict, gap, nextFocus: gap, parsed: true } } });
  }

  composed(text: string, name = 'judge.synthesis'): StepResult | null {
    return this.result(name, { output: { kind: 'synthesis', text, insight: null, insightRejected: null, cutShort: false } });
  }

  /** Fires the run's timer when due, with what the pump reports about overdue tasks. */
  fired(about: { started?: boolean; liveWorkers?: number } = {}, arm = this.state?.due.arm ?? 0): StepResult | null {
    this.now = Math.max(this.now, this.state?.due.at ?? 0);
    return this.feed(this.timer(this.now, about, arm));
  }

  /** Facts the timer would produce at another time; the state does not change. */
  probed(at: number, about: { started?: boolean; liveWorkers?: number }): readonly RunFact[] {
    return step(this.state, this.timer(at, about, this.state!.due.arm), at, this.strategies)?.facts ?? [];
  }

  private timer(at: number, about: { started?: boolean; liveWorkers?: number }, arm: number): TimerFired {
    const overdue = this.state ? overdueTasks(this.state, at) : [];
    const tasks = overdue.map(({ taskId }) => ({ taskId, started: false, liveWorkers: 1, ...about }));
    const dueAt = this.state?.due.at ?? at;
    return makeEvent(TimerFired, { id: timerId(runId, arm), ...this.at() }, { runId, arm, dueAt, firedAt: at, tasks });
  }

  /** A command; `key` is that of its sender. With a request it comes before the run has begun. */
  command(
    seq: number,
    command: CommandIssued['data']['command'],
    { key, request = null }: { readonly key?: string; readonly request?: PlanRequested | null } = {},
  ): StepResult | null {
    const data = { seq, actor: 'me', issuedAt: this.now, ...(key === undefined ? {} : { key }), command };
    return this.feed(makeEvent(CommandIssued, { id: commandId(runId, seq), ...this.at() }, data), request);
  }

  cancel(seq = 1): StepResult | null {
    return this.command(seq, { name: 'cancel', reason: 'no longer needed' });
  }

  abort(reason: string): StepResult | null {
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
