// Chromium for the specs of the console. Nothing outside this machine is reachable, and any attempt of the page to reach it fails the test.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { workspaceRoot } from '@conclave/test-support/system';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Where pictures are written: beside the results, or into the repository with CONCLAVE_PICTURES=1. */
const pictures = join(workspaceRoot, process.env['CONCLAVE_PICTURES'] ? 'docs/pictures/console' : '.results/console');

/** Widths of a desk, a tablet and a phone. */
export const widths = [1280, 768, 360] as const;
export type Width = (typeof widths)[number];
export const heights: Readonly<Record<Width, number>> = { 1280: 860, 768: 1024, 360: 740 };

/** A page, with a record of every forbidden thing it did. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Throws if the page contacted another machine, violated its policy, or threw. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface VisitOptions {
  readonly width?: Width;
  readonly dark?: boolean;
  readonly forcedColours?: boolean;
  readonly reducedMotion?: boolean;
  /** Errors in the console of the browser that the test itself causes, such as the refused key of a sign-in. */
  readonly expected?: RegExp;
  readonly context?: BrowserContextOptions;
}

/** One browser for a spec file. */
export class TestBrowser {
  private constructor(private readonly browser: Browser) {}

  static async launch(): Promise<TestBrowser> {
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'];
    return new TestBrowser(await chromium.launch({ executablePath, args }));
  }

  close(): Promise<void> {
    return this.browser.close();
  }

  /** Opens an address. `more` opens a second page of the same browser profile. */
  async open(url: string, options: VisitOptions = {}, more?: BrowserContext): Promise<Visit> {
    const width = options.width ?? 1280;
    const context =
      more ??
      (await this.browser.newContext({
        viewport: { width, height: heights[width] },
        colorScheme: options.dark ? 'dark' : 'light',
        forcedColors: options.forcedColours ? 'active' : 'none',
        reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
        locale: 'en-GB',
        timezoneId: 'Europe/Vienna',
        ...options.context,
      }));
    const page = await context.newPage();
    const wrong: string[] = [];
    const own = new URL(url).origin;
    await page.route(
      (address) => address.origin !== own && address.protocol !== 'data:',
      (route) => {
        wrong.push(`asked ${route.request().url()}`);
        return route.abort();
      },
    );
    page.on('pageerror', (error) => wrong.push(`threw ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !options.expected?.test(message.text())) wrong.push(`logged ${message.text()}`);
    });
    await page.addInitScript(() => {
      const seen: string[] = [];
      (globalThis as unknown as { violations: string[] }).violations = seen;
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
        seen.push(`${violatedDirective} ${blockedURI} ${sample}`),
      );
    });
    await page.goto(url);
    return {
      page,
      context,
      check: async () => {
        const violations = await page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);
        wrong.push(...violations.map((text) => `violated ${text}`));
        if (wrong.length > 0) throw new Error(`The page did what it may not do:\n${wrong.join('\n')}`);
      },
      close: async () => {
        await page.close();
        if (!more) await context.close();
      },
    };
  }
}

/** Findings of axe, one line for each rule with the first failing element. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: here } = globalThis as unknown as { axe: typeof axe };
    const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const found = await here.run(document, { runOnly: rules, resultTypes: ['violations'] });
    return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
  return violations;
}

/** The elements that make the page wider than its window; empty if it fits. */
export const overflow = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const { scrollWidth } = document.documentElement;
    if (scrollWidth <= window.innerWidth) return [];
    const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > window.innerWidth);
    return [`${scrollWidth} pixels`, ...wide.slice(0, 5).map(({ tagName, className }) => `${tagName}.${String(className)}`)];
  });

/**
 * Saves a picture for a human reviewer. With CONCLAVE_PICTURES=1, a picture that is 1280 pixels wide is followed by pictures of the whole page
 * at the other widths; afterwards the page has its own width again.
 */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  const save = (as: string, fullPage: boolean): Promise<unknown> =>
    page.screenshot({ path: join(pictures, `${as}.png`), animations: 'disabled', fullPage });
  await save(name, false);
  const before = page.viewportSize();
  if (!process.env['CONCLAVE_PICTURES'] || !name.endsWith('-1280') || !before) return;
  for (const width of widths.filter((one) => one !== 1280)) {
    await page.setViewportSize({ width, height: heights[width] });
    // On a phone, part of the page is below the first screen.
    await save(name.replace('-1280', `-${width}`), true);
  }
  await page.setViewportSize(before);
}
