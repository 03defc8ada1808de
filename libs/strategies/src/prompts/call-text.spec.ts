import { describe, expect, it } from '@jest/globals';
import type { Fact } from '@conclave/contracts';
import { callText } from './call-text.js';
import { numberedFacts } from './quoting.js';

describe('the call beside the result of a tool', () => {
  it('is one short line', () => {
    expect(callText({ date: '2026-12-24', days: [1, 2], of: { a: null }, left: undefined })).toBe(
      'date: 2026-12-24, days: [1,2], of: {"a":null}',
    );
    expect(callText({})).toBe('');
    const long = callText(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, `x\n\u202e${'y'.repeat(500)}`])));
    expect(long.length).toBeLessThanOrEqual(200);
    expect(long).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('is shown to models with the fact', () => {
    const source = { kind: 'tool' as const, title: 'diary.open_on', url: null, call: 'date: 2026-12-25' };
    const fact: Fact = { text: '{"open":false}', source, taskId: 't', epoch: 0, confidence: 1 };
    expect(numberedFacts([fact])).toBe('[1] {"open":false} — diary.open_on (date: 2026-12-25) <->');
  });
});
