import type { Mode } from '@conclave/contracts';
import type { Control } from './scenarios/scenario.js';
import type { Figures, Finding } from './evidence/evidence.js';
import type { TableRow } from './world/world.js';

/** Result of one scenario in one mode. */
export interface ScenarioOutcome {
  readonly scenario: string;
  readonly mode: Mode;
  readonly without: string | null;
  /** Less load and shorter storms, as in CI. */
  readonly short: boolean;
  /** Something was found, or the scenario itself failed. For a control: nothing was found. */
  readonly red: boolean;
  readonly summary: string;
  readonly findings: readonly Finding[];
  /** What the scenario itself threw; this never counts as the failure that a control needs. */
  readonly error: string | null;
  readonly rows: readonly TableRow[];
  readonly recoveryMs: number | null;
  readonly figures: Figures | null;
  readonly seconds: number;
  /** Where its evidence is. */
  readonly folder: string;
}

/** A red control proves nothing: the named check found no ids, or the scenario broke off, so further findings are unknown. */
export function judgeControl(
  outcome: ScenarioOutcome,
  { without, check: wanted, says = '' }: Pick<Control, 'without' | 'check' | 'says'>,
): ScenarioOutcome {
  const found = outcome.findings.filter(({ check, id, sentence }) => check === wanted && id !== '' && sentence.includes(says));
  const summary =
    found.length > 0
      ? `red as it must be: ${wanted}, ${found.length} ids such as ${found[0]!.id}`
      : `NOTHING found by ${wanted}: the scenario proves nothing about ${without}`;
  return outcome.error === null
    ? { ...outcome, red: found.length === 0, summary }
    : { ...outcome, red: true, summary: `BROKE OFF, so that it proves nothing about ${without}: ${outcome.error}` };
}

/** A loss that needs a certain moment may not occur on a slow machine, so a control that proves nothing is run a second time. */
export async function twiceAtMost(run: () => Promise<ScenarioOutcome>, keep: (first: ScenarioOutcome) => void): Promise<ScenarioOutcome> {
  const first = await run();
  if (!first.red) return first;
  keep(first);
  return run();
}
