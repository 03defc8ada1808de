import {
  childRunId,
  specOf,
  type CallRecorded,
  type Event,
  type GapDetected,
  type StepRecorded,
  type TaskDispatched,
} from '@conclave/contracts';
import { canonicalJson, runCapability, type RecordedStep } from '@conclave/loop';
import type { StoredRecord } from '@conclave/ports';

/** Owner of a call, and the call's number: the inverse of `callStep`. */
const stepParts = /^(.+)\/call\/(\d+)$/;
export const ownerOf = (step: string): string => stepParts.exec(step)?.[1] ?? step;

/** Answer of the planner or a worker. */
export type RecordedOutcome = Pick<Event, 'id' | 'type' | 'time' | 'data'>;
const outcomeTypes: readonly string[] = ['PlanCreated', 'ResultReady'];
const outputTypes: readonly string[] = ['TaskDispatched', 'GapDetected', 'RunCompleted'];

/** All records of one run that are decisions or inputs of decisions. They may arrive in any order and repeatedly. */
export class Recording {
  /** As recorded, repeats included. */
  readonly steps: RecordedStep[] = [];
  /** The engine's outputs as stored on their topics, by event id. */
  readonly outputs = new Map<string, Event>();
  /** Ids of undecodable audit records: a step or a call may be among them. */
  readonly undecodable: string[] = [];
  /** Calls with two contradictory records. */
  readonly contradicted = new Set<string>();
  /** Size of its records on the log in bytes, a measure of memory use. */
  bytes = 0;
  private readonly calls = new Map<string, Map<string, CallRecorded>>();
  private readonly requests = new Map<string, RecordedOutcome>();
  private readonly outcomes = new Map<string, RecordedOutcome[]>();

  constructor(readonly runId: string) {}

  take({ event, headers, topic, partition, offset, raw }: StoredRecord): void {
    this.bytes += raw.length;
    if (event === null) {
      if (topic === 'audit') this.undecodable.push(headers['ce_id'] ?? `audit/${partition}/${offset}`);
    } else if (event.type === 'StepRecorded') this.takeStep((event as StepRecorded).data);
    else if (event.type === 'CallRecorded') this.takeCall(event as CallRecorded);
    else if (event.type === 'PlanRequested') this.requests.set('topic', event);
    else if (outcomeTypes.includes(event.type)) this.takeOutcome(event);
    else if (outputTypes.includes(event.type) && !this.outputs.has(event.id)) this.outputs.set(event.id, event);
  }

  /** The run's request: as the engine took it, else as stored on its topic. */
  get request(): Event | null {
    const found = this.requests.get('step') ?? this.requests.get('topic');
    return found ? this.eventOf(found) : null;
  }

  /** Whether there is anything besides calls that a gateway made for a client directly: such calls have records, but belong to no run. */
  get isRun(): boolean {
    const calls = [...this.calls.values()].flatMap((ofOwner) => [...ofOwner.values()]);
    const known = [this.steps, this.requests, this.outputs, this.outcomes, this.undecodable].some(
      (part) => ('length' in part ? part.length : part.size) > 0,
    );
    return known || calls.some(({ data }) => data.caller === undefined);
  }

  /** Owners of calls: ids of plans and tasks. */
  get owners(): readonly string[] {
    return [...this.calls.keys()];
  }

  /** Calls of a plan or task by step, ordered by number; of several attempts the last, which is the one a journal keeps. */
  callsOf(owner: string): ReadonlyMap<string, CallRecorded> {
    const number = (step: string): number => Number(stepParts.exec(step)?.[2] ?? 0);
    return new Map([...(this.calls.get(owner) ?? [])].sort(([a], [b]) => number(a) - number(b)));
  }

  /** Outcomes recorded under the id, the one the engine took first; several if the log contains different ones. */
  outcomesOf(id: string): readonly RecordedOutcome[] {
    return this.outcomes.get(id) ?? [];
  }

  /**
   * Whether a gateway made the calls for its client, such as the one to the tool model before a run: no event requested them, and what the
   * run needs of their replies is in its request.
   */
  isOfGateway(owner: string): boolean {
    return [...(this.calls.get(owner)?.values() ?? [])].every(({ data }) => data.caller !== undefined);
  }

  gaps(): readonly GapDetected[] {
    return [...this.outputs.values()].filter((event): event is GapDetected => event.type === 'GapDetected');
  }

  tasks(): readonly TaskDispatched[] {
    return [...this.outputs.values()].filter((event): event is TaskDispatched => event.type === 'TaskDispatched');
  }

  /** Ids of the runs that this one requested; one that was cancelled before it began has no records. */
  get children(): readonly string[] {
    return this.tasks().flatMap(({ data }) => (data.capability === runCapability ? [childRunId(data.taskId)] : []));
  }

  private takeStep(step: RecordedStep): void {
    this.steps.push(step);
    for (const input of [step.input, step.request]) {
      if (!input) continue;
      const { id, type, time } = input;
      // The engine refuses data that violates today's schema when it arrives.
      const data = specOf(type)?.schema.safeParse(input.data);
      if (!data?.success) continue;
      if (type === 'PlanRequested') this.requests.set('step', { id, type, time, data: data.data });
      else if (outcomeTypes.includes(type)) this.takeOutcome({ id, type, time, data: data.data }, true);
    }
  }

  private takeOutcome(outcome: RecordedOutcome, effective = false): void {
    const known = this.outcomes.get(outcome.id) ?? [];
    const others = known.filter(({ data }) => canonicalJson(data) !== canonicalJson(outcome.data));
    if (effective) this.outcomes.set(outcome.id, [outcome, ...others]);
    else if (others.length === known.length) this.outcomes.set(outcome.id, [...known, outcome]);
  }

  private takeCall(event: CallRecorded): void {
    const { step, attempt } = event.data;
    const owner = ownerOf(step);
    const calls = this.calls.get(owner) ?? new Map<string, CallRecorded>();
    this.calls.set(owner, calls);
    const known = calls.get(step);
    if (!known || known.data.attempt < attempt) calls.set(step, event);
    else if (known.data.attempt === attempt && canonicalJson(known.data) !== canonicalJson(event.data)) this.contradicted.add(step);
  }

  private eventOf(outcome: RecordedOutcome): Event {
    const spec = specOf(outcome.type)!;
    return { ...outcome, runId: this.runId, topic: spec.topic, key: this.runId, source: spec.from[0]! };
  }
}
