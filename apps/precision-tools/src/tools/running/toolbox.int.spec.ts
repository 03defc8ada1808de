import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { bundledThread } from '../__fixtures__/bundled-thread.js';
import { startLawServer, type LawServer } from '../__fixtures__/law-server.js';
import { openToolbox, type ToolOutcome, type Toolbox } from './toolbox.js';

jest.setTimeout(30_000);
const thread = bundledThread();
const lines: string[] = [];
let server: LawServer;
let toolbox: Toolbox;
const call = (name: string, args: unknown): Promise<ToolOutcome> => toolbox.call(name, args);
const output = async (name: string, args: unknown): Promise<Record<string, unknown>> => {
  const outcome = await call(name, args);
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.output;
};
const bomb = { pattern: '(a+)+$', text: `${'a'.repeat(40)}b` };

beforeAll(async () => {
  server = await startLawServer();
  toolbox = openToolbox({ workerFile: thread.file, lawUrl: server.url, log: (line) => lines.push(line) });
});
afterAll(async () => {
  await toolbox.close();
  await server.close();
  thread.remove();
});

describe('the toolbox', () => {
  it('declares each tool once, and describes every argument', () => {
    const names = toolbox.tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(24);
    for (const { name, description, input, limits } of toolbox.tools) {
      expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect(description.length).toBeGreaterThan(30);
      expect(limits.timeoutMs).toBeLessThanOrEqual(name.startsWith('legal_') ? 10_000 : 900);
      expect(Object.keys(input.shape).length).toBeGreaterThan(0);
    }
  });

  it('lists no tools without a source if only usable ones are requested', async () => {
    const named = async (lawUrl?: string): Promise<readonly string[]> => {
      const opened = openToolbox({ workerFile: thread.file, onlyUsable: true, lawUrl });
      await opened.close();
      return opened.tools.map(({ name }) => name);
    };
    const all = toolbox.tools.map(({ name }) => name);
    expect(await named(server.url)).toEqual(all);
    expect(await named()).toEqual(all.filter((name) => !name.startsWith('legal_')));
  });

  it('computes in a thread', async () => {
    expect(await output('calculate', { expression: '17.5% of 2,340' })).toMatchObject({ result: '409.5', exact: true });
  });

  it('ends a pattern that backtracks without end, and answers other calls in the meantime', async () => {
    await output('calculate', { expression: '1' });
    const started = performance.now();
    const slow = call('regex_extract', bomb);
    const quick = await Promise.all(Array.from({ length: 20 }, (_, i) => output('calculate', { expression: `${i} * 2` })));
    const quickMs = performance.now() - started;
    expect(quick.map(({ result }) => result)).toEqual(Array.from({ length: 20 }, (_, i) => `${i * 2}`));
    expect(await slow).toMatchObject({ ok: false, code: 'TIMEOUT', message: expect.stringContaining('simpler') });
    expect(quickMs).toBeLessThan(performance.now() - started);
    expect(lines.join('\n')).toContain('regex_extract ran for 800 ms');
    expect(lines.join('\n')).not.toContain('aaaa');
  });

  it.each([
    ['nosuch', {}, 'UNKNOWN_TOOL', 'calculate'],
    ['calculate', { expr: '1' }, 'INVALID_ARGUMENT', 'known are expression'],
    ['calculate', undefined, 'INVALID_ARGUMENT', '"expression" is missing'],
    ['calculate', { expression: 5 }, 'INVALID_ARGUMENT', '"expression"'],
    ['calculate', { expression: '1', __proto__: { a: 1 }, constructor: 1 }, 'INVALID_ARGUMENT', 'constructor'],
    ['calculate', 'text', 'INVALID_ARGUMENT', 'object'],
    ['statistics_calc', { data: Array.from({ length: 30_000 }, () => 1) }, 'LIMIT_EXCEEDED', 'more than 20,000 values'],
    ['text_analyze', { text: 'x'.repeat(10_000_000) }, 'LIMIT_EXCEEDED', '1,000,000'],
    ['calculate', { expression: JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown }, 'LIMIT_EXCEEDED', 'levels deep'],
    ['calculate', { expression: '9**9**9' }, 'LIMIT_EXCEEDED', '369,693,100 digits'],
    ['calculate', { expression: "__import__('os')" }, 'INVALID_ARGUMENT', 'not arithmetic'],
  ])('answers %s %# with what to do instead', async (name, args, code, words) => {
    expect(await call(name, args)).toMatchObject({ ok: false, code, message: expect.stringContaining(words) });
  });

  it('says what to configure if there is no source of laws, and refuses an invalid address', async () => {
    const bare = openToolbox({ workerFile: thread.file });
    expect(await bare.call('legal_get_paragraph', { law: 'BGB', paragraph: '1' })).toMatchObject({
      ok: false,
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('CONCLAVE_LAW_URL'),
    });
    await bare.close();
    for (const lawUrl of ['nonsense', 'file:///etc/passwd', 'http://user:secret@host/']) {
      expect(() => openToolbox({ workerFile: thread.file, lawUrl })).toThrow('is not usable');
    }
  });

  it('gives up if the program of the threads does not start', async () => {
    const broken = openToolbox({ workerFile: `${thread.file}.missing` });
    expect(await broken.call('calculate', { expression: '1' })).toMatchObject({ ok: false, code: 'UNAVAILABLE' });
    await broken.close();
    expect(await broken.call('calculate', { expression: '1' })).toMatchObject({ ok: false, message: 'The tools are closing.' });
  });
});

