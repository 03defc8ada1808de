import { describe, expect, it } from '@jest/globals';
import type { Fact } from '@conclave/contracts';
import { addFacts, repeatOf } from './memory.js';

describe('the ledger', () => {
  it('keeps equal results of different calls apart, and those of equal calls once', () => {
    const result = (text: string, call: string): Fact => {
      const source = { kind: 'tool' as const, title: 'diary.open_on', url: null, call };
      return { text, source, taskId: 't', epoch: 0, confidence: 1 };
    };
    const found = [result('no', 'date: 2026-12-25'), result('no', 'date: 2026-12-26'), result('no', 'date: 2026-12-25')];
    const { facts } = addFacts({ facts: [], tried: [] } as unknown as Parameters<typeof addFacts>[0], found);
    expect(facts.map(({ source }) => source.call)).toEqual(['date: 2026-12-25', 'date: 2026-12-26']);
  });
});

describe('a call that may change something', () => {
  const action = { capability: 'mcp', argument: 'shop.order {"item":"nut"}', exact: true, once: true };
  const failed = { capability: 'mcp', argument: action.argument, exact: true, outcome: 'failed' } as const;
  const unsent = { ...failed, unsent: true } as const;

  it('is made again only if it was certainly not made, and once', () => {
    expect(repeatOf([failed], action)).toBe('once');
    expect(repeatOf([unsent], action)).toBe('retry');
    expect(repeatOf([unsent, unsent], action)).toBe('exhausted');
    expect(repeatOf([unsent, failed], action)).toBe('once');
  });
});
