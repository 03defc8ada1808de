import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '@conclave/test-support/system';
import type { Mode } from '@conclave/contracts';
import type { CheckName } from '../evidence/evidence.js';
import type { ScenarioOutcome } from '../judge-control.js';

/** Result of one cell of the kill matrix. */
export interface RecordedCell {
  readonly outcome: string;
  /** Runs of the cell's own questions that were open when the process died. */
  readonly openRuns: number;
}

/** Result of the last recorded run of one scenario in one mode, with no protection or one protection switched off. */
export interface RecordedOutcome {
  readonly scenario: string;
  readonly mode: Mode;
  readonly without: string | null;
  /** Day of the run, `2026-11-22`. */
  readonly date: string;
  /** `short` is what CI runs: less load and shorter storms. */
  readonly form: 'short' | 'full';
  /** Whether it went as promised; for a control: whether the named check failed with ids, and nothing broke off. */
  readonly holds: boolean;
  /** Checks that found something, with the number of ids. */
  readonly found: Readonly<Partial<Record<CheckName, number>>>;
  /** What the scenario itself threw. */
  readonly error: string | null;
  readonly recoveryMs: number | null;
  readonly answered: number;
  readonly accepted: number;
  readonly duplicateCalls: number;
  /** Cells of the kill matrix, by `<service>:<point>`. */
  readonly cells?: Readonly<Record<string, RecordedCell>>;
}

const file = join(workspaceRoot, 'tests/faults/recorded.json');
const keyOf = ({ scenario, mode, without }: Pick<RecordedOutcome, 'scenario' | 'mode' | 'without'>): string =>
  `${scenario} ${mode} ${without ?? ''}`;

/** The recorded runs of the repository; none if nothing was recorded yet. */
export const readRecorded = (from = file): readonly RecordedOutcome[] =>
  existsSync(from) ? (JSON.parse(readFileSync(from, 'utf8')) as readonly RecordedOutcome[]) : [];

/** Replaces earlier outcomes of the same scenario, mode and protection; others stay. */
export function record(outcomes: readonly ScenarioOutcome[], now: Date, to = file): void {
  const all = new Map(readRecorded(to).map((one) => [keyOf(one), one]));
  for (const outcome of outcomes) {
    const fresh = recordedOf(outcome, now);
    const known = all.get(keyOf(fresh));
    all.set(keyOf(fresh), known && arePartsOfOne(known, fresh) ? joined(known, fresh) : fresh);
  }
  const lines = [...all.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map((one) => `  ${JSON.stringify(one)}`);
  writeFileSync(to, `[\n${lines.join(',\n')}\n]\n`);
}

/** Whether these are two parts of a matrix that were run on one day: they arrive one by one. */
function arePartsOfOne(known: RecordedOutcome, fresh: RecordedOutcome): boolean {
  const cells = Object.keys(fresh.cells ?? {});
  return (
    known.date === fresh.date &&
    known.form === fresh.form &&
    known.cells !== undefined &&
    cells.length > 0 &&
    !cells.some((cell) => cell in known.cells!)
  );
}

function recordedOf(outcome: ScenarioOutcome, now: Date): RecordedOutcome {
  const { scenario, mode, without, findings, error, recoveryMs, figures, rows, red, short } = outcome;
  const found: Partial<Record<CheckName, number>> = {};
  for (const { check } of findings) found[check] = (found[check] ?? 0) + 1;
  const cells = rows.flatMap(({ name, outcome: became, openRuns }) =>
    openRuns === undefined ? [] : [[name.replace('kill:', ''), { outcome: became, openRuns }] as const],
  );
  return {
    // Halves of the matrix count as the matrix.
    scenario: scenario.replace(/^(kill-matrix):.*/, '$1'),
    mode,
    without,
    date: now.toISOString().slice(0, 10),
    form: short ? 'short' : 'full',
    holds: !red,
    found,
    error,
    recoveryMs,
    answered: figures?.answered ?? 0,
    accepted: figures?.accepted ?? 0,
    duplicateCalls: figures?.duplicateCalls ?? 0,
    ...(cells.length > 0 ? { cells: Object.fromEntries(cells) } : {}),
  };
}

/** The matrix of both parts: it passed if both did. */
function joined(known: RecordedOutcome, fresh: RecordedOutcome): RecordedOutcome {
  const found: Partial<Record<CheckName, number>> = { ...known.found };
  for (const [check, count] of Object.entries(fresh.found) as [CheckName, number][]) found[check] = (found[check] ?? 0) + count;
  const both = (pick: (one: RecordedOutcome) => number): number => pick(known) + pick(fresh);
  return {
    ...fresh,
    holds: known.holds && fresh.holds,
    found,
    error: [known.error, fresh.error].filter(Boolean).join('; ') || null,
    recoveryMs: Math.max(known.recoveryMs ?? 0, fresh.recoveryMs ?? 0) || null,
    answered: both(({ answered }) => answered),
    accepted: both(({ accepted }) => accepted),
    duplicateCalls: both(({ duplicateCalls }) => duplicateCalls),
    cells: { ...known.cells, ...fresh.cells },
  };
}
