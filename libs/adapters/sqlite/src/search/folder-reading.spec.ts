import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { passageLength } from '@conclave/ports/passages';
import { until } from '@conclave/ports/suites';
import { SearchedFolder } from '../__fixtures__/searched-folder.js';

describe('the documents of a searched folder', () => {
  let at: SearchedFolder;
  beforeEach(() => {
    at = new SearchedFolder();
  });
  afterEach(() => at.end());

  it('reports changed contents when a document was changed, added or removed, but not when one was only touched', async () => {
    const path = at.put('a.md', 'One.');
    await at.open();
    const before = await at.search.contents();
    utimesSync(path, 1, 1);
    expect(await at.search.contents()).toBe(before);
    at.put('a.md', 'Another.');
    const changed = await at.search.contents();
    expect(changed).not.toBe(before);
    const more = at.put('b.md', 'Two.');
    expect(await at.search.contents()).not.toBe(changed);
    rmSync(more);
    expect(await at.search.contents()).toBe(changed);
  });

  it('reads other documents with a reader, leaves out those it cannot read, and retries them only after they have changed', async () => {
    at.put('pool.html', 'pool');
    at.put('broken.pdf', 'broken');
    at.put('photo.png', 'photo');
    const asked: string[] = [];
    const reader = {
      read: ({ name, bytes }: { name: string; bytes: Uint8Array }) => {
        asked.push(name);
        const text = new TextDecoder().decode(bytes);
        if (text === 'broken') return Promise.reject(new Failure('DOCUMENT_UNREADABLE'));
        return Promise.resolve({ title: `About the ${text}`, text: `The ${text} opens at eight.`, mime: 'text/html', notices: [] });
      },
    };
    await at.open({ reader });
    expect(await at.ask('opens')).toEqual([{ title: 'About the pool', url: null, snippet: 'The pool opens at eight.' }]);
    expect(at.search.description).toMatch(/^1 document in .*; 1 could not be read; 1 of other kinds left out \(1 \.png\)$/);
    // Two are read at once.
    expect([...asked].sort()).toEqual(['broken.pdf', 'pool.html']);
    at.put('broken.pdf', 'sauna that');
    expect(await at.titles('sauna')).toEqual(['About the sauna that']);
    expect(at.search.description).toMatch(/^2 documents in [^;]*; 1 of other kinds left out \(1 \.png\)$/);
    at.put('pool.html', 'broken');
    expect(await at.titles('pool')).toEqual([]);
  });

  it('leaves out files that are not text when there is no reader', async () => {
    at.put('pool.html', 'pool');
    await at.open();
    expect(await at.titles('pool')).toEqual([]);
  });

  it('reads tables as CSV and TSV', async () => {
    at.put('stock.csv', 'part;quantity;supplier\nshaft seal;12;Brackwater Ltd\n');
    at.put('prices.tsv', 'part\tprice\nimpeller\t310.50\n');
    await at.open();
    expect(await at.ask('shaft seal')).toEqual([
      { title: 'stock', url: null, snippet: expect.stringContaining('shaft seal;12;Brackwater Ltd') },
    ]);
    expect(await at.titles('impeller')).toEqual(['prices']);
  });

  it('takes title and address from the front matter, and only web addresses', async () => {
    at.put('a.md', '---\ntitle: "Alpha report"\nurl: https://example.org/alpha\n---\n# Heading\n\nalphatext here');
    at.put('b.md', '---\ntitle: Beta\nurl: javascript:alert(1)\n---\n\nbetatext here');
    at.put('some-long_name.txt', 'gammatext here');
    await at.open();
    expect(await at.ask('alphatext')).toEqual([
      { title: 'Alpha report', url: 'https://example.org/alpha', snippet: 'Heading: alphatext here' },
    ]);
    expect(await at.ask('betatext')).toEqual([{ title: 'Beta', url: null, snippet: 'betatext here' }]);
    expect(await at.ask('gammatext')).toEqual([{ title: 'some long name', url: null, snippet: 'gammatext here' }]);
  });

  it('takes as title what a reader sees of the first heading that has words', async () => {
    at.put(
      'a.md',
      '# ![](logo.svg)\n\n## <a name="about"></a> About `zod` and [the **API**](https://example.org/api) of Map<string> [![Badge][image]][ci]\n\nalphatext here',
    );
    at.put('b.md', '# [![Build](https://example.org/badge.svg)](https://example.org/ci)\n\nbetatext here');
    await at.open();
    expect(await at.titles('alphatext')).toEqual(['About zod and the API of Map<string>']);
    expect(await at.titles('betatext')).toEqual(['Build']);
  });

  it('shows neighbouring paragraphs of a section together, and a long one in parts of bounded length', async () => {
    at.put(
      'a.md',
      `# T\n\n## Fruit\n\nThe differences are:\n\n- apples are red\n- pears are green\n\n## Else\n\n${'Filler sentence here. '.repeat(200)}The needleword is last.`,
    );
    await at.open();
    expect((await at.ask('differences'))[0]!.snippet).toBe('Fruit: The differences are:\n\n- apples are red\n- pears are green');
    const [long] = await at.ask('needleword');
    expect(long!.snippet).toContain('needleword');
    expect(long!.snippet.length).toBeLessThanOrEqual('Else: '.length + passageLength);
  });

  it.each([
    [
      'guide.rst',
      '=====\nGuide\n=====\n\nIntro\n=====\n\nA word.\n\nMooring lines\n-------------\n\nTwo of them.\n\n.. note::\n   Never one.\n',
    ],
    ['guide.adoc', '= Guide\n\n== Intro\n\nA word.\n\n=== Mooring lines\n\nTwo of them.\n\n.. note::\n   Never one.\n'],
    ['guide.org', '* Guide\n** Intro\nA word.\n*** Mooring lines\nTwo of them.\n\n.. note::\n   Never one.\n'],
    ['guide.md', 'Guide\n=====\n\nMooring lines\n-------------\nTwo of them.\n\n.. note::\n   Never one.\n'],
  ])('knows the headings of %s', async (name, text) => {
    at.put(name, text);
    await at.open();
    expect((await at.ask('mooring'))[0]).toEqual({
      title: 'Guide',
      url: null,
      snippet: 'Mooring lines: Two of them.\n\n.. note::\n   Never one.',
    });
  });

  it('leaves out hidden folders and installed packages, and says which kinds of files it does not read', async () => {
    for (const name of ['.git/a.txt', 'node_modules/pkg/README.md', 'deep/node_modules/pkg/README.md', 'venv/site-packages/a.py', '.b.txt'])
      at.put(name, 'about otters');
    for (const name of ['a.bin', 'b.bin', 'deep/c.bin', 'd.png', 'Makefile', 'x.svg', 'y.svg']) at.put(name, 'about otters');
    at.put('deep/er/e.txt', 'about beavers');
    await at.open();
    expect(await at.ask('otters')).toEqual([]);
    expect(await at.titles('beavers')).toEqual(['e']);
    expect(at.search.description.split('; ').slice(1)).toEqual(['7 of other kinds left out (3 .bin, 2 .svg, 1 without extension, …)']);
  });

  it('leaves out what its process may not read', async () => {
    at.put('secret/a.txt', 'about otters');
    at.put('b.txt', 'about otters');
    at.put('c.txt', 'about beavers');
    chmodSync(join(at.folder, 'secret'), 0);
    chmodSync(join(at.folder, 'b.txt'), 0);
    chmodSync(at.root, 0o755);
    // The superuser may read everything.
    const isSuperuser = process.geteuid!() === 0;
    if (isSuperuser) process.seteuid!(65_534);
    try {
      await at.open();
      expect([await at.titles('otters'), await at.titles('beavers')]).toEqual([[], ['c']]);
      expect(at.search.description).toMatch(/^1 document in .*; 1 could not be read; 1 folder may not be read$/);
      if (isSuperuser) process.seteuid!(0);
      chmodSync(join(at.folder, 'b.txt'), 0o644);
      if (isSuperuser) process.seteuid!(65_534);
      expect(await at.titles('otters')).toEqual(['b']);
    } finally {
      if (isSuperuser) process.seteuid!(0);
      chmodSync(join(at.folder, 'secret'), 0o700);
    }
  });

  it('lets a reader decode a text that is not UTF-8', async () => {
    writeFileSync(join(at.folder, 'old.txt'), Buffer.from('die M\xfcritz', 'latin1'));
    const reader = {
      read: ({ bytes, mime }: { bytes: Uint8Array; mime: string }) =>
        Promise.resolve({ title: 'no title', text: new TextDecoder('latin1').decode(bytes), mime, notices: [] }),
    };
    await at.open({ reader });
    expect(await at.ask('Müritz')).toEqual([{ title: 'old', url: null, snippet: 'die Müritz' }]);
  });

  it('does not wait long for documents that are still being read, and keeps what was read if it ends meanwhile', async () => {
    const index = join(at.root, 'index.db');
    for (let n = 0; n < 60; n += 1) at.put(`a${n}.txt`, `about lion ${n}`);
    at.put('b.pdf', 'about tigers');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const reader = {
      read: async ({ bytes }: { bytes: Uint8Array }) => {
        await held;
        return { title: 'b', text: new TextDecoder().decode(bytes), mime: 'application/pdf', notices: [] };
      },
    };
    const patient = { index, reader, patienceMs: { open: 50, query: 50 } };
    await at.open(patient);
    const reading = /^5\d documents in .*; 1 still to be read$/;
    await until('the texts are read', () => reading.test(at.search.description));
    expect((await at.ask('lion', 40)).length).toBe(40);
    expect(await at.ask('tigers')).toEqual([]);
    await at.search.close();
    await at.open(patient);
    expect(at.search.description).toMatch(/^5\d documents/);
    await until('the rest is read again', () => reading.test(at.search.description));
    release();
    await until('the last document is found', async () => (await at.titles('tigers')).length === 1);
    expect(at.search.description).toMatch(/^61 documents in [^;]*$/);
  });

  it('names the file of a hit by its path in the folder', async () => {
    at.put('a/b/c.txt', 'about lions');
    await at.open();
    expect((await at.hitsOf('lions')).map(({ document }) => document)).toEqual(['a/b/c.txt']);
  });

  it('notices changed, new and deleted documents', async () => {
    const path = at.put('a.txt', 'about lions');
    await at.open();
    at.put('b.txt', 'about tigers');
    expect(await at.titles('tigers')).toEqual(['b']);
    writeFileSync(path, 'about bears and others');
    expect(await at.titles('bears')).toEqual(['a']);
    expect(await at.titles('lions')).toEqual([]);
    rmSync(path);
    expect(await at.titles('bears')).toEqual([]);
  });

  it('keeps its index over a restart and reads only what changed in the meantime', async () => {
    const index = join(at.root, 'index.db');
    const unchanged = at.put('a.txt', 'about lions');
    utimesSync(unchanged, 1_700_000_000, 1_700_000_000);
    at.put('b.txt', 'about tigers');
    await at.open({ index });
    await at.search.close();
    at.put('b.txt', 'about hyenas');
    // Same size and time as before: a reused index does not read the file again.
    writeFileSync(unchanged, 'about gnus!');
    utimesSync(unchanged, 1_700_000_000, 1_700_000_000);
    await at.open({ index });
    expect([await at.titles('lions'), await at.titles('hyenas'), await at.titles('tigers')]).toEqual([['a'], ['b'], []]);
  });

  it('rebuilds a broken index', async () => {
    const index = join(at.root, 'index.db');
    at.put('a.txt', 'about lions');
    writeFileSync(index, randomBytes(20_000));
    await at.open({ index });
    expect(await at.titles('lions')).toEqual(['a']);
  });

  it('reads only documents inside the folder', async () => {
    writeFileSync(join(at.root, 'secret.txt'), 'about secrets');
    symlinkSync(join(at.root, 'secret.txt'), join(at.folder, 'link.txt'));
    symlinkSync(at.root, join(at.folder, 'up'));
    at.put('image.png', 'about secrets');
    at.put('.hidden.txt', 'about secrets');
    at.put('a.txt', 'about lions');
    await at.open();
    expect(await at.ask('secrets')).toEqual([]);
    expect(at.search.description).toContain('1 document');
  });
});
