import { describe, expect, it } from '@jest/globals';
import { isAbout, namesTitle } from './about.js';

describe('a passage', () => {
  it.each([
    ['Who built the Gull Bridge?', 'Gull Bridge\nIlse Brandvold built it in 1931.'],
    ['What is a sextant?', 'Sextants measure angles.'],
    ['When is breakfast served on Sundays?', 'Breakfast is served until 11 at weekends.'],
    ['Wer leitet die Werft in Husum?', 'Die Werften in Husum werden von Frau Thoms geleitet.'],
    ['金沢市で生まれたのは誰ですか', '創業者の田中一郎は金沢市で生まれた。'],
    ['北光钟表公司在哪里成立？', '北光钟表公司于一八九八年在杭州成立。'],
    ['how old is the kettle sound lighthouse', 'The lighthouse of Kettle Sound is 90 years old.'],
  ])('is about "%s" if it says: %s', (question, passage) => expect(isAbout(question, passage)).toBe(true));

  it.each([
    ['Who built the Gull Bridge?', 'The Heron Tower was built in 1931.'],
    ['What is the capital of Peru?', 'The capital of the company was raised twice.'],
    ['What is a sextant?', 'A telescope shows what is far away.'],
    ['Wer leitet die Werft in Husum?', 'Der Hafen von Emden ist alt.'],
    ['日本の首都はどこですか', '創業者の田中一郎は金沢市で生まれた。'],
    ['どうしていますか', 'それはどうしていますか。'],
    ['', 'anything'],
    ['How are you?', 'You are how we are.'],
  ])('is not about "%s" if it says: %s', (question, passage) => expect(isAbout(question, passage)).toBe(false));
});

describe('a question', () => {
  it.each([
    ['In what state is the maker of Crumbleby headquartered?', 'Crumbleby'],
    ['Is Loxwort or Maddle Fern the older genus?', 'Maddle Fern (plant)'],
    ['When was the Gull Bridge opened?', 'gull-bridge.md'],
  ])('"%s" names the document "%s"', (question, title) => expect(namesTitle(question, title)).toBe(true));

  it.each([
    ['In what state is the maker of Crumbleby headquartered?', 'State'],
    ['When was the Gull Bridge opened?', 'Gull Bridge Company'],
    ['what is a bridge?', 'Bridge'],
    ['When was the Gull Bridge opened?', ''],
  ])('"%s" does not name the document "%s"', (question, title) => expect(namesTitle(question, title)).toBe(false));
});
