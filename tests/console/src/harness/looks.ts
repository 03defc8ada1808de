import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings, overflow, picture, type TestBrowser, widths } from './browser.js';

export interface Look {
  /** Name of its pictures. */
  readonly name: string;
  readonly url: string;
  /** Resolves when the page shows what is to be looked at. */
  readonly ready: (page: Page) => Promise<unknown>;
}

/** A page in every look: three widths, light, dark and forced colours; clean for axe, no wider than its window, with pictures. */
export async function looksRight(browser: TestBrowser, { name, url, ready }: Look): Promise<void> {
  const found: string[] = [];
  for (const width of widths) {
    for (const look of ['light', 'dark', 'forced'] as const) {
      // The arrangement does not depend on the colours.
      if (look === 'forced' && width !== 1280) continue;
      const visit = await browser.open(url, { width, dark: look === 'dark', forcedColours: look === 'forced', reducedMotion: true });
      await ready(visit.page);
      const mistakes = await axeFindings(visit.page);
      found.push(...mistakes.map((line) => `${width} ${look}: ${line}`));
      const wider = await overflow(visit.page);
      if (wider > 0) found.push(`${width} ${look}: ${wider} pixels wider than its window`);
      await picture(visit.page, look === 'light' ? `${name}-${width}` : `${name}-${width}-${look}`);
      await visit.check();
      await visit.close();
    }
  }
  expect(found).toEqual([]);
}
