import { describe, expect, it } from '@jest/globals';
import { RuleId, type StreamBody } from '@conclave/contracts';
import { completed } from '../__fixtures__/world.js';
import { progressMarkdown, progressText } from './progress-text.js';

const run = 'run_12345678';
const cases: readonly (readonly [StreamBody, string | null])[] = [
  [
    { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'Why?' },
    '🎯 conclave: strategy agentic, up to 3 re-plans',
  ],
  [
    { kind: 'run.started', template: 'hotel', strategy: 'waves', maxRounds: 5, round: 'wave', question: 'Why?' },
    '🎯 hotel: strategy waves, up to 5 waves',
  ],
  [{ kind: 'plan.ready', epoch: 1, fallback: false, says: 'Asking\nfor rooms', tasks: [] }, '📋 Plan: Asking for rooms (0 tasks)'],
  [{ kind: 'replanning', iteration: 1, max: 4, gap: '', round: 'wave' }, '🌊 Wave 2 of at most 5'],
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
    '📋 Plan: 2 tasks\n   r1 · search: Find the colour\n   x1 · science expert: Explain (after r1)',
  ],
  [{ kind: 'task.dispatched', taskId: `${run}/0/r1`, capability: 'research', taskClass: 'evidence' }, '🌐 r1 · search started'],
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
    '✅ r1 · search: 2 facts, 1.2 s\n   Rayleigh',
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
    '⚠️ x1 · science expert took too long and was stopped after 60.0 s',
  ],
  [
    { kind: 'assessed', epoch: 0, verdict: 'needs_more_info', gap: 'the year', nextFocus: 'find the year', parsed: true },
    '🔎 More is needed: the year\n   next: find the year',
  ],
  [{ kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: true }, '🔎 Complete: nothing is missing'],
  [
    { kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: false },
    '🔎 The check returned no readable verdict; whether something is missing was not assessed',
  ],
  [
    { kind: 'assessed', epoch: 0, verdict: 'complete', gap: '', nextFocus: '', parsed: false, failed: true },
    '🔎 The check failed; whether something is missing was not assessed',
  ],
  [
    {
      kind: 'task.settled',
      taskId: `${run}/1/judge.synthesis`,
      capability: 'judge.synthesis',
      status: 'error',
      confidence: null,
      facts: 0,
      summary: 'The model returned an empty answer.',
      durationMs: 100,
    },
    '⚠️ Writing the answer failed after 0.1 s: The model returned an empty answer.',
  ],
  [
    { kind: 'assessed', epoch: 0, verdict: 'needs_more_info', gap: 'the answer to: when?', nextFocus: 'when?', parsed: true },
    '🔎 More is needed: the answer to: when?',
  ],
  [{ kind: 'decided', epoch: 0, rule: 'D3', sentence: 'The evidence is sufficient.' }, '⚖️ The evidence is sufficient.'],
  [{ kind: 'decided', epoch: 0, rule: 'D9', sentence: 'Still missing: the year' }, null],
  [
    { kind: 'thought', code: 'expert.unsure', taskId: null, text: 'Not sure enough: general (0.5)', detail: null },
    '⚠️ Not sure enough: general (0.5)',
  ],
  [
    { kind: 'progress', taskId: `${run}/0/x1`, attempt: 1, n: 0, code: 'expert.prompt', text: 'The general expert receives its task' },
    '   📤 The general expert receives its task',
  ],
  [{ kind: 'replanning', iteration: 1, max: 3, gap: 'the year' }, '🔄 Agentic Loop — Iteration 1/3\n   gap: the year'],
  [{ kind: 'composing', taskId: `${run}/1/judge.synthesis`, stream: 'live' }, '🔀 Writing the answer'],
  [{ kind: 'chunk', taskId: `${run}/1/judge.synthesis`, attempt: 1, offset: 0, text: 'It' }, null],
  [completed(), null],
];

describe('a progress line', () => {
  it.each(cases)('is built from %j', (entry, text) => {
    expect(progressText(entry)).toBe(text);
  });

  it('is an item of a Markdown list where Markdown is rendered, with its details one level deeper', () => {
    const [, plan] = cases.find(([entry]) => entry.kind === 'plan.ready')!;
    const entries = cases.map(([entry]) => progressMarkdown(entry)).filter((text) => text !== null);
    expect(
      entries
        .join('\n')
        .split('\n')
        .every((line) => /^(?: {2})?- \S/.test(line)),
    ).toBe(true);
    expect(progressMarkdown(cases.find(([entry]) => entry.kind === 'plan.ready')![0])).toBe(`- ${plan!.replaceAll('\n   ', '\n  - ')}`);
  });

  it('names no rule and describes the end of a task in words', () => {
    for (const rule of RuleId.options)
      expect(progressText({ kind: 'decided', epoch: 0, rule, sentence: 'It ends.' }) ?? '').not.toMatch(/\bD\d/);
    for (const [entry, text] of cases.filter(([{ kind }]) => kind.startsWith('task.')))
      expect([entry.kind, text]).toEqual([entry.kind, expect.not.stringMatching(/judge\.|expert\.| error /)]);
  });

  it('limits the length of text from a model', () => {
    const text = progressText({ kind: 'replanning', iteration: 1, max: 3, gap: 'x'.repeat(10_000) })!;
    expect(text.length).toBeLessThan(400);
    expect(text.endsWith('…')).toBe(true);
  });
});
