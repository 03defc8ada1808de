// The chat page in its mode Reasoning: steps, scores, trend, working memory, and how a reader can influence a run.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CommitteeScript, latch, plainTemplate, System } from '@conclave/test-support/system';
import { askInPage, recordOf, shows } from './harness/asking.js';
import { picture, TestBrowser, type Visit } from './harness/browser.js';
import { looksRight } from './harness/looks.js';

let system: System;
let browser: TestBrowser;
let visit: Visit | null = null;
let page: Page;
/** An ended run. */
let ended: string;
beforeAll(async () => {
  [system, browser] = await Promise.all([
    System.start({
      mode: 'embedded',
      corpus: {
        'northlight.md': '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill. It was founded in 1911.',
        'quill.md': '# Ada Quill\n\nThe birthplace of Ada Quill is Port Ellery.',
      },
      configuration: {
        templates: {
          goal: { ...plainTemplate, strategy: 'reasoning', description: 'Goes to a goal step by step.', options: { ask_user: 'always' } },
        },
      },
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

const script = (question: string): CommitteeScript => new CommitteeScript(system.models, question);
const step = (input: string): object => ({ capability: 'research', input_description: input, reason: 'It is needed.' });
const scored = (score: number, more: object = {}): object => ({
  ...{ relevance: score, completeness: score, usability: score, goal_progress: score },
  summary: `It is worth ${score}.`,
  ...more,
});
const goal = async (question: string): Promise<string> => {
  visit = await browser.open(`${system.url()}/`);
  ({ page } = visit);
  return askInPage(page, question, { template: 'goal', reasoning: true });
};
const steps = (): Promise<readonly string[]> =>
  page.locator('.step').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-state') ?? ''));

describe('a goal', () => {
  it('shows its steps with scores and their trend, the planned steps, and the working memory', async () => {
    const [first, second] = [latch(), latch()];
    const s = script('Where was the founder born, step by step?')
      .phase('reasoner', { steps: [step('find the founder'), step('find the birthplace')], working_memory: 'Nothing yet.' })
      .phase('preparer', { input: 'founder of the Northlight Clock Company', working_memory: 'Looking for the founder.' })
      .phase('rater', scored(4, { working_memory: 'The founder is Ada Quill.' }), { when: first.opened })
      .phase('preparer', { input: 'birthplace of Ada Quill' })
      .phase('rater', scored(5), { when: second.opened })
      .answer(['In Port Ellery [1].']);
    const runId = await goal(s.question);
    await shows('a step that is done and one that is planned', steps, (states) => states.join() === 'ok,planned');
    await shows(
      'the memory',
      () => page.getByRole('region', { name: 'Working memory' }).innerText(),
      (text) => text.includes('Looking for the founder.'),
    );
    first.open();
    await shows('two steps', steps, (states) => states.join() === 'ok,ok');
    await shows(
      'the new memory',
      () => page.getByRole('region', { name: 'Working memory' }).innerText(),
      (text) => text.includes('The founder is Ada Quill.'),
    );
    await picture(page, 'reasoning-steps-1280');
    second.open();
    await page.locator('.why').waitFor();
    expect(await page.locator('.step').allInnerTexts()).toEqual([
      expect.stringContaining('4.00 of 5, good'),
      expect.stringContaining('5.00 of 5, good'),
    ]);
    expect(await page.locator('[data-trend]').getAttribute('data-trend')).toBe('rising');
    expect((await recordOf(system.url(), runId)).steps).toMatchObject({ scores: [4, 5], memory: 'The founder is Ada Quill.' });
    ended = runId;
  });

  it('passes axe and fits at every width, in light, dark and forced colours', async () => {
    await looksRight(browser, {
      name: 'reasoning',
      url: `${system.url()}/console/chat/${ended}`,
      ready: (shown) => shown.locator('.why').waitFor(),
    });
  });

  it('asks the reader, and continues with the answer', async () => {
    const s = script('Which company is meant?')
      .phase('reasoner', { steps: [step('find it')] })
      .phase('preparer', { input: 'Northlight Clock Company' })
      .phase('rater', scored(2))
      .phase('decider', { action: 'ask_user', confidence: 0.9, reason: 'It is unclear.', question: 'Clocks or ships?' })
      .phase('reasoner', { steps: [step('find the clock company')] })
      .phase('preparer', { input: 'founder of the Northlight Clock Company' })
      .phase('rater', scored(5))
      .answer(['Northlight.']);
    const runId = await goal(s.question);
    await page.getByText('Clocks or ships?').first().waitFor();
    await page.getByLabel('Your answer').fill('Clocks');
    await picture(page, 'reasoning-question-1280');
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.locator('.why').waitFor();
    expect(await page.locator('[data-command="answer"] .badge').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^applied/)]),
    );
    expect((await recordOf(system.url(), runId)).outcome).toBe('completed');
  });

  it("replaces a step by the reader's own, and explains why it refuses one", async () => {
    const gate = latch();
    const s = script('Who is behind the clocks?')
      .phase('reasoner', { steps: [step('find the owner')] })
      .phase('preparer', { input: 'owner' }, { when: gate.opened })
      .phase('rater', scored(5))
      .phase('preparer', { input: 'owner of the Northlight Clock Company' })
      .phase('rater', scored(5))
      .answer(['Ada Quill.']);
    await goal(s.question);
    await shows('the planned step', steps, (states) => states.includes('planned'));
    const override = async (capability: string, input: string): Promise<void> => {
      await page.getByRole('button', { name: 'Override step' }).click();
      await page.getByLabel('Capability of the step').fill(capability);
      await page.getByLabel('What it should do').fill(input);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    };
    const states = (n: number): Promise<readonly string[]> =>
      page.locator('[data-command="override_step"]').nth(n).locator('.badge').allInnerTexts();
    await override('rocket', 'x');
    const refused = await shows(
      'the rejection',
      () => states(0),
      (texts) => texts.length === 3,
    );
    expect(refused[2]).toMatch(/^rejected: .*rocket/);
    await override('research', 'founder of the Northlight Clock Company');
    const applied = await shows(
      'the applied step',
      () => states(1),
      (texts) => texts.length === 3,
    );
    expect(applied[2]).toMatch(/^applied in /);
    gate.open();
    await page.locator('.why').waitFor();
    await shows(
      'the step of the reader',
      () => page.locator('.step').allInnerTexts(),
      (texts) => texts[0]?.includes('founder of the Northlight Clock Company') === true,
    );
  });
});
