import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeFolder } from '../__fixtures__/folder.js';
import { SearchedFolder } from '../__fixtures__/searched-folder.js';
import { CorpusSearch } from './corpus-search.js';

describe('a search over a folder', () => {
  let at: SearchedFolder;
  beforeEach(() => {
    at = new SearchedFolder();
  });
  afterEach(() => at.end());
  /** A random word that no document contains by chance. */
  const word = () => `w${randomBytes(5).toString('hex').replace(/\d/g, 'x')}`;

  it('ranks the document first that says most about the question, in a newly generated corpus', async () => {
    const [bridge, river, builder] = [word(), word(), word()];
    at.put('bridge.md', `# The bridge ${bridge}\n\nIt was built by ${builder} across the ${river}.\n`);
    at.put('river.md', `# The river ${river}\n\nThe ${river} is long.\n`);
    for (let n = 0; n < 30; n += 1) at.put(`noise/${n}.txt`, `Some text about ${word()} and other bridges, rivers and builders.`);
    await at.open();
    const [first] = await at.ask(`Who built the bridge ${bridge}?`);
    expect(first).toEqual({ title: `The bridge ${bridge}`, url: null, snippet: `It was built by ${builder} across the ${river}.` });
    expect((await at.titles(`How long is ${river}`))[0]).toBe(`The river ${river}`);
    expect(await at.ask(word())).toEqual([]);
  });

  it('shows a text once that several documents repeat, and no passage of few words before a whole one', async () => {
    for (let n = 0; n < 5; n += 1) at.put(`${n}.md`, `# Page ${n}\n\n## Comets\n\nThis comet is shown on each page.\n`);
    at.put(
      'long.md',
      `# Comet\n\n${'Every comet is a body of ice and dust that grows a tail near the sun. '.repeat(3)}\n\n## Comet\n\n[comet]\n`,
    );
    await at.open();
    const snippets = (await at.ask('comet', 4)).map(({ snippet }) => snippet);
    expect(snippets.filter((snippet) => snippet.includes('each page'))).toHaveLength(1);
    expect(snippets.findIndex((snippet) => snippet.startsWith('Every comet'))).toBeLessThan(snippets.indexOf('[comet]'));
  });

  it('finds other forms of a word, whatever its case and accents, in English and German questions', async () => {
    at.put('a.txt', 'The reactors were cooled by pumping seawater. Die Brücke über die Müritz.');
    await at.open();
    for (const query of ['cooling reactor', 'PUMP', 'bruecke Müritz', 'muritz', 'Wo ist die BRÜCKE?'])
      expect(await at.titles(query)).toEqual(['a']);
    expect(await at.ask('which is the of and wo ist das')).toHaveLength(1);
  });

  it.each([
    [
      'Japanese',
      '北光時計会社は1898年に松本市で設立された。',
      '今日の天気は雨です。',
      ['北光時計会社は誰が設立しましたか？', '松本', '1898年'],
    ],
    ['Chinese', '北光钟表公司于一八九八年在杭州成立。', '今天的天气是下雨。', ['北光钟表公司在哪里成立？', '杭州的公司']],
    ['Korean', '북광시계회사는 1898년 대구에서 설립되었다.', '오늘은 비가 옵니다.', ['북광시계회사를 누가 설립했습니까?', '대구의 회사']],
    ['Thai', 'บริษัทนาฬิกาแสงเหนือก่อตั้งที่เชียงใหม่', 'วันนี้ฝนตก', ['บริษัทนาฬิกาแสงเหนือก่อตั้งที่ไหน', 'เชียงใหม่']],
  ])('finds words of %s, which has no spaces or few, and shows the text as it is', async (_language, about, other, queries) => {
    at.put('a.md', `${about}\n`);
    at.put('b.md', `${other}\n`);
    for (let n = 0; n < 8; n += 1) at.put(`noise/${n}.txt`, 'Some text in English.');
    await at.open();
    for (const query of queries) expect((await at.ask(query))[0]).toMatchObject({ title: 'a', snippet: about });
  });

  it('finds a paragraph by the heading above it', async () => {
    at.put('a.md', '# Handbook\n\n## Maintenance of zirconium valves\n\nEvery third month.\n\n## Storage\n\nIn a dry place.');
    await at.open();
    expect((await at.ask('zirconium maintenance'))[0]!.snippet).toBe('Maintenance of zirconium valves: Every third month.');
  });

  it('does not let one long document hide the others', async () => {
    at.put('long.txt', Array.from({ length: 40 }, () => 'quasar quasar quasar').join('\n\n'));
    at.put('short.txt', 'A quasar, and a good deal of other text around it that makes it rank lower than the other one.');
    await at.open();
    expect(await at.titles('quasar')).toEqual(['long', 'long', 'short']);
  });

  it('treats every hostile query as words', async () => {
    at.put('a.txt', 'plain words about nothing');
    await at.open();
    const hostile = [
      '',
      '   ',
      '"',
      '""',
      "'",
      '"plain',
      'plain"',
      'plain AND',
      'NOT plain',
      'plain NEAR words',
      'NEAR(plain words, 2)',
      'plain*',
      '^plain',
      'title:plain',
      '{title body}: plain',
      '-plain',
      '+plain',
      'plain OR',
      '(plain',
      'plain)',
      'a:b:c',
      '\u0000plain',
      "plain'); DROP TABLE document; --",
      '%_plain',
      '😀 plain',
      '\ud800 plain',
      '*',
      '^',
      ':',
      '\\',
      'rank MATCH 1',
      'plain '.repeat(2_000),
      'x'.repeat(10_240),
      Array.from({ length: 2_000 }, (_, n) => `t${n}`).join(' '),
      '"'.repeat(10_240),
    ];
    for (const query of hostile) {
      const hits = await at.ask(query);
      expect([query.slice(0, 40), hits.length]).toEqual([query.slice(0, 40), /plain/.test(query.slice(0, 100)) ? 1 : 0]);
    }
    expect(await at.titles('plain')).toEqual(['a']);
  });

  it('returns no more hits than requested', async () => {
    for (let n = 0; n < 20; n += 1) at.put(`${n}.txt`, `the same comet ${n}`);
    await at.open();
    expect(await at.ask('comet', 3)).toHaveLength(3);
    expect(await at.ask('comet', 0)).toEqual([]);
  });

  it('throws SEARCH_UNAVAILABLE if the folder is gone, and after it was closed', async () => {
    at.put('a.txt', 'about lions');
    await at.open();
    expect(await at.search.health()).toBeNull();
    removeFolder(at.folder);
    await expect(at.ask('lions')).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
    expect(await at.search.health()).toEqual(expect.any(String));
    await at.search.close();
    await expect(at.ask('lions')).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
    await expect(CorpusSearch.open({ folder: join(at.root, 'never'), index: ':memory:' })).rejects.toMatchObject({
      code: 'SEARCH_UNAVAILABLE',
    });
  });

  it('starts no search when the caller has given up', async () => {
    await at.open();
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    await expect(at.search.query({ query: 'x', limit: 1, signal: gone.signal })).rejects.toThrow('gone');
  });
});
