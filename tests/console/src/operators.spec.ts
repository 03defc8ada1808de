// What operators see: knowledge, caches, settings and health, in the built program with the demo model.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Cookie, Page } from 'playwright-core';
import { openSqlite } from '@conclave/adapter-sqlite';
import { deadRecord } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { adminKey, byAdmin, System } from '@conclave/test-support/system';
import { axeFindings, overflow, picture, TestBrowser, type Visit, type VisitOptions, widths } from './harness/browser.js';

/** Each look loads a page six times, which is slow on a busy machine. */
jest.setTimeout(240_000);

let system: System;
let browser: TestBrowser;
let visit: Visit;
let page: Page;
/** Signs a page in as the admin. */
let cookie: Cookie;

/** Asks a question of the demo model and returns the id of the ended run. */
async function ask(input: string): Promise<{ readonly id: string; readonly cache: string | null }> {
  const response = await fetch(`${system.url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...byAdmin },
    body: JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: input }] }),
  });
  if (!response.ok) throw new Error(await response.text());
  await response.json();
  return { id: response.headers.get('x-run-id')!, cache: response.headers.get('x-conclave-cache') };
}

/** Writes rare states into the stores of the stopped program: a contradicted graph, and records that could not be handled. */
async function seed(): Promise<void> {
  const sqlite = openSqlite({ home: system.home, processId: 'seed', durability: 'process' });
  const { graph, log } = sqlite;
  const write = (runId: string, triples: readonly (readonly [string, 'USES' | 'TREATS' | 'CAUSES' | 'PART_OF', string])[]) =>
    graph.addTriples({
      ...{ tenant: 'default', eventId: runId, runId, source: 'answer' as const, domain: 'medicine', at: Date.now() },
      triples: triples.map(([subject, relation, object]) => ({
        subject,
        subjectType: '',
        relation,
        object,
        objectType: '',
        confidence: 0.9,
      })),
    });
  await write('run_seed0001', [
    ['Willow bark', 'USES', 'Salicin'],
    ['Salicin', 'TREATS', 'Headache'],
    ['Aspirin', 'USES', 'Salicin'],
    ['Salicin', 'PART_OF', 'Tree bark'],
  ]);
  await write('run_seed0002', [['Salicin', 'CAUSES', 'Headache']]);
  await graph.addSynthesis({
    ...{ tenant: 'default', runId: 'run_seed0001', domain: 'medicine', confidence: 0.9, at: Date.now() },
    insight: { summary: 'Salicin of willow bark led to aspirin.', entities: ['Salicin', 'Aspirin'], insight_type: 'synthesis' },
    answer: 'Aspirin descends from salicin, which willow bark holds.',
    sources: [],
  });
  let seeded = 0;
  for await (const { event: _event, key = null, ...record } of log.read('run.completed')) {
    const death = { group: 'learning', reason: 'failed', attempts: 5, time: Date.now(), error: 'The embedder does not answer.' } as const;
    await log.publishRaw!({ topic: 'dead', ...deadRecord({ ...record, key, topic: 'run.completed' }, death) });
    if ((seeded += 1) === 2) break;
  }
  expect(seeded).toBe(2);
  await sqlite.close();
}

beforeAll(async () => {
  const quick = { strategy: 'single-pass', complexity: 'trivial', caches: { answer: true, semantic: true, plan: true, search: false } };
  const configuration = {
    mcp: { precision: { enabled: false } },
    templates: { quick, deep: { strategy: 'reasoning', capabilities: ['research'] } },
  };
  [system, browser] = await Promise.all([System.start({ mode: 'embedded', demo: true, configuration }), TestBrowser.launch()]);
  await ask('How tall is the Aurora tower?');
  await ask('Who built the harbour of Aurora?');
  await system.process('gateway').stop();
  await seed();
  await system.process('gateway').restart();
  const signedIn = await fetch(`${system.url()}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: adminKey }),
  });
  const [name, value] = signedIn.headers.get('set-cookie')!.split(';')[0]!.split('=') as [string, string];
  cookie = { name, value, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' };
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});
afterEach(async () => {
  await visit?.check();
  await visit?.close();
});

