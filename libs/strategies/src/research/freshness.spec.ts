import { describe, expect, it } from '@jest/globals';
import { freshnessOf, normalisedQuery } from './freshness.js';

const minutes = (query: string): number => freshnessOf(query).ttlMs / 60_000;

describe('the results of a search', () => {
  it.each([
    'weather in Berlin today',
    'Latest news about copper',
    'current price of copper',
    'What is the exchange rate of the euro?',
    'Who is the chancellor of Germany?',
    'bitcoin price',
    'train outages right now',
    'Wie wird das Wetter morgen?',
    'Was kostet Kupfer heute',
    'aktueller Kupferpreis',
    'Der aktuelle Leitzins',
    'Wechselkurs Euro Dollar',
    'neueste Nachrichten',
    'Strompreise Deutschland',
    'Öffnungszeiten Rathaus',
    'What happened\nthis  week?',
    'NEWS',
    'derzeitiger Präsident',
    'Aktienkurs von Siemens',
    'score of the match',
  ])('last half an hour for a question about the present: %s', (query) => {
    expect([minutes(query), freshnessOf(query).kind]).toEqual([30, 'current']);
  });

  it.each([
    'Who built the bridge of Mostar?',
    'electric conductivity of copper',
    'How does a refrigerator work',
    'Newscastle history',
    'Who was awarded the Nobel Prize 1921',
    'Wie funktioniert ein Kühlschrank?',
    'Geschichte der Brücke von Mostar',
    'Snowdon height',
    'Wer erhielt 1921 den Nobelpreis',
    'liver function',
    '',
    'Der Heutebach',
  ])('last a day for what stays: %s', (query) => {
    expect([minutes(query), freshnessOf(query).kind]).toEqual([24 * 60, 'lasting']);
  });

  it('are found again under the same question, differently typed', () => {
    const same = ['Who built the bridge?', '  who BUILT the   bridge ', 'Who built the bridge?!', 'Ｗｈｏ built the bridge...'];
    expect(new Set(same.map(normalisedQuery)).size).toBe(1);
    expect(normalisedQuery('“exact words” -not site:a.example')).toBe('"exact words" -not site:a.example');
    for (const [one, other] of [
      ['C', 'C++'],
      ['version 1.2', 'version 1.3'],
      ['"a b"', 'a b'],
      ['is it', 'is it not'],
    ] as const)
      expect(normalisedQuery(one)).not.toBe(normalisedQuery(other));
  });
});
