import { specOf, type StepRecorded } from '@conclave/contracts';
import type { EngineInput } from './engine.js';

export type RecordedStep = StepRecorded['data'];
type RecordedInput = RecordedStep['input'];
/** Content of a step's hash. */
export type HashedStep = Pick<RecordedStep, 'input' | 'request' | 'now' | 'facts'>;

const inputTypes: readonly string[] = ['PlanRequested', 'PlanCreated', 'ResultReady', 'TimerFired', 'CommandIssued'];

/** The recorded event, parsed as if this version read it from its topic. Throws an Error with the reason if that fails. */
export function inputOf(runId: string, { id, type, time, data }: RecordedInput): EngineInput {
  const spec = specOf(type);
  if (!spec || !inputTypes.includes(type)) throw new Error(`${type} is not an input of the engine.`);
  const parsed = spec.schema.safeParse(data);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.message}`);
    throw new Error(`The data of ${id} does not fit today's ${type} (${faults.join('; ')}).`);
  }
  // The sender is not recorded, because no decision may depend on it.
  return { id, type, runId, topic: spec.topic, key: runId, source: spec.from[0]!, time, data: parsed.data } as EngineInput;
}
