import { isDeepStrictEqual } from 'node:util';
import type { PlanRequested } from '@conclave/contracts';
import { inputOf, step, type RecordedStep, type RunState } from '@conclave/loop';
import { strategyOf } from '@conclave/strategies';

/** The content of the recorded steps of one run, and the result of driving them through today's engine. */
export interface DrivenRun {
  readonly runId: string;
  /** Versions with two different records: an update was lost. */
  readonly conflicts: readonly number[];
  /** Missing versions below the highest recorded one; both ends of a gap are included. */
  readonly gaps: readonly (readonly [number, number])[];
  /** Inputs that were applied in more than one version. */
  readonly repeated: readonly { readonly id: string; readonly versions: readonly number[] }[];
  /** Ids of the inputs that were applied. */
  readonly inputs: ReadonlySet<string>;
  /** Ids of the output events of each applied input. */
  readonly outputs: ReadonlyMap<string, readonly string[]>;
  /** How many outcomes the run accepted for each task. */
  readonly settled: ReadonlyMap<string, number>;
  /** Where today's engine could not continue; null if it took every step. */
  readonly refused: { readonly version: number; readonly sentence: string } | null;
  /** State after the last step that could be driven. */
  readonly state: RunState | null;
  /** Whether every expected step was driven. */
  readonly whole: boolean;
}

/** Drives the steps of a run in the order of their versions, up to the first gap or contradiction. */
export function driveRun(runId: string, steps: readonly RecordedStep[]): DrivenRun {
  const byVersion = new Map<number, RecordedStep>();
  const conflicts = new Set<number>();
  for (const recorded of steps) {
    const known = byVersion.get(recorded.version);
    if (!known) byVersion.set(recorded.version, recorded);
    else if (!isDeepStrictEqual(known, recorded)) conflicts.add(recorded.version);
  }
  const versions = [...byVersion.keys()].sort((a, b) => a - b);
  const gaps = versions.flatMap((version, index) => {
    const expected = (versions[index - 1] ?? 0) + 1;
    return version > expected ? [[expected, version - 1] as const] : [];
  });
  const applied = new Map<string, number[]>();
  const outputs = new Map<string, readonly string[]>();
  // Includes contradicting records: each of them was a step that was taken.
  for (const { input, outputs: out } of steps)
    outputs.set(input.id, [...new Set([...(outputs.get(input.id) ?? []), ...out.map(({ id }) => id)])]);
  for (const version of versions) {
    const { id } = byVersion.get(version)!.input;
    applied.set(id, [...(applied.get(id) ?? []), version]);
  }
  const end = Math.min(gaps[0]?.[0] ?? Infinity, ...conflicts);
  const drive = driven(
    runId,
    versions.filter((version) => version < end).map((version) => byVersion.get(version)!),
  );
  return {
    runId,
    conflicts: [...conflicts].sort((a, b) => a - b),
    gaps,
    repeated: [...applied].filter(([, in_]) => in_.length > 1).map(([id, in_]) => ({ id, versions: in_ })),
    inputs: new Set(outputs.keys()),
    outputs,
    ...drive,
    whole: end === Infinity && drive.refused === null,
  };
}

function driven(runId: string, steps: readonly RecordedStep[]): Pick<DrivenRun, 'settled' | 'refused' | 'state'> {
  const settled = new Map<string, number>();
  let state: RunState | null = null;
  for (const recorded of steps) {
    const { version } = recorded;
    try {
      const request = recorded.request ? (inputOf(runId, recorded.request) as PlanRequested) : null;
      const decision = step(state, inputOf(runId, recorded.input), recorded.now, strategyOf, request);
      if (!decision) return { settled, state, refused: { version, sentence: `${recorded.input.id} changes nothing there` } };
      for (const fact of decision.facts)
        if (fact.kind === 'TaskSettled' || fact.kind === 'TaskRefused') settled.set(fact.ref, (settled.get(fact.ref) ?? 0) + 1);
      // Between two steps, a store keeps the state as JSON.
      state = JSON.parse(JSON.stringify(decision.next)) as RunState;
    } catch (error) {
      return { settled, state, refused: { version, sentence: error instanceof Error ? error.message : String(error) } };
    }
  }
  return { settled, state, refused: null };
}