describe('the law tools', () => {
  it('find laws by title and by name, ranked', async () => {
    expect(await output('legal_search_laws', { query: 'werkzeugen prüfen' })).toEqual({
      total: 1,
      laws: [{ name: 'pr_fg', title: 'Gesetz über das Prüfen von Werkzeugen' }],
    });
    expect(await output('legal_search_laws', { query: 'StOW' })).toMatchObject({ laws: [{ name: 'stow_1977' }] });
    expect(await output('legal_search_laws', { query: 'nichts davon' })).toEqual({ total: 0, laws: [] });
  });

  it('list the contents of a law under its headings', async () => {
    expect(await output('legal_get_law_overview', { law: 'pr_fg', max_entries: 3 })).toMatchObject({
      source: {
        law: 'PrüfG',
        title: 'Gesetz über das Prüfen von Werkzeugen',
        enacted: '2001-02-03',
        status: ['Zuletzt geändert durch Art. 3 G v. 1.1.2020'],
      },
      entries_in_all: 4,
      truncated: true,
      entries: [
        { name: '§ 1', title: 'Zweck', section: 'Teil 1 Allgemeines' },
        { name: '§ 2a', section: 'Teil 1 Allgemeines > Kapitel 1 Fristen' },
        { name: '§§ 3 bis 5' },
      ],
    });
    expect(await output('legal_get_law_overview', { law: 'pr_fg', first_entry: 4 })).toMatchObject({
      entries: [{ name: 'Anlage 1', section: 'Teil 2 Schluss' }],
      truncated: false,
    });
  });

  it.each([
    ['pr_fg', '1', '§ 1', '(1) Werkzeuge werden geprüft & gezählt.\n(2) Es gelten\n1. die Maße,\n2. die Gewichte.'],
    ['pr_fg', '§ 1 Abs. 2', '§ 1', '(2) Es gelten\n1. die Maße,\n2. die Gewichte.'],
    ['StOW', '§ 2a', '§ 2a', 'Die Frist beträgt zehn Tage.\nDer Tag der Prüfung zählt mit.\nWerkzeug | Frist'],
    ['Gesetz über das Prüfen von Werkzeugen', '§ 4', '§§ 3 bis 5', ''],
    ['SGB V', 'anlage 1', 'Anlage 1', 'Hammer < Zange'],
  ])('quote from %s %s', async (law, paragraph, name, text) => {
    expect(await output('legal_get_paragraph', { law, paragraph })).toMatchObject({ name, text, truncated: false });
  });

  it('search a law and show the place', async () => {
    expect(await output('legal_fulltext_search', { law: 'pr_fg', query: 'Frist Prüfung' })).toMatchObject({
      hits: [{ name: '§ 2a', matched_terms: 2, snippet: expect.stringContaining('zehn Tage') }],
    });
    expect(await output('legal_fulltext_search', { law: 'pr_fg', query: '"zehn Tage"' })).toMatchObject({ total: 1 });
  });

  it('fetch each file once', () => {
    expect(server.asked.filter((path) => path === '/gii/pr_fg/xml.zip')).toHaveLength(1);
    expect(server.asked.filter((path) => path === '/gii/gii-toc.xml')).toHaveLength(1);
  });

  it.each([
    ['bombe', 'UNAVAILABLE', 'too large'],
    ['lol', 'UNAVAILABLE', 'entities of its own'],
    ['tief', 'UNAVAILABLE', 'nested'],
    ['kaputt', 'UNAVAILABLE', 'archive cannot be read'],
    ['weg', 'UNAVAILABLE', 'another host'],
    ['fehlt', 'NOT_FOUND', 'no file'],
    ['etc', 'NOT_FOUND', 'no law'],
    ['werk', 'NOT_FOUND', 'pr_fg'],
  ])('refuse the law "%s" as %s', async (law, code, words) => {
    expect(await call('legal_get_paragraph', { law, paragraph: '1' })).toMatchObject({
      ok: false,
      code,
      message: expect.stringContaining(words),
    });
  });

  it('list the existing paragraphs if one is missing', async () => {
    expect(await call('legal_get_paragraph', { law: 'pr_fg', paragraph: '99' })).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
      message: expect.stringContaining('Anlage 1'),
    });
    expect(await call('legal_get_paragraph', { law: 'pr_fg', paragraph: '1 Abs. 9' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('no subsection (9)'),
    });
  });

  it('do not block other tools while the server is silent', async () => {
    const waiting = call('legal_get_paragraph', { law: 'langsam', paragraph: '1' });
    expect(await output('calculate', { expression: '2 + 2' })).toMatchObject({ result: '4' });
    await server.close();
    expect(await waiting).toMatchObject({ ok: false, code: 'UNAVAILABLE' });
  });
});
