import {
  CallRecorded,
  makeEvent,
  noUsage,
  PlanCreated,
  PlanRequested,
  planId,
  ResultReady,
  resultId,
  StepRecorded,
  taskTopic,
  type Event,
  type StreamBody,
  type StreamEntry,
  type TaskDispatched,
  type Template,
} from '@conclave/contracts';
import { recordedFacts, step, type EngineInput, type RunState } from '@conclave/loop';
import { serviceOfGroup } from '@conclave/platform';
import { chainHash, stateHash } from '@conclave/service-merger';
import { strategyOf } from '@conclave/strategies';
import type { HistoryEntry } from '@conclave/test-support';
import type { Evidence, LoggedRecord } from '../../evidence/evidence.js';

const template: Template = {
  id: 'conclave-fast',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 0,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['m@fake'], prompt: 'Answer.' } },
  capabilities: [],
  classes: { expert: 'expert', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 20,
  start_timeout_s: 10,
  planning_timeout_s: 20,
  progress: 'reasoning',
  prices: {},
  contexts: {},
};

/** Tokens of every call, both as the server uses them and as the audit counts them. */
const tokens = { prompt_tokens: 10, completion_tokens: 5 };
const usage = { ...noUsage, calls: 1, prompt: 10, completion: 5 };
export const answer = 'It is so [1].';

const groupsOf = (topic: string): readonly string[] => {
  if (topic === 'plan.requested') return ['merger', 'planner'];
  if (topic === 'gap.detected') return ['planner'];
  if (topic === 'run.completed') return ['graph-ingest'];
  if (topic === taskTopic('expert')) return ['tasks.expert'];
  if (topic === taskTopic('judge')) return ['tasks.judge'];
  return topic === 'audit' ? [] : ['merger'];
};
export const processOf = (service: string): string => `${service}-host-${service.length}-0a1b2c3d`;

/**
 * The evidence of a storm without faults: questions go through the real engine, all other parts are simulated here, and each
 * leaves the traces that the product leaves.
 */
export class Story {
  now = 1_000_000;
  readonly history: HistoryEntry[] = [];
  readonly records: LoggedRecord[] = [];
  private readonly asked: Evidence['asked'][number][] = [];
  private readonly states = new Map<string, { state: RunState | null; version: number }>();
  private readonly streams = new Map<string, StreamEntry[]>();
  private readonly done = new Map<string, Set<number>>();
  private calls = 0;
  private publishes = 0;

  constructor(...runIds: readonly string[]) {
    for (const runId of runIds) this.ask(runId);
  }

  evidence(changes: Partial<Evidence> = {}): Evidence {
    const whole: Evidence = {
      scenario: 'no-harm',
      mode: 'distributed',
      // Long after every time limit.
      collectedAt: this.now + 600_000,
      history: this.history,
      asked: this.asked,
      viewings: [...this.streams].map(([runId, entries]) => ({ runId, connection: 1, viewer: 'v1', lastEventId: 0, entries })),
      records: this.records,
      committed: [...new Set(this.records.map(({ topic }) => topic))].flatMap((topic) =>
        groupsOf(topic).map((group) => ({ group, topic, partition: 0, offset: String(this.next(topic)) })),
      ),
      lag: [{ group: 'merger', topic: 'results.ready', records: 0 }],
      memory: [{ process: 'merger', beforeMb: 100, afterMb: 120 }],
      closings: [{ process: 'merger', exit: { code: 0, signal: null, at: this.now }, ms: 300 }],
      replay: {
        code: 0,
        text: `${[...this.states.keys()].map((id) => `${id}: same decisions, same state: 5 steps`).join('\n')}\n`,
        modelCalls: 0,
      },
      deaths: [],
      upstreamFaults: false,
      mayFail: [],
      ...changes,
    };
    // As if it had been read from a file.
    return JSON.parse(JSON.stringify(whole)) as Evidence;
  }

  line(service: string, op: string, phase: string, id: string, data: unknown = null): HistoryEntry {
    const entry = { at: (this.now += 1), process: processOf(service), actor: service, op, phase, id, data };
    this.history.push(entry);
    return entry;
  }

  private next(topic: string): number {
    return this.records.filter((record) => record.topic === topic).length;
  }

  private ask(runId: string): void {
    const question = `What of ${runId}?`;
    this.line('client', 'ask', 'invoke', `ask-${runId}`, { question });
    this.line('client', 'ask', 'ok', `ask-${runId}`, { runId });
    this.asked.push({ id: `ask-${runId}`, question, runId, acceptedAt: this.now });
    const at = { id: runId, runId, source: 'gateway' as const, time: this.now };
    const caller = { tenant: 'default', actor: 'me' };
    const given = { conversation: [], system: null, template, limits: template.limits, caller, answer: {}, origin: 'runs' as const };
    this.publish('gateway', [makeEvent(PlanRequested, at, { goal: question, ...given, requestedAt: this.now })]);
  }

  private publish(service: string, events: readonly Event[]): void {
    const id = `publish-${(this.publishes += 1)}`;
    const data = { by: 'delivery', events: events.map(({ id, type, topic, runId }) => ({ id, type, topic, runId })) };
    this.line(service, 'publish', 'invoke', id, data);
    for (const event of events) {
      const { topic, type, runId, time } = event;
      const headers = { ce_id: event.id, ce_type: type, ce_runid: runId };
      const place = { topic, partition: 0, offset: String(this.next(topic)), appendedAt: (this.now += 1) };
      this.records.push({ ...place, headers, event: { id: event.id, type, runId, time, data: event.data } });
    }
    this.line(service, 'publish', 'ok', id, data);
    for (const event of events) for (const group of groupsOf(event.topic)) this.deliver(group, event);
  }

