import { describe, expect, it } from '@jest/globals';
import { asksAboutToday } from './moment.js';

describe('a question depends on the day', () => {
  it.each([
    'What is the weather like tomorrow?',
    "What are today's headlines?",
    'Who is currently the mayor of Bonn?',
    'What happened last week?',
    'Is a room free next weekend?',
    'Which trains leave in two hours?',
    'What is the latest version of Node?',
    'How old is the pope?',
    'What day is it?',
    'How is the weather in Bonn?',
    'Wer ist derzeit Bürgermeister von Bonn?',
    'Was kostet das aktuelle Modell?',
    'Wird es morgen regnen?',
    'Wie spät ist es?',
    'Was geschah vor drei Jahren?',
    'Ist nächste Woche Markt?',
    'Quel temps fera-t-il demain ?',
    '明天会下雨吗？',
  ])('%s', (question) => expect(asksAboutToday(question)).toBe(true));
});

describe('a question does not depend on the day', () => {
  it.each([
    'What is the capital of France?',
    'Who won the cup in 2014?',
    'How do I knit a scarf?',
    'What is the difference between TCP and UDP?',
    'Wer hat die Mona Lisa gemalt?',
    'Wie viele Einwohner hatte Bonn im Jahr 1990?',
    'What does an agora look like?',
  ])('%s', (question) => expect(asksAboutToday(question)).toBe(false));
});
