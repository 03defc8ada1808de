import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ScenarioOutcome } from '../judge-control.js';
import { guaranteesPage } from './guarantees.js';
import { readRecorded, record, type RecordedOutcome } from './recorded.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-recorded-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ran = (more: Partial<ScenarioOutcome> = {}): ScenarioOutcome => ({
  scenario: 'poison',
  mode: 'embedded',
  without: null,
  short: true,
  red: false,
  summary: 'holds',
  findings: [],
  error: null,
  rows: [],
  recoveryMs: 1_200,
  figures: { accepted: 7, answered: 7, deaths: 0, duplicateCalls: 0, tokensWasted: 0 },
  seconds: 20,
  folder: '',
  ...more,
});
const cell = (name: string, outcome = 'survived') => ({ name: `kill:${name}`, outcome, recoveryMs: 5, runs: [], openRuns: 3 });
const finding = { check: 'one-terminal-event', id: 'run_1', sentence: 'Lost.' } as const;

/** What is recorded after these runs, one after the other. */
function recordedAfter(...runs: readonly (readonly [ScenarioOutcome, day: string])[]): readonly RecordedOutcome[] {
  const file = join(folder, 'recorded.json');
  for (const [outcome, day] of runs) record([outcome], new Date(`${day}T12:00:00Z`), file);
  return readRecorded(file);
}

describe('the record of fault scenarios', () => {
  it('keeps the last run of each scenario, mode and protection, even if it failed', () => {
    const kept = recordedAfter(
      [ran(), '2026-11-21'],
      [ran({ mode: 'distributed' }), '2026-11-21'],
      [ran({ without: 'dead-letters', findings: [{ ...finding, check: 'commit-after-effect' }] }), '2026-11-21'],
      [ran({ red: true, findings: [finding, { ...finding, id: 'run_2' }], short: false }), '2026-11-22'],
    );
    expect(kept.map(({ mode, without, date, form, holds, found }) => ({ mode, without, date, form, holds, found }))).toEqual([
      { mode: 'distributed', without: null, date: '2026-11-21', form: 'short', holds: true, found: {} },
      { mode: 'embedded', without: null, date: '2026-11-22', form: 'full', holds: false, found: { 'one-terminal-event': 2 } },
      { mode: 'embedded', without: 'dead-letters', date: '2026-11-21', form: 'short', holds: true, found: { 'commit-after-effect': 1 } },
    ]);
  });

  it('joins the parts of a kill matrix of one day, and drops those of an earlier day', () => {
    const half = (name: string, cells: readonly string[], red = false) =>
      ran({ scenario: `kill-matrix:${name}`, rows: cells.map((one) => cell(one)), red });
    const [joined] = recordedAfter(
      [half('old', ['merger:after-poll', 'planner:after-poll'], true), '2026-11-20'],
      [half('planner', ['planner:after-poll']), '2026-11-22'],
      [half('experts', ['experts:after-poll'], true), '2026-11-22'],
    );
    expect(joined).toMatchObject({ scenario: 'kill-matrix', holds: false, accepted: 14 });
    expect(Object.keys(joined!.cells!)).toEqual(['planner:after-poll', 'experts:after-poll']);
  });
});

describe('the page of guarantees', () => {
  it('reports everything as not run if nothing is recorded', () => {
    const page = guaranteesPage([]);
    expect(page).not.toMatch(/held|survived|red as it must be/);
    expect(page).toContain('| embedded: not run; distributed: not run | `npm run faults -- random-kills` |');
    expect(page).toContain('| experts | embedded not run, distributed not run | embedded not run');
    expect(page).toContain('embedded: not run | `npm run faults -- killer-record --without process-deaths`');
  });

  it('prints the results of the recorded runs: where, when, in which form, and what was found', () => {
    const page = guaranteesPage(
      recordedAfter(
        [ran(), '2026-11-21'],
        [ran({ mode: 'distributed', short: false, red: true, findings: [finding], error: 'It was not over.' }), '2026-11-22'],
        [ran({ without: 'dead-letters', findings: [{ ...finding, check: 'commit-after-effect' }] }), '2026-11-21'],
        [ran({ mode: 'distributed', without: 'dead-letters', red: true }), '2026-11-21'],
        [
          ran({ scenario: 'kill-matrix', rows: [cell('planner:after-poll'), cell('planner:after-commit', 'a run has not ended')] }),
          '2026-11-22',
        ],
      ),
    );
    expect(page).toContain(
      'distributed: **RED** (2026-11-22): one-terminal-event 1, the scenario broke off; embedded: held (2026-11-21, short form)',
    );
    expect(page).toContain('distributed: **proves nothing** (2026-11-21); embedded: red as it must be, 1 ids (2026-11-21)');
    expect(page).toMatch(
      /\| planner \| embedded survived, distributed not run \|.*\| embedded a run has not ended, distributed not run ° \|\n/,
    );
  });
});
