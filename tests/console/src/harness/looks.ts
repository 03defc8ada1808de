import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings, heights, overflow, picture, type TestBrowser, type Width, widths } from './browser.js';

export interface Look {
  /** Name of its pictures. */
  readonly name: string;
  readonly url: string;
  /** Errors that the page causes on purpose. */
  readonly expected?: RegExp;
  /** Resolves when the page is ready to be examined. */
  readonly ready: (page: Page) => Promise<unknown>;
}

/** Examines a page in every look: three widths, light, dark and forced colours; it must pass axe and be no wider than its window. Takes pictures. */
export async function looksRight(browser: TestBrowser, { name, url, ready, expected }: Look): Promise<void> {
  const found: string[] = [];
  const visit = await browser.open(url, { reducedMotion: true, ...(expected ? { expected } : {}) });
  const { page } = visit;
  await ready(page);
  const look = async (width: Width, colours: 'light' | 'dark' | 'forced'): Promise<void> => {
    await page.setViewportSize({ width, height: heights[width] });
    await page.emulateMedia({ colorScheme: colours === 'dark' ? 'dark' : 'light', forcedColors: colours === 'forced' ? 'active' : 'none' });
    await settled(page);
    const mistakes = await axeFindings(page);
    found.push(...mistakes.map((line) => `${width} ${colours}: ${line}`));
    const wider = await overflow(page);
    if (wider.length > 0) found.push(`${width} ${colours}: wider than its window: ${wider.join(', ')}`);
    await picture(page, colours === 'light' ? `${name}-${width}` : `${name}-${width}-${colours}`);
  };
  for (const colours of ['light', 'dark'] as const) for (const width of widths) await look(width, colours);
  // The layout does not depend on the colours. This comes last, because a browser keeps forced borders for a while.
  await look(1280, 'forced');
  await visit.check();
  await visit.close();
  expect(found).toEqual([]);
}

/** Waits two frames, in which a page applies another width or other colours, and loads what it needs for them. */
const settled = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)))));
