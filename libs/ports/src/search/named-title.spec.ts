import { describe, expect, it } from '@jest/globals';
import { namedFirst, namesTitle } from './named-title.js';

describe('a title that occurs in a text', () => {
  it.each([
    ['Who directed The Silent Harbour?', 'The Silent Harbour'],
    ['who directed the silent harbour?', 'The Silent Harbour (film)'],
    ['Wo liegt die Müritz?', 'Müritz'],
    ['how long is the müritz', 'Müritz'],
    ["What is O'Brien & Sons known for?", "O'Brien & Sons"],
  ])('%s: %s', (text, title) => expect(namesTitle(text, title)).toBe(true));

  it.each([
    ['Is the water of the lake clean?', 'Water'],
    ['The silent and cold harbour', 'Silent Harbour'],
    ['What was it?', 'What Was It'],
    ['Silent Harbours of the north', 'Silent Harbour'],
    ['Who is it?', '(film)'],
    ['In which year?', ''],
    ['It is so.', 'It'],
  ])('and one that does not: %s: %s', (text, title) => expect(namesTitle(text, title)).toBe(false));

  it('brings its document to the front, among several the better one first; all others keep their order', () => {
    const titles = ['Harbours', 'Ports', 'Ships', 'Gull Bridge', 'Ada Quist', 'Boats'];
    expect(namedFirst(titles, 'Did Ada Quist build Gull Bridge?', (title) => title)).toEqual([
      'Gull Bridge',
      'Ada Quist',
      'Harbours',
      'Ports',
      'Ships',
      'Boats',
    ]);
    expect(namedFirst(titles, 'Who built it?', (title) => title)).toBe(titles);
  });
});
