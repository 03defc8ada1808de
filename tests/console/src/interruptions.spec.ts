// A connection that breaks at the wrong moment: the page says so, waits, and goes on.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CommitteeScript, expert, System } from '@conclave/test-support/system';
import { askInPage } from './harness/asking.js';
import { TestBrowser, type Visit } from './harness/browser.js';

let system: System;
let browser: TestBrowser;
let visit: Visit;
let page: Page;
beforeAll(async () => {
  [system, browser] = await Promise.all([System.start({ mode: 'embedded' }), TestBrowser.launch()]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});
afterEach(async () => {
  await visit.check();
  await visit.close();
});

const open = async (): Promise<void> => {
  visit = await browser.open(`${system.url()}/`, { expected: /Failed to load resource/ });
  ({ page } = visit);
  await page.getByRole('heading', { level: 1 }).waitFor();
};

const script = (question: string): CommitteeScript =>
  new CommitteeScript(system.models, question)
    .plan([expert('x1', 'Work.')])
    .expert('Done.')
    .complete()
    .answer(['It is **done**.']);

/** Cuts off what the page requests, except what it already reads; returns what restores it. */
async function cutOff(requests: RegExp): Promise<() => Promise<void>> {
  await page.route(requests, (route) => route.abort('internetdisconnected'));
  await page.route('**/health/live', (route) => route.abort('internetdisconnected'));
  return () => page.unrouteAll();
}

const banner = () => page.getByText('This page retries automatically');

describe('an interrupted connection', () => {
  it('delays a part of the page that is loaded on demand, and the answer is shown as it is meanwhile', async () => {
    const { question } = script('What is cut off?');
    await open();
    const restore = await cutOff(/\/assets\/markdown-/);
    await askInPage(page, question);
    await page.locator('.why').waitFor();
    await banner().waitFor();
    expect(await page.locator('.answer-plain').innerText()).toBe('It is **done**.');
    await restore();
    await page.locator('.markdown strong', { hasText: 'done' }).waitFor();
    await banner().waitFor({ state: 'detached' });
  });

  it('delays a change of page, which keeps the page that is shown', async () => {
    await open();
    await page.getByLabel('Your question').fill('What is half written?');
    const restore = await cutOff(/\/assets\/runs-page-/);
    await page.getByRole('link', { name: 'Runs', exact: true }).press('Enter');
    await banner().waitFor();
    expect(await page.getByLabel('Your question').inputValue()).toBe('What is half written?');
    await restore();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await banner().waitFor({ state: 'detached' });
  });

  it('of the computer changes nothing while the gateway, which may be on the same computer, answers', async () => {
    await open();
    await page.evaluate(() => window.dispatchEvent(new Event('offline')));
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText(/looked at/).waitFor();
  });
});

describe('a question', () => {
  it('whose answer got lost on the way is not asked twice when it is sent again', async () => {
    const { question } = script('What got lost?');
    await open();
    await page.route('**/v1/runs', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByLabel('Your question').fill(question);
    await page.getByLabel('Your question').press('Enter');
    await page.getByRole('alert').getByText('The gateway does not answer.').waitFor();
    await page.unrouteAll();
    await page.getByLabel('Your question').press('Enter');
    await page.locator('.why').waitFor();
    const runs = (await (await fetch(`${system.url()}/v1/runs`)).json()) as { readonly data: readonly { readonly question: string }[] };
    expect(runs.data.filter((run) => run.question === question)).toHaveLength(1);
  });

  it('is asked over plain http from another machine too, where browsers offer less', async () => {
    const { question } = script('What is asked from afar?');
    await open();
    await page.addInitScript(() => {
      // What pages of an origin that is not secure do not have.
      Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined });
      Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined });
      Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
      Reflect.deleteProperty(Navigator.prototype, 'clipboard');
    });
    await page.reload();
    await askInPage(page, question);
    await page.locator('.why').waitFor();
    expect(await page.locator('.markdown').innerText()).toBe('It is done.');
  });
});

it('the next question can be typed at once after the first was sent by keyboard', async () => {
  const { question } = script('What was first?');
  await open();
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/runs'));
  await page.getByLabel('Your question').fill(question);
  await page.getByLabel('Your question').press('Enter');
  await accepted;
  await page.locator('.why').waitFor();
  await page.keyboard.type('And then?');
  expect(await page.getByLabel('Your question').inputValue()).toBe('And then?');
});
