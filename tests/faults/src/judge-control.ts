import type { Outcome } from './run-scenario.js';
import type { Control } from './scenarios/scenario.js';

/** Red is a control that proves nothing: the named check found no ids, or the scenario broke off and nobody knows what else it would have met. */
export function judgeControl(outcome: Outcome, { without, check: wanted }: Pick<Control, 'without' | 'check'>): Outcome {
  const found = outcome.findings.filter((finding) => finding.check === wanted && finding.id !== '');
  const summary =
    found.length > 0
      ? `red as it must be: ${wanted}, ${found.length} ids such as ${found[0]!.id}`
      : `NOTHING found by ${wanted}: the scenario proves nothing about ${without}`;
  return outcome.error === null
    ? { ...outcome, red: found.length === 0, summary }
    : { ...outcome, red: true, summary: `BROKE OFF, so that it proves nothing about ${without}: ${outcome.error}` };
}
