import { StepRecorded } from '@conclave/contracts';
import { foldStored, type RecordedStep, type RunState } from '@conclave/loop';
import type { Folding } from '@conclave/ports';
import { strategyOf } from '@conclave/strategies';

/** Id of the record of a step, by the version that the step produced. */
export const stepId = (runId: string, version: number): string => `${runId}/step/${version}`;

/** For stores that fold states from the engine's records. */
export const runFolding: Folding = {
  recordAt: (runId, version) => ({ topic: StepRecorded.topic, id: stepId(runId, version) }),
  fold: (runId, state, record) => foldStored(runId, state as RunState | null, record as RecordedStep, strategyOf),
};