  private deliver(group: string, event: Event): void {
    const service = serviceOfGroup(group);
    const offset = this.records.findLast(({ topic, event: logged }) => topic === event.topic && logged?.id === event.id)!.offset;
    this.line(service, event.type, 'after-poll', event.id);
    const outputs = this.handle(group, service, event);
    this.line(service, event.type, 'before-publish', event.id);
    if (outputs.length > 0) this.publish(service, outputs);
    this.line(service, event.type, 'after-publish', event.id);
    this.line(service, event.type, 'after-commit', event.id);
    this.commit(group, event.topic, Number(offset));
  }

  /** Commits up to the first record that is not done. */
  private commit(group: string, topic: string, offset: number): void {
    const done = this.done.get(`${group} ${topic}`) ?? new Set<number>();
    this.done.set(`${group} ${topic}`, done.add(offset));
    let next = 0;
    while (done.has(next)) next += 1;
    this.line(serviceOfGroup(group), 'offset-commit', 'ok', group, { topic, partition: 0, offset: String(next) });
  }

  private handle(group: string, service: string, event: Event): readonly Event[] {
    if (group === 'graph-ingest') return [];
    if (group === 'merger') return this.engine(event as EngineInput);
    if (group === 'planner') return this.plan(event);
    return this.work(service, event as TaskDispatched);
  }

  private plan({ runId }: Event): readonly Event[] {
    const id = planId(runId, 0);
    const call = this.call('planner', runId, id);
    const tasks = ['x1', 'x2'].map((task) => ({
      id: task,
      capability: 'expert.general',
      task: `Do ${task}`,
      query: null,
      needs: [],
      metadata_filters: null,
    }));
    const data = {
      epoch: 0,
      complexity: 'moderate' as const,
      tasks,
      searchQuestion: null,
      fallback: false,
      reAsks: 0,
      failure: null,
      usage,
    };
    return [makeEvent(PlanCreated, { id, runId, source: 'planner', time: this.now }, data), call];
  }

  private work(service: string, { runId, data }: TaskDispatched): readonly Event[] {
    const { taskId, epoch, capability, stream } = data;
    const call = this.call(service, runId, taskId);
    const synthesis = capability === 'judge.synthesis';
    if (synthesis && stream === 'live') {
      this.show(runId, { kind: 'chunk', taskId, attempt: 1, offset: 0, text: answer.slice(0, 5) });
      this.show(runId, { kind: 'chunk', taskId, attempt: 1, offset: 5, text: answer.slice(5) });
    }
    const output = synthesis
      ? { kind: 'synthesis' as const, text: answer, insight: null, insightRejected: null, cutShort: false }
      : { kind: 'answer' as const, text: 'Yes.', finding: `It is ${taskId}.` };
    const rest = { gaps: [], refer: [], sources: [], failure: null, model: 'm@fake', usage, attempt: 1, durationMs: 5 };
    const at = { id: resultId(taskId), runId, source: service === 'merger' ? ('merger' as const) : ('experts' as const), time: this.now };
    return [makeEvent(ResultReady, at, { taskId, epoch, status: 'ok', output, confidence: 0.9, ...rest }), call];
  }

  private call(service: string, runId: string, owner: string): Event {
    const n = `call-${(this.calls += 1)}`;
    const callStep = `${owner}/call/0`;
    this.line(service, 'call', 'invoke', callStep, { attempt: 1, model: 'm@fake' });
    this.line('model', 'model.call', 'invoke', n);
    this.line('model', 'model.call', 'ok', n, { ending: 'finished', status: 200, ...tokens });
    this.line(service, 'call', 'ok', callStep, { attempt: 1, stored: 'stored' });
    const made = { startedAt: this.now, durationMs: 5, firstTokenMs: null, requestHash: '', request: null, reply: null, failure: null };
    const at = { id: `${callStep}/1`, runId, source: 'experts' as const, time: this.now };
    return makeEvent(CallRecorded, at, {
      step: callStep,
      attempt: 1,
      purpose: 'x',
      model: 'm@fake',
      reportedModel: null,
      status: 'ok',
      usage,
      ...made,
    });
  }

  private engine(event: EngineInput): readonly Event[] {
    const { runId } = event;
    const known = this.states.get(runId) ?? { state: null, version: 0 };
    const decision = step(known.state, event, (this.now += 1), strategyOf);
    if (!decision) return [];
    const version = known.version + 1;
    const { id, type, time, data } = event;
    const recorded = { input: { id, type, time, data }, now: this.now, facts: recordedFacts(decision.facts, { input: event }) };
    const next = { ...decision.next, hash: chainHash(known.state?.hash ?? '', recorded) };
    this.states.set(runId, { state: JSON.parse(JSON.stringify(next)) as RunState, version });
    for (const entry of decision.entries) this.show(runId, entry);
    const decided = decision.facts.findLast((fact) => fact.kind === 'Decided');
    const body = {
      version,
      ...recorded,
      ...{ rule: decided?.rule ?? null, ruleSentence: decided?.sentence ?? null },
      outputs: decision.outputs.map((output) => ({ id: output.id, type: output.type })),
      hash: next.hash,
      stateHash: next.endedAt === null ? null : stateHash(next),
    };
    return [
      ...decision.outputs,
      makeEvent(StepRecorded, { id: `${runId}/step/${version}`, runId, source: 'merger', time: this.now }, body),
    ];
  }

  private show(runId: string, body: StreamBody): void {
    const entries = this.streams.get(runId) ?? [];
    this.streams.set(runId, entries);
    entries.push({ ...body, id: entries.length + 1, at: this.now } as StreamEntry);
  }
}
