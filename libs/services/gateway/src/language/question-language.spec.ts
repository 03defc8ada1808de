import { describe, expect, it } from '@jest/globals';
import { languageOfQuestion } from './question-language.js';

const of = (goal: string, earlier: readonly string[] = [], system: string | null = null) =>
  languageOfQuestion({ goal, system, conversation: earlier.map((content) => ({ role: 'user' as const, content })) });

describe('the language of an answer', () => {
  it.each([
    ['Pourquoi le ciel est-il bleu ?', 'fr'],
    ['¿Dónde está la biblioteca del pueblo?', 'es'],
    ['Warum ist der Himmel blau?', 'de'],
    ['Dlaczego niebo jest niebieskie?', 'pl'],
    ['Почему небо голубое?', 'ru'],
    ['为什么天空是蓝色的？', 'zh'],
    ['怎么在 JavaScript 里 reverse 一个 array？', 'zh'],
    ['なぜ空は青いのですか？', 'ja'],
    ['하늘은 왜 파란가요?', 'ko'],
    ['لماذا السماء زرقاء؟', 'ar'],
    ['Γιατί ο ουρανός είναι μπλε;', 'el'],
    ['Berapa harga beras di Jakarta hari ini?', 'und'],
    ['Why is the sky blue?', null],
    ['What does 你好 mean?', null],
    ['Does "pourquoi le ciel est bleu" sound polite?', null],
    ['Quantum entanglement', null],
    ['SELECT name FROM town', null],
    ['`pourquoi le ciel`', null],
    ['Traduis en anglais : le ciel est bleu', null],
    ['', null],
  ])('of %s is %s', async (question, language) => expect(await of(question)).toBe(language));

  it.each([
    ['You are a tutor. Always reply in English.', null],
    ['Réponds toujours en anglais.', null],
    ['Translate what the user says.', null],
    ['You are a helpful assistant. Use the language of the user.', 'fr'],
    ['Sei kurz.', 'fr'],
  ])('is decided by a system message that names one: %s', async (system, language) => {
    expect(await of('Pourquoi le ciel est-il bleu ?', [], system)).toBe(language);
  });

  it('is that of the earlier turns if a turn is short', async () => {
    expect(await of('да', ['Why?', 'Де живе ведмідь узимку?'])).toBe('uk');
    expect(await of('Ok', ['Pourquoi le ciel est-il bleu ?'])).toBe('fr');
    expect(await of('Why is it blue?', ['Pourquoi le ciel est-il bleu ?'])).toBeNull();
  });
});