const open = async (path: string, options: VisitOptions = {}): Promise<void> => {
  visit = await browser.open(`${system.url()}${path}`, { ...options, context: { storageState: { cookies: [cookie], origins: [] } } });
  ({ page } = visit);
  page.setDefaultTimeout(15_000);
  await page.getByRole('heading', { level: 1 }).waitFor();
};

/** Examines a page of an admin at three widths and in dark: it must pass axe and be no wider than its window. Takes pictures. */
async function looks(name: string, path: string, ready: (page: Page) => Promise<unknown>): Promise<void> {
  const found: string[] = [];
  for (const width of widths)
    // The layout does not depend on the colours.
    for (const dark of width === 1280 ? [false, true] : [false]) {
      await open(path, { width, dark, reducedMotion: true });
      await ready(page);
      found.push(...(await axeFindings(page)).map((line) => `${width} ${dark ? 'dark' : 'light'}: ${line}`));
      const wider = await overflow(page);
      found.push(...wider.map((line) => `${width}: ${line}`));
      await picture(page, dark ? `${name}-${width}-dark` : `${name}-${width}`);
      await visit.check();
      await visit.close();
    }
  await open(path);
  expect(found).toEqual([]);
}

describe('Cache explanation', () => {
  it('shows kind, distance against threshold, a diff of both questions, and age; for a miss, the nearest question', async () => {
    await until('the semantic hit', async () => (await ask('What is the height of the Aurora tower?')).cache?.startsWith('semantic'), {
      timeoutMs: 30_000,
    });
    await open('/console/caches');
    const explained = page.locator('[data-cache-kind=semantic]');
    await explained.waitFor();
    expect(await explained.textContent()).toMatch(/distance 0\.\d{3} of less than 0\.15/);
    const accepted = page.getByRole('region', { name: 'Accepted' });
    expect(await accepted.locator('del').first().textContent()).toContain('How tall');
    expect(await accepted.locator('ins').first().textContent()).toContain('What');
    expect(await accepted.textContent()).toMatch(/answer .* old/);
    await page
      .getByRole('row', { name: /semantic/ })
      .getByText(/[1-9]\d* \(\d+ %\)/)
      .waitFor();
    await page.getByRole('img', { name: /semantic lookup.* accepted/ }).waitFor();

    await ask("How tall isn't the Aurora tower?");
    await page.reload();
    await page.locator('[data-cache-kind=none]').waitFor();
    const miss = page.getByRole('region', { name: 'Nearest miss' });
    expect(await miss.textContent()).toMatch(/distance 0\.\d{3}/);
    expect(await miss.textContent()).toContain('other words');
  });

  it('passes axe and fits at every width, in light and dark', () =>
    looks('caches', '/console/caches', (shown) => shown.getByRole('region', { name: 'Nearest miss' }).scrollIntoViewIfNeeded()));

  it('empties a layer on a button and shows how much was removed', async () => {
    await open('/console/caches');
    await page.getByRole('button', { name: 'Empty the cache semantic' }).click();
    await page.getByRole('button', { name: 'Empty it' }).click();
    await page.getByText(/entr(y|ies) removed/).waitFor();
    expect((await ask('What is the height of the Aurora tower?')).cache ?? '').not.toMatch(/^semantic/);
  });
});

describe('Dead letters', () => {
  it('are grouped by failure; a dry run shows destination and id, and the row becomes "re-driven -> succeeded"', async () => {
    await open('/console/health');
    const failure = page.getByRole('region', { name: 'learning could not handle run.completed: The embedder does not answer.' });
    await failure.waitFor();
    const rows = failure.locator('.health-letter');
    expect(await rows.count()).toBe(2);
    const row = rows.first();
    await row.getByRole('button', { name: /Dry run/ }).click();
    const dry = row.getByRole('region', { name: /Dry run/ });
    await dry.getByText('run.completed').waitFor();
    expect(await dry.textContent()).toMatch(/only for the group learning.*Id.*run_.*unchanged/s);
    await row.getByRole('button', { name: /Re-drive/ }).press('Enter');
    await row.getByText('re-driven -> succeeded').waitFor({ timeout: 30_000 });
    expect(await page.locator('.health-letter:focus').innerText()).toContain('re-driven -> succeeded');
    expect(await rows.nth(1).textContent()).toContain('open');
  });

  it('and the rest of the page pass axe and fit at every width, in light and dark', () =>
    looks('health', '/console/health', async (shown) => {
      await shown
        .getByRole('button', { name: /Dry run/ })
        .first()
        .click();
      await shown.getByRole('region', { name: /Dry run/ }).scrollIntoViewIfNeeded();
    }));
});

