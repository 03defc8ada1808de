// What models and people write, as the chat page shows it: formulas, other directions of writing, failures; and the controls beside it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CommitteeScript, expert, latch, plainTemplate, System } from '@conclave/test-support/system';
import { askInPage, planIs, shows } from './harness/asking.js';
import { axeFindings, heights, overflow, picture, TestBrowser, type Visit } from './harness/browser.js';

let system: System;
let browser: TestBrowser;
let visit: Visit | null = null;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([
    System.start({
      mode: 'embedded',
      configuration: { templates: { plain: { ...plainTemplate, strategy: 'single-pass', capabilities: [] } } },
    }),
    TestBrowser.launch(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});
afterEach(async () => {
  const last = visit;
  visit = null;
  await last?.check();
  await last?.close();
});

const open = async (): Promise<void> => {
  visit = await browser.open(`${system.url()}/`);
  ({ page } = visit);
  await page.getByLabel('Your question').waitFor();
};
const answered = async (question: string, answer: string): Promise<void> => {
  const s = new CommitteeScript(system.models, question)
    .plan([expert('x1', 'Work.'), expert('x2', 'Work more.')])
    .expert('Done.')
    .expert('Done too.')
    .complete()
    .answer([answer]);
  await open();
  await askInPage(page, s.question);
  await page.locator('.why').waitFor();
};
/** The text of each drawn formula, without the delimiters of TeX. */
const formulas = (): Promise<readonly string[]> => page.locator('.markdown math').allInnerTexts();

describe('an answer', () => {
  it('draws the formulas of its TeX, and takes no price and no variable of a shell for one', async () => {
    const answer = [
      'For \\( ax^2 + bx + c = 0 \\) with $a \\neq 0$ it costs $5 in one shop and $10 in the other; see `echo $x$` and $HOME.',
      '$$\nx_{1,2} = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n$$',
      '| Case | Value |\n|---|--:|\n| both | $|x|$ |',
      '\\begin{align} a &= b \\\\ c &= \\cancel{d} \\end{align}',
      `Long: \\( ${Array.from({ length: 40 }, (_, n) => `x_{${n}}`).join(' + ')} = 0 \\)`,
      'Wrong: $\\frac{1}{$ and $\\nosuchcommand{x}$.',
      '- [x] done\n- [ ] open',
    ].join('\n\n');
    const asked: string[] = [];
    await answered('What is the formula?', answer);
    page.on('request', (request) => asked.push(request.url()));
    await shows('six formulas', formulas, (texts) => texts.length === 6);
    await page.locator('.tex.display math mfrac msqrt').waitFor();
    const text = await page.locator('.markdown').innerText();
    expect(text).toContain('it costs $5 in one shop and $10 in the other; see echo $x$ and $HOME.');
    expect(text).toContain('Wrong: $\\frac{1}{$ and $\\nosuchcommand{x}$.');
    expect(text).not.toMatch(/\\neq|\\begin|\$\$/);
    expect(await axeFindings(page)).toEqual([]);
    for (const width of [360, 1280] as const) {
      await page.setViewportSize({ width, height: heights[width] });
      expect(await overflow(page)).toEqual([]);
    }
    await picture(page, 'chat-formulas-1280');
    await page.reload();
    await shows('the formulas again', formulas, (texts) => texts.length === 6);
    expect(new Set(asked.filter((url) => /\/formula-/.test(url))).size).toBe(1);
  });

  it('without TeX does not load what draws formulas', async () => {
    const loaded: string[] = [];
    await answered('What does it cost?', 'It costs $5 in one shop and $10 in the other.');
    page.on('request', (request) => loaded.push(request.url()));
    await page.reload();
    await page.locator('.markdown').waitFor();
    expect(loaded.filter((url) => /\/markdown-/.test(url))).toHaveLength(1);
    expect(loaded.filter((url) => /\/formula-/.test(url))).toEqual([]);
  });

  it('has each paragraph in the direction of its language', async () => {
    await answered('What is said?', 'It is said.\n\nשלום עולם, זהו משפט בעברית.');
    const leftOf = (n: number): Promise<number> =>
      page
        .locator('.markdown p')
        .nth(n)
        .evaluate((element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return Math.round(range.getBoundingClientRect().left - element.getBoundingClientRect().left);
        });
    expect(await leftOf(0)).toBe(0);
    expect(await leftOf(1)).toBeGreaterThan(100);
  });
});

describe('a run that fails', () => {
  it('says why once', async () => {
    const question = 'What fails?';
    system.models.add({
      name: 'fails',
      match: ({ messages }) => JSON.stringify(messages).includes(question),
      reply: { status: 500, body: { error: { message: 'out of memory: 2 GiB', type: 'server_error' } } },
      times: 100,
    });
    await open();
    await askInPage(page, question);
    await page.locator('.why').waitFor({ timeout: 60_000 });
    expect((await page.locator('.turn-answer').innerText()).match(/out of memory/g)).toHaveLength(1);
    await page.goto(new URL((await page.getByRole('link', { name: /^event/ }).getAttribute('href')) ?? '', system.url()).href);
    await page.locator('.why').waitFor();
    expect((await page.getByRole('region', { name: 'Answer' }).innerText()).includes('out of memory')).toBe(false);
  });
});

describe('the controls of a run', () => {
  it('have one button that ends it, and keep the focus of the keyboard', async () => {
    const gate = latch();
    const s = new CommitteeScript(system.models, 'What is held?')
      .plan([expert('x1', 'Work.')])
      .expert('Done.', { when: gate.opened })
      .complete()
      .answer(['Done.']);
    await open();
    await askInPage(page, s.question, { template: 'conclave' });
    await planIs(page, 'x1 open');
    expect(await page.getByRole('button', { name: /^(Stop|Cancel)$/ }).allInnerTexts()).toEqual(['Stop']);
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    await page.getByRole('button', { name: 'Steer' }).press('Enter');
    await page.getByLabel('Guidance for every prompt').fill('Name the year.');
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    expect(await focused()).toBe('Steer');
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await focused()).toBe('Resume');
    await page.getByRole('button', { name: 'Stop' }).press('Enter');
    gate.open();
    await page.locator('.why .badge', { hasText: 'Cancelled' }).waitFor();
    await page.locator('[data-command="cancel"]', { hasText: 'Stop' }).waitFor();
  });

  it('say so when a stop is refused', async () => {
    const gate = latch();
    const s = new CommitteeScript(system.models, 'What cannot be stopped?')
      .plan([expert('x1', 'Work.')])
      .expert('Done.', { when: gate.opened })
      .complete()
      .answer(['Done.']);
    visit = await browser.open(`${system.url()}/`, { expected: /503/ });
    ({ page } = visit);
    await askInPage(page, s.question);
    await planIs(page, 'x1 open');
    const error = { error: { message: 'The store is away.', code: 'STORE_AWAY', type: 'server_error', param: null } };
    await page.route('**/commands', (route) => route.fulfill({ status: 503, json: error }));
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('alert').filter({ hasText: 'The store is away.' }).waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true);
    gate.open();
    await page.locator('.why').waitFor();
  });

  it('ask the next question with the template that was chosen for the first', async () => {
    const s = new CommitteeScript(system.models, 'What is chosen?')
      .plan([expert('x1', 'Work.')])
      .expert('Done.')
      .answer(['Done.']);
    await open();
    await askInPage(page, s.question, { template: 'plain' });
    await page.locator('.why').waitFor();
    expect(await page.getByLabel('Template').inputValue()).toBe('plain');
    await page.getByRole('button', { name: 'New chat' }).click();
    expect(await page.getByLabel('Template').inputValue()).toBe('plain');
  });
});
