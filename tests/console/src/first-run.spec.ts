// What a reader sees first: without a model, with keys, and with the link that is printed at the start.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { adminKey, System } from '@conclave/test-support/system';
import { TestBrowser, type Visit } from './harness/browser.js';
import { looksRight } from './harness/looks.js';

let browser: TestBrowser;
let visit: Visit | null = null;
beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser?.close());
afterEach(async () => {
  const last = visit;
  visit = null;
  await last?.check();
  await last?.close();
});

describe('without a model', () => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({ mode: 'embedded', demo: true });
  });
  afterAll(() => system?.stop());

  it('the first page shows what was found and what to start, and a click asks a demo question', async () => {
    visit = await browser.open(`${system.url()}/`);
    const { page } = visit;
    for (const name of ['What was found', 'What to start', 'Try a provider']) await page.getByRole('heading', { name }).waitFor();
    await page.getByRole('button', { name: /Ask the demo/ }).click();
    await page
      .getByText(/Saint Orrin/)
      .first()
      .waitFor({ timeout: 40_000 });
    await page.locator('.why').waitFor();
    expect(await page.locator('.lane').count()).toBe(2);
    expect(await page.locator('.source').count()).toBeGreaterThan(0);
  });

  it('the page shows the address, the models and one line to try for other programs', async () => {
    visit = await browser.open(`${system.url()}/`);
    const { page } = visit;
    await page.getByText('Use it from another program').click();
    const text = await page.locator('.welcome').innerText();
    expect(text).toContain(`${system.url()}/v1`);
    expect(text).toContain('conclave-fast');
    expect(text).toContain(`curl ${system.url()}/v1/chat/completions`);
  });

  it('the page passes axe and fits at every width, in light, dark and forced colours', async () => {
    await looksRight(browser, {
      name: 'first-run',
      url: `${system.url()}/`,
      ready: (page) => page.getByRole('heading', { name: 'What to start' }).waitFor(),
    });
  });

  it('the link printed at the start signs one browser in, once', async () => {
    const link = /http:\/\/127\.0\.0\.1:\d+\/#signin=[\w-]+/.exec(system.output())?.[0];
    expect(link).toBeDefined();
    visit = await browser.open(link!);
    const { page } = visit;
    await page.getByText('View', { exact: true }).click();
    await page.getByText('admin of default').waitFor();
    expect(page.url()).not.toContain('signin');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(kept).not.toMatch(/sk-|signin|csrf/);
    const second = await browser.open(link!, { expected: /status of 4/ });
    await second.page.getByText('View', { exact: true }).click();
    await second.page.getByRole('button', { name: 'Sign in with a key' }).waitFor();
    await second.close();
  });
});

describe('if keys are required', () => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({
      mode: 'embedded',
      configuration: {
        keys: { reader: { key_env: 'READER_KEY', tenant: 'a' }, ann: { key_env: 'AUDITOR_KEY', tenant: 'a', role: 'auditor' } },
      },
      env: { READER_KEY: 'sk-reader-of-the-console-7a1', AUDITOR_KEY: 'sk-auditor-of-the-console-7a1' },
    });
  });
  afterAll(() => system?.stop());
  const expected = /status of 401/;

  it('the page is public and the data is not: a key is exchanged for a cookie that scripts cannot read', async () => {
    visit = await browser.open(`${system.url()}/console/chat/run_x`, { expected: /status of 40/ });
    const { page } = visit;
    await page.getByLabel('API key').fill('sk-wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill('sk-reader-of-the-console-7a1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Chat' }).waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.reload();
    await page.getByRole('heading', { name: 'Chat' }).waitFor();
    await page.getByText('View', { exact: true }).click();
    await page.getByText('user of a').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
  });

  it('a page for admins says so to others, once, and asks the gateway for nothing', async () => {
    visit = await browser.open(`${system.url()}/`, { expected });
    const { page } = visit;
    await page.getByLabel('API key').fill('sk-reader-of-the-console-7a1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const title of ['Caches', 'Settings', 'Health']) {
      await page.goto(`${system.url()}/console/${title.toLowerCase()}`);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await page.getByText('This page is only for admins, and reader is signed in as user.').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    await page.getByRole('button', { name: 'Sign in with another key' }).click();
    await page.getByLabel('API key').waitFor();
  });

  it('an auditor is shown runs and documents, and nothing that its key would be refused for', async () => {
    const headers = { authorization: 'Bearer sk-reader-of-the-console-7a1', 'content-type': 'application/json' };
    const made = async (path: string, body: object): Promise<{ readonly id: string }> => {
      const response = await fetch(`${system.url()}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(response.ok).toBe(true);
      return (await response.json()) as { id: string };
    };
    await made('collections', { name: 'manuals', description: 'Manuals of our clocks.' });
    const { id } = await made('runs', { model: 'conclave', input: 'Hello' });
    visit = await browser.open(`${system.url()}/`, { expected });
    const { page } = visit;
    await page.getByLabel('API key').fill('sk-auditor-of-the-console-7a1');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This page is not for auditors, who may read but not ask, and ann is signed in as auditor.').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Chat' }).count()).toBe(0);
    await page.goto(`${system.url()}/console/chat/${id}`);
    await page.waitForURL(`${system.url()}/console/runs/${id}`);
    await page.getByRole('heading', { name: 'Compare' }).waitFor();
    expect(await page.getByRole('link', { name: 'Open in the chat' }).count()).toBe(0);
    await page.goto(`${system.url()}/console/knowledge`);
    await page.getByRole('radio', { name: 'Collections' }).check();
    await page.getByRole('heading', { name: 'manuals' }).waitFor();
    expect(await page.getByRole('button', { name: /Remove|Create/ }).count()).toBe(0);
    expect(await page.locator('input[type=file]').count()).toBe(0);
  });

  it('an admin signs in with the key of the operator', async () => {
    visit = await browser.open(`${system.url()}/`, { expected });
    const { page } = visit;
    await page.getByLabel('API key').fill(adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('View', { exact: true }).click();
    await page.getByText('admin of default').waitFor();
  });

  it('the sign-in page passes axe and fits at every width, in light, dark and forced colours', async () => {
    await looksRight(browser, {
      name: 'sign-in',
      url: `${system.url()}/`,
      expected,
      ready: (page) => page.getByLabel('API key').waitFor(),
    });
  });
});