it('a page that is open when the session of its admin ends says who may see it', async () => {
  await open('/console/health', { expected: /status of 403/ });
  await page.getByRole('heading', { name: 'Dead letters' }).waitFor();
  await visit.context.clearCookies();
  await page.getByText('This page is only for admins').waitFor();
  await page.getByRole('button', { name: 'Sign in with another key' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

describe('the page about knowledge', () => {
  it('can be used by keyboard to move through the graph, and an insight opens the runs that it was learned from', async () => {
    await open('/console/knowledge');
    await page.getByRole('searchbox', { name: 'Search by name' }).fill('salic');
    await page.locator('.knowledge-list').getByRole('button', { name: 'Salicin', exact: true }).click();
    await page.getByRole('heading', { name: 'Salicin' }).waitFor();
    const first = page.locator('.knowledge-picture [tabindex="0"]');
    await first.focus();
    const seen = new Set<string>();
    for (let step = 0; step < 6; step += 1) {
      seen.add((await page.locator(':focus').getAttribute('aria-label')) ?? '');
      await page.keyboard.press('ArrowRight');
    }
    expect([...seen].join('; ')).toContain('Salicin TREATS Headache');
    await page.locator('.knowledge-node.insight').focus();
    await page.keyboard.press('Enter');
    await page.getByText('Aspirin descends from salicin').waitFor();
    await picture(page, 'knowledge-insight-1280');
    await page.locator('.knowledge-node', { hasText: 'Headache' }).click();
    await page.getByRole('heading', { name: 'Headache' }).waitFor();
  });

  it('resolves a contradiction, which then leaves the list', async () => {
    await open('/console/knowledge');
    await page.getByRole('radio', { name: 'Contradictions' }).check();
    const entry = page.locator('.note', { hasText: 'CAUSES' });
    await entry.waitFor();
    await picture(page, 'knowledge-contradictions-1280');
    await entry.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Nothing waits for a decision.').waitFor();
  });

  it('uploads a document, shows its progress, and tries a query on it', async () => {
    await open('/console/knowledge');
    await page.getByRole('radio', { name: 'Collections' }).check();
    await page.getByLabel('New collection').fill('harbours');
    await page.getByLabel('What its documents are about').fill('Harbours and who built them');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel(/Add documents/).setInputFiles({
      name: 'aurora.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('# Aurora\n\nThe harbour of Aurora was built by Marta Oakes.'),
    });
    const row = page.getByRole('row', { name: /aurora\.md/ });
    await row.getByText('ready').waitFor({ timeout: 30_000 });
    await page.getByLabel('What a run would search for').fill('Who built the harbour?');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('built by Marta Oakes').waitFor();
    await picture(page, 'knowledge-collections-1280');
    expect(await axeFindings(page)).toEqual([]);
  });

  it('adds every file that can be added, names the others, and keeps the keyboard where it is', async () => {
    await open('/console/knowledge', { expected: /status of 400/ });
    await page.getByRole('radio', { name: 'Collections' }).check();
    await page.getByLabel('New collection').fill('mills');
    await page.getByLabel('What its documents are about').fill('Mills');
    await page.getByRole('button', { name: 'Create' }).click();
    const field = page.getByLabel(/Add documents/);
    await page.getByRole('heading', { name: 'mills' }).waitFor();
    const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await field.focus();
    await field.setInputFiles([file('empty.txt', ''), file('north 🙂.txt', 'The northern mill.'), file('south.txt', 'The southern mill.')]);
    const refused = page.getByRole('alert');
    await refused.getByText('Not added: 1 of 3 documents.').waitFor();
    expect(await refused.getByRole('listitem').allInnerTexts()).toEqual([expect.stringMatching(/^empty\.txt: .*is empty/)]);
    const rows = page.locator('tbody tr');
    await until('both documents', async () => (await rows.count()) === 2);
    // An empty field reports the same file when it is chosen again.
    expect(await field.inputValue()).toBe('');
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');
    await until('the focus on the field again', () => field.evaluate((element) => element === document.activeElement));
    const names = await rows.locator('td:first-child').allInnerTexts();
    await rows.first().getByRole('button').focus();
    await page.keyboard.press('Enter');
    await until('one document', async () => (await rows.count()) === 1);
    expect(await focused()).toContain(names[1]);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(`Remove ${names[1]}`);
    await page.keyboard.press('Enter');
    await page.getByText('It contains no documents yet.').waitFor();
    expect(await focused()).toContain('mills');
  });

  it('lists the documents of every page of the API', async () => {
    await open('/console/knowledge');
    const document = (id: string): object => ({
      ...{ object: 'document', id, name: `${id}.txt`, mime: 'text/plain', bytes: 1, status: 'ready', problem: null },
      ...{ notices: [], metadata: {}, chunks: { done: 1, total: 1 }, createdAt: 0, updatedAt: 0 },
    });
    await page.route('**/v1/collections/*/documents?*', (route) => {
      const isSecond = route.request().url().includes('after=first');
      return route.fulfill({
        json: { object: 'list', data: [document(isSecond ? 'second' : 'first')], nextAfter: isSecond ? null : 'first' },
      });
    });
    await page.getByRole('radio', { name: 'Collections' }).check();
    await page.getByRole('row', { name: /second\.txt/ }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
  });

  it('passes axe and fits at every width, in light and dark', () =>
    looks('knowledge', '/console/knowledge', (shown) => shown.getByRole('button', { name: 'Aspirin' }).first().waitFor()));
});

describe('the page with settings', () => {
  it('checks options as YAML with the line of a fault, saves, shows who changed them, and rolls back', async () => {
    await open('/console/settings');
    await page.locator('main select').first().selectOption('quick');
    await page.getByRole('radio', { name: 'YAML' }).check();
    const text = page.getByLabel('Changes as YAML');
    await text.fill('# nothing of the kind\nno_such_option: 1\n');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('alert').getByText('no_such_option').waitFor();
    await text.fill('');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Nothing was changed, started or connected by the check.').waitFor();

    await page.locator('main select').first().selectOption('deep');
    await page.getByRole('radio', { name: 'Form' }).check();
    await page.getByLabel('max_iterations').fill('7');
    await page.getByRole('region', { name: 'What would change' }).getByText('+ max_iterations: 7').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Version 1', { exact: true }).waitFor();
    await page.getByText('by admin.key').waitFor();
    await page.getByLabel('max_iterations').fill('9');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByText('Version 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Diff of version 2' }).click();
    await page.getByRole('region', { name: 'From now to version 2' }).getByText('+ max_iterations: 9').waitFor();
    await picture(page, 'settings-templates-1280');
    expect(await axeFindings(page)).toEqual([]);
  });

  it('changes models, limits and rounds as a form or as YAML, refuses a model that does not exist, and rolls back to the file', async () => {
    await open('/console/settings');
    await page.locator('main select').first().selectOption('quick');
    await page.getByLabel('tokens', { exact: true }).fill('9000');
    await page.getByLabel('Judge').selectOption('conclave-demo@demo');
    await page.getByText(/^Experts \(\d+ categories\)$/).click();
    await page.getByLabel('general, asked when the first answer is unsure').selectOption('conclave-demo@demo');
    await picture(page, 'settings-models-1280');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('radio', { name: 'YAML' }).check();
    const text = page.getByLabel('Changes as YAML');
    const written = await text.inputValue();
    expect(written.split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining(['tokens: 9000', 'models: ["conclave-demo@demo"]', 't2: ["conclave-demo@demo"]']),
    );
    await text.fill(written.replace('["conclave-demo@demo"]', '["conclave-dmo@demo"]'));
    await page.getByRole('button', { name: 'Save' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('Did you mean conclave-demo@demo?').waitFor();
    expect(await alert.innerText()).toMatch(/line \d+/);
    await page.getByText('It was never changed while the system runs.').waitFor();
    await text.fill(`${written}refine_rounds: 0\n`);
    // The gateway reads the text first.
    await page.getByRole('radio', { name: 'Form' }).click();
    expect(await page.getByLabel('refine_rounds', { exact: true }).inputValue()).toBe('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Version 1', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'The whole template' }).last().innerText()).toMatch(/tokens: 9000/);
    await page.getByRole('button', { name: 'Back to the file' }).click();
    await page.getByText('Version 2', { exact: true }).waitFor();
    expect(await page.getByLabel('tokens', { exact: true }).inputValue()).toBe('');
  });

  it('tests a model server and shows the lines to add another one', async () => {
    await open('/console/settings');
    await page.getByRole('radio', { name: 'Providers' }).check();
    await page.getByRole('button', { name: 'Test demo' }).click();
    await page.getByText(/It answers and offers conclave-demo/).waitFor();
    await page.getByLabel('Address of an OpenAI-compatible server').fill('http://127.0.0.1:9/v1');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('region', { name: 'Lines for conclave.yaml' }).waitFor();
    expect(await page.getByRole('region', { name: 'Lines for conclave.yaml' }).textContent()).toContain(
      'base_url: "http://127.0.0.1:9/v1"',
    );
    await picture(page, 'settings-providers-1280');
    expect(await axeFindings(page)).toEqual([]);
  });

  it('changes a prompt with a diff and rolls back to the shipped text', async () => {
    await open('/console/settings');
    await page.getByRole('radio', { name: 'Prompts' }).check();
    await page.locator('main select').first().selectOption('thinking');
    await page.getByLabel('Text of thinking').fill('Think hard about it.');
    await page.getByRole('region', { name: 'What would change' }).getByText('+ Think hard about it.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Changed by the operator.').waitFor();
    await page.getByRole('button', { name: 'Back to the shipped text' }).click();
    await page.getByText('The shipped text.').waitFor();
  });

  it('issues a key whose value is shown once, and revokes it', async () => {
    await open('/console/settings');
    await page.getByRole('radio', { name: 'Keys and budgets' }).check();
    await page.getByLabel('Name').fill('front end');
    await page.getByLabel('tokens per day').fill('5000');
    await page.getByRole('button', { name: 'Issue' }).click();
    await page.getByText(/^sk-cv-[\w-]{43}$/).waitFor();
    await page.getByText('tokens per day 5000').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Revoke front end' }).press('Enter');
    await page.getByText('revoked', { exact: true }).waitFor();
    expect(await page.locator(':focus').innerText()).toContain('front end');
    for (const part of ['Usage', 'Skills']) {
      await page.getByRole('radio', { name: part }).check();
      await page.getByRole('heading', { name: part, level: 2 }).waitFor();
      expect([part, await axeFindings(page)]).toEqual([part, []]);
    }
  });

  it('issues no key without a limit for a limit of 0, and brings the new value of a rotated key into sight', async () => {
    await open('/console/settings');
    await page.getByRole('radio', { name: 'Keys and budgets' }).check();
    const issue = async (name: string): Promise<void> => {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Issue' }).click();
    };
    const tokens = page.getByLabel('Tokens per day');
    await tokens.pressSequentially('7');
    await tokens.press('Backspace');
    expect(await tokens.inputValue()).toBe('');
    await tokens.pressSequentially('0');
    const keys = page.locator('.settings-version');
    const before = await keys.count();
    await issue('nothing');
    expect(await tokens.evaluate((field: HTMLInputElement) => field.validity.rangeUnderflow)).toBe(true);
    await tokens.fill('1000');
    await issue('k0');
    await keys.filter({ hasText: 'tokens per day 1000' }).waitFor();
    expect(await keys.count()).toBe(before + 1);
    for (let n = 1; n < 16; n += 1) {
      await issue(`k${n}`);
      await keys.filter({ hasText: `k${n}` }).waitFor();
    }
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByRole('button', { name: 'Rotate k0' }).press('Enter');
    await page.getByText('The value of k0, shown only once.').waitFor();
    const note = page.locator('.note:focus');
    expect(await note.innerText()).toContain('still works for an hour');
    const isInSight = await note.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    expect(isInSight).toBe(true);
    await note.getByRole('button', { name: 'Copy the value of k0' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('passes axe and fits at every width, in light and dark', () =>
    looks('settings', '/console/settings', (shown) => shown.getByRole('heading', { name: 'Versions' }).waitFor()));
});
