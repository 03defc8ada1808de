import { describe, expect, it } from '@jest/globals';
import { synthesisAsk } from '../asks/synthesis.js';
import { hasSourceList, sourceList, withoutSourceList } from '../replies/citations.js';
import { answerWords, languages } from './languages.js';
import { en } from './languages/en.js';

const source = { kind: 'corpus' as const, title: 'Hafenbuch', url: null };
const fact = { text: 'The harbour opened in 1871.', source, taskId: 't', epoch: 0, confidence: null };
const input = { kind: 'synthesis', conversation: [], system: null, answers: [], failed: [], openGap: null, parameters: {} } as const;
const written = (more: object, text: string) =>
  synthesisAsk.read(
    { text, cutShort: false },
    synthesisAsk.input.parse({ ...input, question: 'Q', facts: [fact], startedOn: '2026-01-02', ...more }),
  );

describe('what Conclave writes into an answer', () => {
  it('is in the language of the question', () => {
    const topics = { how: 'merge', found: [], empty: ['Kräne'], failed: [{ topic: 'Fähren', reason: 'timed out' }] };
    expect(written({ language: 'de', topics }, 'Er wurde 1871 eröffnet [1]. Er misst 12 ha [1].')).toMatchObject({
      output: {
        text:
          'Er wurde 1871 eröffnet [1]. Er misst 12 ha [1].\n\nQuellen:\n[1] Hafenbuch\n\nIn der genannten Quelle nicht gefunden:\n- [1]: 12' +
          '\n\nNicht beantwortet:\n- Fähren: die Suche ist fehlgeschlagen (timed out)\n- Kräne: dazu wurde nichts gefunden',
      },
    });
    expect(written({ language: 'zh', facts: [], unsourced: 'nothing_found' }, '1871年。')).toMatchObject({
      output: { text: '1871年。\n\n在查找到的资料中没有找到相关内容。本回答依据的是模型自身的知识。' },
    });
  });

  it('is English without a language, and in one that is not listed', () => {
    for (const language of [undefined, 'und', 'fi', 'constructor']) expect(answerWords(language)).toBe(en);
  });

  it('is written in full in each language, and no sentence is left in English', () => {
    const said = (words: object): readonly string[] =>
      Object.values(words).flatMap((word: unknown) => (typeof word === 'string' ? [word] : said(word as object)));
    const english = new Set(said(en));
    for (const [language, words] of Object.entries(languages)) {
      if (words === en) continue;
      expect([language, said(words).filter((word) => english.has(word) || word.trim() === '')]).toEqual([language, []]);
      expect([language, new Set(said(words)).size]).toEqual([language, english.size]);
    }
  });

  it.each(Object.entries(languages))('has a source list that is recognised (%s)', (_, words) => {
    const answer = `It is so [1].${sourceList([{ n: 1, source }], words)}`;
    expect(answer).toMatch(/\n\[1\] Hafenbuch$/);
    expect([hasSourceList(answer), hasSourceList('Sources: many.')]).toEqual([true, false]);
    expect(withoutSourceList(answer).trim()).toBe('It is so [1].');
  });
});
