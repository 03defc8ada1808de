// The single event stream of a browser: many tabs, hidden tabs, closed tabs, and browsers without locks; with scripted models.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { CommitteeScript, expert, latch, System } from '@conclave/test-support/system';
import { planIs, recordOf, shows } from './harness/asking.js';
import { TestBrowser, type Visit } from './harness/browser.js';
import { startRun } from './harness/runs.js';

let system: System;
let browser: TestBrowser;
let visits: Visit[] = [];

beforeAll(async () => {
  [system, browser] = await Promise.all([System.start({ mode: 'embedded' }), TestBrowser.launch()]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});
afterEach(async () => {
  const last = visits;
  visits = [];
  for (const visit of last) await visit.check();
  for (const visit of [...last].reverse()) await visit.close();
});

/** A run that waits for its only expert, whose text is its answer, until `open` is called. */
async function liveRun(question: string): Promise<{ readonly runId: string; readonly open: () => void }> {
  const gate = latch();
  new CommitteeScript(system.models, question)
    .plan([expert('x1', 'Work.')])
    .expertReply(
      { chunks: [{ text: `About ${question}\nFINDING: Done.\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none`, when: gate.opened }] },
      'Work.',
    )
    .complete();
  return { runId: await startRun(system.url(), question), open: () => gate.open() };
}

/** The event streams that the pages of a browser have open, and the most that were open at the same time. */
class OpenStreams {
  readonly urls: string[] = [];
  most = 0;
  private readonly open = new Set<Request>();

  watch(context: BrowserContext): this {
    const gone = (request: Request): void => void this.open.delete(request);
    context.on('request', (request) => {
      if (!/\/events(\?|$)/.test(request.url())) return;
      this.open.add(request);
      this.urls.push(decodeURIComponent(request.url()));
      this.most = Math.max(this.most, this.open.size);
    });
    context.on('requestfinished', gone);
    context.on('requestfailed', gone);
    return this;
  }
  get now(): number {
    return this.open.size;
  }
}

/** A tab of the same browser as the tabs before it. */
async function tab(path: string): Promise<Page> {
  const visit = await browser.open(system.url() + path, {}, visits[0]?.context);
  visits.push(visit);
  return visit.page;
}
/** The first tab, and the open streams of its browser. */
async function firstTab(): Promise<OpenStreams> {
  await tab('/console/runs');
  return new OpenStreams().watch(visits[0]!.context);
}

/** Headless Chromium shows every tab at all times, so what the page reads of its visibility is overridden. */
const setVisible = (page: Page, state: 'visible' | 'hidden'): Promise<void> =>
  page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

const answerOf = async (page: Page): Promise<string> => {
  await page.locator('.why').waitFor();
  return page.locator('.markdown').innerText();
};
/** The number of events in the replay of a run page, which are all events that the page received. */
const eventsShown = async (page: Page): Promise<string | null> =>
  page.locator('.replay').getByRole('slider').getAttribute('aria-valuetext');

describe('the only event stream of a browser', () => {
  it('serves any number of tabs: eight live runs in eight tabs all end, and further requests are answered', async () => {
    const streams = await firstTab();
    const runs = await Promise.all(Array.from({ length: 8 }, (_, n) => liveRun(`What is in tab ${n}?`)));
    const pages: Page[] = [];
    for (const { runId } of runs) pages.push(await tab(`/console/chat/${runId}`));
    for (const page of pages) await planIs(page, 'x1 open');
    expect(streams.now).toBe(1);
    const answered = await pages[7]!.evaluate(async () => (await fetch('/v1/models', { signal: AbortSignal.timeout(5_000) })).status);
    expect(answered).toBe(200);
    for (const { open } of [...runs].reverse()) open();
    for (const [n, page] of pages.entries()) expect(await answerOf(page)).toBe(`About What is in tab ${n}?`);
    expect(streams.most).toBe(1);
    await shows(
      'no stream when no run is left',
      async () => streams.now,
      (open) => open === 0,
    );
  });

  it('is taken over by another tab when the tab that reads is closed, from the position of each run', async () => {
    const streams = await firstTab();
    const [one, other] = [await liveRun('Who reads first?'), await liveRun('Who reads then?')];
    const reading = await tab(`/console/chat/${one.runId}`);
    await planIs(reading, 'x1 open');
    const waiting = await tab(`/console/chat/${other.runId}`);
    await planIs(waiting, 'x1 open');
    const before = streams.urls.length;
    const [closed] = visits.splice(1, 1);
    await closed!.check();
    await reading.close();
    await shows(
      'the stream of the other tab',
      async () => streams.urls.slice(before),
      (urls) => urls.length > 0,
    );
    expect(streams.urls.slice(before).every((url) => new RegExp(`runs=${other.runId}:[1-9]\\d*$`).test(url))).toBe(true);
    other.open();
    expect(await answerOf(waiting)).toBe('About Who reads then?');
    one.open();
  });

  it('is dropped while the page is hidden; on return the run is complete, and no event appears twice', async () => {
    const streams = await firstTab();
    const { runId, open } = await liveRun('What happens unseen?');
    const page = await tab(`/console/runs/${runId}`);
    await planIs(page, 'x1 open');
    expect(streams.now).toBe(1);
    await setVisible(page, 'hidden');
    await shows(
      'the dropped stream',
      async () => streams.now,
      (count) => count === 0,
    );
    const asked = streams.urls.length;
    open();
    await shows(
      'the end of the run',
      () => recordOf(system.url(), runId),
      ({ terminal }) => terminal,
    );
    expect(streams.urls.length).toBe(asked);
    expect(await page.locator('.why').count()).toBe(0);
    await setVisible(page, 'visible');
    expect(await answerOf(page)).toBe('About What happens unseen?');
    expect(streams.urls.slice(asked)).toEqual([expect.stringMatching(new RegExp(`runs=${runId}:[1-9]\\d*$`))]);
    const all = await (await fetch(`${system.url()}/v1/runs/${runId}/events`)).text();
    const count = all.match(/^id: /gm)!.length;
    expect(await eventsShown(page)).toMatch(new RegExp(`^Event ${count} of ${count}:`));
    expect(await page.getByText('no longer kept').count()).toBe(0);
  });

  it('is one per page when the browser has no locks, as over plain http from another machine', async () => {
    const { runId, open } = await liveRun('What is there without locks?');
    const page = await tab('/console/runs');
    const streams = new OpenStreams().watch(visits[0]!.context);
    await visits[0]!.context.addInitScript(() => {
      Object.defineProperty(navigator, 'locks', { value: undefined });
    });
    await page.goto(`${system.url()}/console/chat/${runId}`);
    await planIs(page, 'x1 open');
    expect(streams.now).toBe(1);
    open();
    expect(await answerOf(page)).toBe('About What is there without locks?');
  });
});
