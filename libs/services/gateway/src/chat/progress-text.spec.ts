import { describe, expect, it } from '@jest/globals';
import type { StreamBody } from '@conclave/contracts';
import { completed } from '../__fixtures__/world.js';
import { progressText } from './progress-text.js';

const run = 'run_12345678';
const cases: readonly (readonly [StreamBody, string | null])[] = [
  [
    { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'Why?' },
    '🎯 conclave: strategy agentic, up to 3 re-plans',
  ],
  [{ kind: 'planning', epoch: 0, iteration: 0, max: 3 }, '📋 Planning'],
  [
    {
      kind: 'plan.ready',
      epoch: 0,
      fallback: false,
      tasks: [
        { taskId: `${run}/0/r1`, capability: 'research', task: 'Find\nthe colour', needs: [] },
        { taskId: `${run}/0/x1`, capability: 'expert.science', task: 'Explain', needs: ['r1'] },
      ],
    },
    '📋 Plan: 2 tasks\n   r1 · research: Find the colour\n   x1 · expert.science: Explain (after r1)',
  ],
  [{ kind: 'task.dispatched', taskId: `${run}/0/r1`, capability: 'research', taskClass: 'evidence' }, '🌐 r1 · research started'],
  [
    { kind: 'task.dispatched', taskId: `${run}/0/judge.gap`, capability: 'judge.gap', taskClass: 'judge' },
    '🔎 Checking what is still missing',
  ],
  [
    {
      kind: 'task.settled',
      taskId: `${run}/0/r1`,
      capability: 'research',
      status: 'ok',
      confidence: null,
      facts: 2,
      summary: 'Rayleigh',
      durationMs: 1234,
    },
    '✅ r1 · research: 2 facts, 1.2 s\n   Rayleigh',
  ],
  [
    {
      kind: 'task.settled',
      taskId: `${run}/0/x1`,
      capability: 'expert.science',
      status: 'timeout',
      confidence: null,
      facts: 0,
      summary: '',
      durationMs: 60_000,
    },
    '⚠️ x1 · expert.science: timeout after 60.0 s',
  ],
  [
    { kind: 'assessed', epoch: 0, verdict: 'needs_more_info', gap: 'the year', nextFocus: 'find the year', parsed: true },
    '🔎 More is needed: the year\n   next: find the year',
  ],
  [{ kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: true }, '🔎 Complete: nothing is missing'],
  [
    { kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: false },
    '🔎 The check gave no readable verdict; whether something is missing was not assessed',
  ],
  [
    { kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: false, failed: true },
    '🔎 The check failed; whether something is missing was not assessed',
  ],
  [{ kind: 'decided', epoch: 0, rule: 'D9', sentence: 'A gap is left.' }, '⚖️ D9: A gap is left.'],
  [{ kind: 'replanning', iteration: 1, max: 3, gap: 'the year' }, '🔄 Agentic Loop — Iteration 1/3\n   gap: the year'],
  [{ kind: 'composing', taskId: `${run}/1/judge.synthesis`, stream: 'live' }, '🔀 Writing the answer'],
  [{ kind: 'chunk', taskId: `${run}/1/judge.synthesis`, attempt: 1, offset: 0, text: 'It' }, null],
  [completed(), null],
];

describe('a progress line', () => {
  it.each(cases)('is made of %j', (entry, text) => {
    expect(progressText(entry)).toBe(text);
  });

  it('bounds what a model wrote', () => {
    const text = progressText({ kind: 'replanning', iteration: 1, max: 3, gap: 'x'.repeat(10_000) })!;
    expect(text.length).toBeLessThan(400);
    expect(text.endsWith('…')).toBe(true);
  });
});
