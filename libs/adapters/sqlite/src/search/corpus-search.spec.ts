import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { CorpusSearch } from './corpus-search.js';
import { passageLength } from './document.js';

describe('CorpusSearch', () => {
  let root: string;
  let folder: string;
  let search: CorpusSearch | null;
  beforeEach(() => {
    root = newFolder();
    folder = join(root, 'documents');
    mkdirSync(folder);
    search = null;
  });
  afterEach(async () => {
    await search?.close();
    removeFolder(root);
  });

  const put = (name: string, text: string) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const open = async (index = ':memory:') => (search = await CorpusSearch.open({ folder, index, refreshMs: 0 }));
  const ask = (query: string, limit = 5) => search!.query({ query, limit, signal: new AbortController().signal });
  const titles = async (query: string) => (await ask(query)).map(({ title }) => title);
  /** A random word that no document contains by chance. */
  const word = () => `w${randomBytes(5).toString('hex').replace(/\d/g, 'x')}`;

  it('ranks the document first that says most about the question, in a newly generated corpus', async () => {
    const [bridge, river, builder] = [word(), word(), word()];
    put('bridge.md', `# The bridge ${bridge}\n\nIt was built by ${builder} across the ${river}.\n`);
    put('river.md', `# The river ${river}\n\nThe ${river} is long.\n`);
    for (let n = 0; n < 30; n += 1) put(`noise/${n}.txt`, `Some text about ${word()} and other bridges, rivers and builders.`);
    await open();
    const [first] = await ask(`Who built the bridge ${bridge}?`);
    expect(first).toEqual({ title: `The bridge ${bridge}`, url: null, snippet: `It was built by ${builder} across the ${river}.` });
    expect((await titles(`How long is ${river}`))[0]).toBe(`The river ${river}`);
    expect(await ask(word())).toEqual([]);
  });

  it('reports changed contents when a document was changed, added or removed, but not when one was only touched', async () => {
    const path = put('a.md', 'One.');
    await open();
    const before = await search!.contents();
    utimesSync(path, 1, 1);
    expect(await search!.contents()).toBe(before);
    put('a.md', 'Another.');
    const changed = await search!.contents();
    expect(changed).not.toBe(before);
    const more = put('b.md', 'Two.');
    expect(await search!.contents()).not.toBe(changed);
    rmSync(more);
    expect(await search!.contents()).toBe(changed);
  });

  it('reads other documents with a reader, leaves out those it cannot read, and retries them only after they have changed', async () => {
    put('pool.html', 'pool');
    put('broken.pdf', 'broken');
    put('photo.png', 'photo');
    const asked: string[] = [];
    const reader = {
      read: ({ name, bytes }: { name: string; bytes: Uint8Array }) => {
        asked.push(name);
        const text = new TextDecoder().decode(bytes);
        if (text === 'broken') return Promise.reject(new Failure('DOCUMENT_UNREADABLE'));
        return Promise.resolve({ title: `About the ${text}`, text: `The ${text} opens at eight.`, mime: 'text/html', notices: [] });
      },
    };
    search = await CorpusSearch.open({ folder, index: ':memory:', refreshMs: 0, reader });
    expect(await ask('opens')).toEqual([{ title: 'About the pool', url: null, snippet: 'The pool opens at eight.' }]);
    expect(search.description).toMatch(/^1 document in .*; 1 could not be read$/);
    expect(asked).toEqual(['broken.pdf', 'pool.html']);
    put('broken.pdf', 'sauna that');
    expect(await titles('sauna')).toEqual(['About the sauna that']);
    expect(search.description).toMatch(/^2 documents in [^;]*$/);
    put('pool.html', 'broken');
    expect(await titles('pool')).toEqual([]);
  });

  it('leaves out files that are not text when there is no reader', async () => {
    put('pool.html', 'pool');
    await open();
    expect(await titles('pool')).toEqual([]);
  });

  it('reads tables as CSV and TSV', async () => {
    put('stock.csv', 'part;quantity;supplier\nshaft seal;12;Brackwater Ltd\n');
    put('prices.tsv', 'part\tprice\nimpeller\t310.50\n');
    await open();
    expect(await ask('shaft seal')).toEqual([
      { title: 'stock', url: null, snippet: expect.stringContaining('shaft seal;12;Brackwater Ltd') },
    ]);
    expect(await titles('impeller')).toEqual(['prices']);
  });

  it('takes title and address from the front matter, and only web addresses', async () => {
    put('a.md', '---\ntitle: "Alpha report"\nurl: https://example.org/alpha\n---\n# Heading\n\nalphatext here');
    put('b.md', '---\ntitle: Beta\nurl: javascript:alert(1)\n---\n\nbetatext here');
    put('some-long_name.txt', 'gammatext here');
    await open();
    expect(await ask('alphatext')).toEqual([{ title: 'Alpha report', url: 'https://example.org/alpha', snippet: 'alphatext here' }]);
    expect(await ask('betatext')).toEqual([{ title: 'Beta', url: null, snippet: 'betatext here' }]);
    expect(await ask('gammatext')).toEqual([{ title: 'some long name', url: null, snippet: 'gammatext here' }]);
  });

  it('shows the paragraph that matched, and a long one in parts of bounded length', async () => {
    put(
      'a.md',
      `# T\n\nfirst paragraph about apples\n\nsecond paragraph about pears\n\n${'Filler sentence here. '.repeat(200)}The needleword is last.`,
    );
    await open();
    expect((await ask('pears'))[0]!.snippet).toBe('second paragraph about pears');
    const [long] = await ask('needleword');
    expect(long!.snippet).toContain('needleword');
    expect(long!.snippet.length).toBeLessThanOrEqual(passageLength);
  });

  it('finds other forms of a word, whatever its case and accents, in English and German questions', async () => {
    put('a.txt', 'The reactors were cooled by pumping seawater. Die Brücke über die Müritz.');
    await open();
    for (const query of ['cooling reactor', 'PUMP', 'bruecke Müritz', 'muritz', 'Wo ist die BRÜCKE?'])
      expect(await titles(query)).toEqual(['a']);
    expect(await ask('which is the of and wo ist das')).toHaveLength(1);
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
    put('a.md', `${about}\n`);
    put('b.md', `${other}\n`);
    for (let n = 0; n < 8; n += 1) put(`noise/${n}.txt`, 'Some text in English.');
    await open();
    for (const query of queries) expect((await ask(query))[0]).toMatchObject({ title: 'a', snippet: about });
  });

  it('finds a paragraph by the heading above it', async () => {
    put('a.md', '# Handbook\n\n## Maintenance of zirconium valves\n\nEvery third month.\n\n## Storage\n\nIn a dry place.');
    await open();
    expect((await ask('zirconium maintenance'))[0]!.snippet).toBe('Every third month.');
  });

  it('does not let one long document hide the others', async () => {
    put('long.txt', Array.from({ length: 40 }, () => 'quasar quasar quasar').join('\n\n'));
    put('short.txt', 'A quasar, and a good deal of other text around it that makes it rank lower than the other one.');
    await open();
    expect(await titles('quasar')).toEqual(['long', 'long', 'short']);
  });

  it('treats every hostile query as words', async () => {
    put('a.txt', 'plain words about nothing');
    await open();
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
      const hits = await ask(query);
      expect([query.slice(0, 40), hits.length]).toEqual([query.slice(0, 40), /plain/.test(query.slice(0, 100)) ? 1 : 0]);
    }
    expect(await titles('plain')).toEqual(['a']);
  });

  it('returns no more hits than requested', async () => {
    for (let n = 0; n < 20; n += 1) put(`${n}.txt`, 'the same comet');
    await open();
    expect(await ask('comet', 3)).toHaveLength(3);
    expect(await ask('comet', 0)).toEqual([]);
  });

  it('notices changed, new and deleted documents', async () => {
    const path = put('a.txt', 'about lions');
    await open();
    put('b.txt', 'about tigers');
    expect(await titles('tigers')).toEqual(['b']);
    writeFileSync(path, 'about bears and others');
    expect(await titles('bears')).toEqual(['a']);
    expect(await titles('lions')).toEqual([]);
    rmSync(path);
    expect(await titles('bears')).toEqual([]);
  });

  it('keeps its index over a restart and reads only what changed in the meantime', async () => {
    const index = join(root, 'index.db');
    const unchanged = put('a.txt', 'about lions');
    utimesSync(unchanged, 1_700_000_000, 1_700_000_000);
    put('b.txt', 'about tigers');
    await open(index);
    await search!.close();
    put('b.txt', 'about hyenas');
    // Same size and time as before: a reused index does not read the file again.
    writeFileSync(unchanged, 'about gnus!');
    utimesSync(unchanged, 1_700_000_000, 1_700_000_000);
    await open(index);
    expect([await titles('lions'), await titles('hyenas'), await titles('tigers')]).toEqual([['a'], ['b'], []]);
  });

  it('rebuilds a broken index', async () => {
    const index = join(root, 'index.db');
    put('a.txt', 'about lions');
    writeFileSync(index, randomBytes(20_000));
    await open(index);
    expect(await titles('lions')).toEqual(['a']);
  });

  it('reads only documents inside the folder', async () => {
    writeFileSync(join(root, 'secret.txt'), 'about secrets');
    symlinkSync(join(root, 'secret.txt'), join(folder, 'link.txt'));
    symlinkSync(root, join(folder, 'up'));
    put('image.png', 'about secrets');
    put('.hidden.txt', 'about secrets');
    put('a.txt', 'about lions');
    await open();
    expect(await ask('secrets')).toEqual([]);
    expect(search!.description).toContain('1 document');
  });

  it('throws SEARCH_UNAVAILABLE if the folder is gone, and after it was closed', async () => {
    put('a.txt', 'about lions');
    await open();
    expect(await search!.health()).toBeNull();
    removeFolder(folder);
    await expect(ask('lions')).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
    expect(await search!.health()).toEqual(expect.any(String));
    await search!.close();
    await expect(ask('lions')).rejects.toMatchObject({ code: 'SEARCH_UNAVAILABLE' });
    await expect(CorpusSearch.open({ folder: join(root, 'never'), index: ':memory:' })).rejects.toMatchObject({
      code: 'SEARCH_UNAVAILABLE',
    });
  });

  it('starts no search when the caller has given up', async () => {
    await open();
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    await expect(search!.query({ query: 'x', limit: 1, signal: gone.signal })).rejects.toThrow('gone');
  });
});
