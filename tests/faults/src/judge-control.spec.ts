import { describe, expect, it } from '@jest/globals';
import type { Finding } from './evidence/evidence.js';
import { judgeControl, twiceAtMost } from './judge-control.js';
import type { ScenarioOutcome } from './judge-control.js';

const lost: Finding = { check: 'one-terminal-event', id: 'run_1', sentence: 'It was accepted and has no terminal event.' };
const ran = (error: string | null, ...findings: readonly Finding[]): ScenarioOutcome => ({
  scenario: 'killer-record',
  mode: 'embedded',
  without: 'process-deaths',
  short: true,
  red: true,
  summary: '',
  findings,
  error,
  rows: [],
  recoveryMs: null,
  figures: null,
  seconds: 1,
  folder: '',
});
const judged = (outcome: ScenarioOutcome) =>
  judgeControl(outcome, { without: 'process-deaths', check: 'one-terminal-event', says: 'no terminal event' });

describe('a control', () => {
  it('holds if its check found the loss, with ids', () => {
    expect(judged(ran(null, lost))).toMatchObject({
      red: false,
      summary: expect.stringContaining('one-terminal-event, 1 ids such as run_1'),
    });
  });

  it.each<[string, ScenarioOutcome]>([
    ['the scenario broke off, whatever was found', ran('It was not over after 150 s.', lost)],
    ['another check alone found something', ran(null, { ...lost, check: 'calm-afterwards' })],
    ['its check found only something else', ran(null, { ...lost, sentence: 'It was aborted by a dead letter.' })],
    ['no id is named', ran(null, { ...lost, id: '' })],
    ['nothing was found', ran(null)],
  ])('proves nothing if %s', (_why, outcome) => expect(judged(outcome).red).toBe(true));

  it.each<[string, readonly ScenarioOutcome[], boolean, number]>([
    ['once if it proves something', [ran(null, lost)], false, 1],
    ['twice if it proved nothing at first', [ran(null), ran(null, lost)], false, 2],
    ['no third time', [ran(null), ran(null), ran(null, lost)], true, 2],
  ])('is run %s', async (_how, outcomes, red, times) => {
    const left = outcomes.map(judged);
    const kept: ScenarioOutcome[] = [];
    const outcome = await twiceAtMost(
      async () => left.shift()!,
      (first) => kept.push(first),
    );
    expect([outcome.red, outcomes.length - left.length, kept.length]).toEqual([red, times, times - 1]);
  });
});
