import { describe, expect, it } from '@jest/globals';
import { passageText } from './passage-text.js';

describe('the text of a passage', () => {
  it.each([
    '# Ada Quist\n\nAda Quist was a glazier.',
    '# Ada Quist #\r\n\r\nAda Quist was a glazier.',
    'Ada Quist\n=========\nAda Quist was a glazier.',
    'Ada Quist\nAda Quist was a glazier.',
  ])('does not begin with the title, so that title and text are not read as one name in one line: %j', (text) => {
    expect(passageText({ text, title: 'Ada Quist', section: 'Ada Quist' })).toBe('Ada Quist was a glazier.');
  });

  it.each([
    ['Harbours', 'Harbours / Ice', 'Harbours\n## Ice\n\nIt freezes.', 'Ice:\nIt freezes.'],
    ['Harbours', 'Harbours / Ice', 'Ice\nIt freezes.', 'Ice:\nIt freezes.'],
    ['Harbours', 'Harbours / Ice', '# Harbours\n\n## Ice\n\nIt freezes.', 'Ice:\nIt freezes.'],
    ['Harbours', 'Harbours / Ice', 'Harbours / Ice\nIt melts.', 'Ice:\nIt melts.'],
    ['Harbours', 'Harbours / Who clears it?', 'Harbours\n## Who clears it?\n\n    nobody', 'Who clears it?\n    nobody'],
    ['harbours.md', 'Harbours / Ice', '# Harbours\n## Ice\nIt freezes.', 'Harbours / Ice:\nIt freezes.'],
    ['TCP / IP', 'TCP / IP / IP / 6', 'TCP / IP\n## IP / 6\nAddresses.', 'IP / 6:\nAddresses.'],
  ])('puts the headings below the title before a colon: %s, %s, %j', (title, section, text, expected) => {
    expect(passageText({ text, title, section })).toBe(expected);
  });

  it.each([
    ['Plain.\nIce', ''],
    ['# not a heading\nprint(1)', 'Ice / Code'],
    ['# Ice\n', 'Ice'],
  ])('stays as it is without headings, with a beginning that is not part of its path, and with no other text: %j', (text, section) => {
    expect(passageText({ text, title: 'Ice', section })).toBe(text);
  });
});
