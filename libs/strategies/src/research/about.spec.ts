import { describe, expect, it } from '@jest/globals';
import { isAbout } from './about.js';

describe('a passage', () => {
  it.each([
    ['Who built the Gull Bridge?', 'Gull Bridge\nIlse Brandvold built it in 1931.'],
    ['What is a sextant?', 'Sextants measure angles.'],
    ['Wer leitet die Werft in Husum?', 'Die Werften in Husum werden von Frau Thoms geleitet.'],
    ['how old is the kettle sound lighthouse', 'The lighthouse of Kettle Sound is 90 years old.'],
  ])('is about "%s" where it says: %s', (question, passage) => expect(isAbout(question, passage)).toBe(true));

  it.each([
    ['Who built the Gull Bridge?', 'The Heron Tower was built in 1931.'],
    ['What is the capital of Peru?', 'The capital of the company was raised twice.'],
    ['What is a sextant?', 'A telescope shows what is far away.'],
    ['Wer leitet die Werft in Husum?', 'Der Hafen von Emden ist alt.'],
    ['', 'anything'],
    ['How are you?', 'You are how we are.'],
  ])('is not about "%s" where it says: %s', (question, passage) => expect(isAbout(question, passage)).toBe(false));
});
