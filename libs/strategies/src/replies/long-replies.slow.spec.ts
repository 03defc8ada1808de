import { describe, expect, it } from '@jest/globals';
import type { Fact } from '@conclave/contracts';
import { en } from '../answer-words/languages/en.js';
import { numberedFacts } from '../prompts/quoting.js';
import { readSufficiency } from '../reflective-rag/assess-ask.js';
import { normalisedQuery } from '../research/freshness.js';
import { template } from '../testing/scenario.js';
import { citedSources, sourceList } from './citations.js';
import { firstSentences, readExpert } from './expert-reply.js';
import { readGap } from './gap-reply.js';
import { readInsight } from './insight.js';
import { jsonIn } from './json-reply.js';
import { KnownCitations } from './known-citations.js';
import { readPlan } from './plan-reply.js';
import { QuoteFilter } from './quoting-marks.js';
import { unsupported } from './support.js';

const asFact = (text: string, kind: Fact['source']['kind']): Fact => ({
  ...{ text, source: { kind, title: text.slice(0, 40), url: null }, taskId: 't', epoch: 0, confidence: null },
});
const streamed = (filter: { push(text: string): string; end(): string }, text: string): string => {
  let shown = '';
  for (let at = 0; at < text.length; at += 20) shown += filter.push(text.slice(at, at + 20));
  return shown + filter.end();
};

const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ['JSON', jsonIn],
  ['an expert', readExpert],
  ['a finding', firstSentences],
  ['a gap check', readGap],
  ['a plan', (text) => readPlan(text, template(), 'Why?')],
  ['an insight', readInsight],
  ['a judgement of passages', readSufficiency],
  ['a query', normalisedQuery],
  ['sources', (text) => sourceList(citedSources(text, [asFact(text, 'web')]), en)],
  ['support', (text) => unsupported(text, [asFact('One.', 'web')])],
  ['a quoted document', (text) => numberedFacts([asFact(text, 'request'), asFact(text, 'web')])],
  ['streamed citations', (text) => streamed(new KnownCitations(2), text)],
  ['a streamed quotation', (text) => streamed(new QuoteFilter('', ['ANSWER:']), text)],
];

/**
 * Repeated: blanks and line ends of every kind, marks of JSON, Markdown and this product; each with a beginning and an end that may hinder
 * a match.
 */
const parts = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\n\t',
  '\u2028',
  '\u3000',
  '.',
  '!',
  '"',
  "'",
  '`',
  '*',
  '-',
  ',',
  '[',
  '{',
  '(',
  '\\',
  '\\"',
  '\\\\"\\',
  ' [0]',
  'a',
  '0',
  'a ',
  '1,',
  '?x',
  '```',
  '~~~',
  '//',
  '/*',
];
const ends = [
  ['', ''],
  ['x', 'x'],
  ['```\n', '~'],
  ['A. ', '?x'],
  ['GAPS: ', 'x'],
] as const;

describe('a reply or a document of 60,000 characters takes time in proportion to its length', () => {
  it.each(readers)('read as %s', (_what, read) => {
    const slow: string[] = [];
    for (const part of parts)
      for (const [before, behind] of ends) {
        const text = before + part.repeat(60_000 / part.length) + behind;
        const used = process.cpuUsage();
        read(text);
        const ms = process.cpuUsage(used).user / 1_000;
        // A quadratic pattern takes seconds.
        if (ms > 1_500) slow.push(`${JSON.stringify([before, part, behind])}: ${Math.round(ms)} ms`);
      }
    expect(slow).toEqual([]);
  });
});
