import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mostTerms, questionTerms } from './question-terms.js';

describe('terms of a question', () => {
  it.each([
    ['What is the capital of France?', ['France', 'capital']],
    ['Who designed the Aurora Bridge in Corin?', ['Aurora Bridge', 'Corin', 'Aurora', 'Bridge', 'designed']],
    [
      'Is "thermal conductivity" higher for copper or for Iron?',
      ['thermal conductivity', 'Iron', 'thermal', 'conductivity', 'higher', 'copper'],
    ],
    ["What does the WHO say about Pfizer's vaccine?", ['WHO', 'Pfizer', 'vaccine']],
    ['Who is it?', []],
    ['Wie hoch ist die Zugspitze in Bayern?', ['Zugspitze', 'Bayern']],
    ['Vergleiche Kupfer und Eisen: welches leitet besser?', ['Kupfer', 'Eisen', 'leitet', 'besser']],
    ['Was bedeutet „Treu und Glauben“ im BGB?', ['Treu und Glauben', 'Treu', 'Glauben', 'BGB', 'bedeutet']],
    ['How do I install node.js v20 on Debian 12?', ['v20', 'Debian', 'install', 'node.js']],
    ['Tell me about Paris. London is bigger.', ['Paris', 'London', 'bigger']],
    ['量子力学とは何ですか', ['量子力学とは何ですか']],
    ['', []],
  ])('of %j', (question, terms) => {
    expect(questionTerms(question)).toEqual(terms);
  });

  it('are at most ten, short, different and part of the question, whatever it is', () => {
    const pieces = fc.constantFrom(
      "'} ) DETACH DELETE n //",
      '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /',
      '„',
      '“',
      'Ä',
      'Berlin ',
      '"',
      'x'.repeat(300),
      ' ',
      '\u0000',
    );
    const questions = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary' })), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(questions, (question) => {
        const terms = questionTerms(question);
        expect(terms.length).toBeLessThanOrEqual(mostTerms);
        expect(new Set(terms.map((term) => term.toLowerCase())).size).toBe(terms.length);
        for (const term of terms) expect(term.length).toBeLessThanOrEqual(80);
      }),
      { numRuns: 300 },
    );
  });

  it('take a bounded time for questions that are built to be slow', () => {
    const before = process.cpuUsage();
    for (const piece of ['"', 'A ', 'a.', "A'", '„a', 'Aa-'.repeat(3), '- '.repeat(9)])
      questionTerms(piece.repeat(1_000_000 / piece.length));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
