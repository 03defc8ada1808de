// The pages about runs: the list, one run with its waterfall, its replay, and two runs side by side; with scripted models.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { RunRecordList, RunView } from '@conclave/contracts';
import { adminKey, CommitteeScript, expert, latch, plainTemplate, research, System } from '@conclave/test-support/system';
import { recordOf, shows } from './harness/asking.js';
import { overflow, picture, TestBrowser, type Visit, type VisitOptions } from './harness/browser.js';
import { looksRight } from './harness/looks.js';
import { playsEvents, runEnds, startRun } from './harness/runs.js';

type CallRecord = Extract<RunRecordList['data'][number], { kind: 'call' }>;

let system: System;
let browser: TestBrowser;
let visit: Visit;
let page: Page;
/** A run of two rounds with a gap between them, and one of another template. */
let twoRounds: string;
let single: string;
const question = 'Where was the founder of the clock company born?';

const script = (text: string): CommitteeScript => new CommitteeScript(system.models, text);
const open = async (path: string, options: VisitOptions = {}): Promise<void> => {
  visit = await browser.open(system.url() + path, options);
  ({ page } = visit);
  await page.getByRole('heading', { level: 1 }).waitFor();
};

beforeAll(async () => {
  [system, browser] = await Promise.all([
    System.start({
      mode: 'embedded',
      corpus: {
        'northlight.md': '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill.',
        'quill.md': '# Ada Quill\n\nThe birthplace of Ada Quill is Port Ellery.',
      },
      configuration: {
        models: { 'scripted@fake': { context: 32_768, price: { input: 2, output: 10 } } },
        templates: { short: { ...plainTemplate, strategy: 'single-pass', gap_check: 'evidence', description: 'One pass.' } },
      },
    }),
    TestBrowser.launch(),
  ]);
  script(question)
    .plan([research('r1', 'Northlight Clock Company founder'), expert('x1', 'Who founded it?')])
    .expert('It was founded by Ada Quill.', { task: 'Who founded it?' })
    .gap('birthplace of Ada Quill', 'Where was Ada Quill born?')
    .plan([research('r2', 'birthplace of Ada Quill')], { iteration: 1 })
    .complete()
    .answer(['Ada Quill was born in Port Ellery [1]. That is by the sea.']);
  twoRounds = await startRun(system.url(), question);
  script('How old is the company?')
    .plan([expert('x1', 'Say how old.')])
    .expert('It is old.')
    .answer(['It is a century old.']);
  single = await startRun(system.url(), 'How old is the company?', 'short');
  await Promise.all([runEnds(system.url(), twoRounds), runEnds(system.url(), single)]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});
afterEach(async () => {
  await visit?.check();
  await visit?.close();
});

const listed = (): Promise<readonly (string | null)[]> =>
  page.locator('tr[data-run]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-run')));

describe('the list of runs', () => {
  it('shows each run with its figures, updates a run in progress, and finds runs by text, template and outcome', async () => {
    const gate = latch();
    script('What goes on?')
      .plan([expert('x1', 'Work.')])
      .expert('Done.', { when: gate.opened })
      .complete()
      .answer(['It is done.']);
    const running = await startRun(system.url(), 'What goes on?');
    await open('/console/runs');
    await shows('all runs, newest first', listed, (ids) => ids.join() === [running, single, twoRounds].join());
    const row = (id: string): Promise<readonly string[]> => page.locator(`tr[data-run="${id}"] td`).allInnerTexts();
    const { usage } = await recordOf(system.url(), twoRounds);
    const figures = await shows(
      'the figures of the run',
      () => row(twoRounds),
      (cells) => cells[5] === '2',
    );
    expect(figures).toEqual(expect.arrayContaining([question, 'Answered', 'conclave', String(usage.total.calls)]));
    await page.getByLabel('Outcome').selectOption('open');
    await shows('the open run', listed, (ids) => ids.join() === running);
    gate.open();
    await shows('no open run', listed, (ids) => ids.length === 0);
    await page.getByLabel('Outcome').selectOption('completed');
    await page.getByLabel('Template').selectOption('short');
    await shows('the run of the template', listed, (ids) => ids.join() === single);
    await page.getByLabel('Template').selectOption('');
    await page.getByLabel('Question contains').fill('founder');
    await shows('the run with the word', listed, (ids) => ids.join() === twoRounds);
    await page.getByLabel(/^From/).fill('2099-01-01T00:00');
    await shows('no run of that time', listed, (ids) => ids.length === 0);
    await page.getByLabel(/^From/).fill('2020-01-01T00:00');
    await shows('the run since then', listed, (ids) => ids.join() === twoRounds);
    // The filters are in the address.
    await page.reload();
    await shows('the same after a reload', listed, (ids) => ids.join() === twoRounds);
  });

  it('reads further pages until it has enough results, and shows how far back it has looked', async () => {
    const asked: string[] = [];
    const items = (from: number) =>
      Array.from({ length: 100 }, (_, n) => ({
        object: 'run',
        id: `made-up-${from - n}`,
        template: 'conclave',
        status: 'completed',
        terminal: true,
        acceptedAt: 1_700_000_000_000 + (from - n) * 60_000,
        question: from - n === 1_750 ? 'The needle' : 'Hay',
      }));
    // Creating two thousand runs would take too long.
    await open('/console/runs?text=needle', { expected: /404/ });
    await page.route('**/v1/runs?*', (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      asked.push(before ?? 'newest');
      const from = before === null ? 3_000 : Number(before);
      return route.fulfill({ json: { object: 'list', data: items(from), nextBefore: from - 100 } });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Look further back' }).waitFor();
    expect(new Set(asked).size).toBe(11);
    expect(await listed()).toEqual([]);
    expect(await page.getByText('1,100 runs looked at').innerText()).toMatch(/back to \d+ Nov/);
    await page.getByRole('button', { name: 'Look further back' }).click();
    await shows('the needle', listed, (ids) => ids.join() === 'made-up-1750');
  });
});

/** The stream of a run after it has expired. */
const expired = ({ status, answer }: RunView): object => ({ kind: 'snapshot', first: 0, last: 60, status, text: answer });

describe('the page of a run', () => {
  const lines = (): Promise<readonly string[]> =>
    page
      .locator('.waterfall tr[data-line], .waterfall tr[data-rule], .waterfall tr[data-round]')
      .evaluateAll((rows) =>
        rows.map(
          (row) =>
            row.getAttribute('data-line')?.split('/').at(-1) ?? row.getAttribute('data-rule') ?? `round ${row.getAttribute('data-round')}`,
        ),
      );

  it("draws a waterfall: a line for each task with its start, queue, duration, tokens and cost, and the engine's decisions with their rules", async () => {
    await open(`/console/runs/${twoRounds}`);
    const drawn = await shows('the waterfall', lines, (all) => all.length > 6);
    expect(drawn).toEqual(expect.arrayContaining(['round 0', 'plan', 'r1', 'x1', 'round 1', 'r2', 'D3']));
    expect(drawn.indexOf('r1')).toBeLessThan(drawn.indexOf('round 1'));
    const record = await recordOf(system.url(), twoRounds);
    const x1 = record.rounds[0]!.tasks.find(({ id }) => id.endsWith('/x1'))!;
    const cells = await page.locator(`tr[data-line="${x1.id}"] td`).allInnerTexts();
    expect(cells[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
    expect(cells[3]).toBe(String(x1.usage.prompt + x1.usage.completion));
    expect(Number(cells[4])).toBeCloseTo(x1.usage.cost, 4);
    await page.getByRole('group', { name: 'Times of the waterfall' }).getByRole('radio', { name: 'UTC' }).check();
    await shows(
      'the time in UTC',
      () => page.locator(`tr[data-line="${x1.id}"] td`).first().innerText(),
      (text) => text.endsWith(' UTC'),
    );
    await page.locator(`tr[data-line="${x1.id}"] button`).click();
    await page.locator('.work-facts').getByText('Who founded it?').waitFor();
    expect(cells[1]).toMatch(/^\d+ ms$|^\d+\.\d s$/);
    expect(await page.locator(`tr[data-line="${x1.id}"] .bar-call`).count()).toBe(1);
    await page.locator('.waterfall').scrollIntoViewIfNeeded();
    await picture(page, 'run-waterfall-1280');
  });

  it('says who may read prompts, and loads prompt and reply of a call on request for those who may', async () => {
    await open(`/console/runs/${twoRounds}`);
    await page.locator('tr[data-line$="/x1"] button').click();
    expect(await page.locator('.work-call').innerText()).toContain('may be read by an auditor, an admin or a key with detail: full');
    const signedIn = await page.request.post(`${system.url()}/v1/session`, { data: { key: adminKey } });
    expect(signedIn.ok()).toBe(true);
    await page.reload();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/records/bodies')) asked.push(request.url());
    });
    await page.locator('tr[data-line$="/x1"] button').click();
    const button = page.getByRole('button', { name: 'Prompt and reply' });
    await button.waitFor();
    expect(asked).toEqual([]);
    await button.click();
    const prompt = page.getByRole('region', { name: 'Text of the prompt' });
    await prompt.waitFor();
    expect(await prompt.innerText()).toContain('Who founded it?');
    expect(await page.getByRole('region', { name: 'Text of the reply' }).innerText()).toContain('It was founded by Ada Quill.');
    expect(asked.length).toBe(1);
    await picture(page, 'run-call-1280');
  });

  it('stacks superseded attempts behind the winner, with cause and wasted cost', async () => {
    const record = await recordOf(system.url(), twoRounds);
    const x1 = record.rounds[0]!.tasks.find(({ id }) => id.endsWith('/x1'))!;
    const real = (await (await fetch(`${system.url()}/v1/runs/${twoRounds}/records`)).json()) as RunRecordList;
    const won = real.data.find((one): one is CallRecord => one.kind === 'call' && one.owner === x1.id)!;
    const half = Math.max(1, Math.floor(won.durationMs / 2));
    const usage = { ...won.usage, prompt: 2_000, completion: 3_600, cost: 0.04 };
    const lost: CallRecord = {
      ...won,
      ...{ id: 'made-up-1', attempt: 1, status: 'error', superseded: true, durationMs: half, usage, bodies: 'not_kept' },
      failure: { code: 'UPSTREAM_FAILED', message: 'The model server closed the connection.' } as CallRecord['failure'],
    };
    const winner: CallRecord = {
      ...won,
      ...{ id: 'made-up-2', attempt: 2, startedAt: won.startedAt + half, durationMs: half, retries: 1 },
    };
    const late: CallRecord = {
      ...won,
      id: 'made-up-3',
      owner: `${twoRounds}/learning`,
      purpose: 'judge.learn',
      startedAt: won.startedAt + 600_000,
    };
    const data = [...real.data.filter((one) => one !== won), lost, winner, late];
    await open('/console/runs');
    // The attempts are synthetic: which of two calls wins is a race that no script can decide.
    await page.route('**/records', (route) => route.fulfill({ json: { ...real, data } }));
    await page.getByRole('link', { name: question }).click();
    const line = page.locator(`tr[data-line="${x1.id}"]`);
    await line.waitFor();
    await page.locator('[data-discarded="1"]').waitFor();
    expect(await page.locator('[data-discarded]').innerText()).toBe('1 attempt superseded, 0.0400 discarded.');
    expect(await line.innerText()).toContain('2 attempts, 0.0400 discarded');
    expect(await line.locator('.bar-lost').count()).toBe(1);
    await line.getByRole('button').click();
    const detail = page.locator('.work-detail');
    expect(await detail.innerText()).toContain('UPSTREAM_FAILED: The model server closed the connection.');
    expect(await detail.locator('.work-call.superseded').innerText()).toContain('superseded, 0.0400 discarded');
    expect(await detail.locator('[data-attempt="1"]').innerText()).toContain('were not kept');
    expect(await detail.locator('[data-attempt="2"]').innerText()).toContain(
      'may be read by an auditor, an admin or a key with detail: full',
    );
    // Ten idle minutes are drawn as a short break.
    expect(await page.locator('.waterfall-axis').innerText()).toMatch(/(9|10) min \d+ s idle left out/);
    expect(await line.locator('.bar-break').count()).toBe(1);
    await page.locator('.waterfall').scrollIntoViewIfNeeded();
    await picture(page, 'run-superseded-1280');
  });

  it('shows every fact of the engine as a sentence', async () => {
    await open(`/console/runs/${twoRounds}`);
    await page.getByText('what the engine found').click();
    const sentences = await shows(
      'the facts',
      () => page.locator('.run-fact-lines li').allInnerTexts(),
      (texts) => texts.length > 10,
    );
    expect(sentences[0]).toMatch(/The run began for .* whose strategy makes up to /);
  });

  it('folds its events to any number with a scrubber, marked "recorded, no cost", also by keyboard and from the link of the deciding event', async () => {
    await open(`/console/runs/${twoRounds}`);
    const replay = page.locator('.panel', { has: page.getByRole('heading', { name: 'Replay' }) });
    await replay.getByText('recorded, no cost').waitFor();
    const slider = replay.getByRole('slider');
    const spent = (name: string): Promise<string> => replay.locator(`[data-spent="${name}"] strong`).innerText();
    await shows(
      'the last event',
      () => slider.inputValue(),
      (value) => Number(value) > 10,
    );
    const { usage } = await recordOf(system.url(), twoRounds);
    await shows(
      'all calls',
      () => spent('Calls'),
      (calls) => calls === String(usage.total.calls),
    );
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await slider.inputValue()).toBe('0');
    expect(await spent('Calls')).toBe('0');
    await replay.getByText('No plan yet.').waitFor();
    for (let n = 0; n < 40 && (await spent('Calls')) === '0'; n += 1) await page.keyboard.press('ArrowRight');
    // The plan is there, and none of its tasks has begun.
    await shows(
      'the first plan',
      () => replay.locator('.task-row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-state')).join()),
      (states) => states === 'planned,planned',
    );
    expect(await spent('Calls')).toBe('1');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Event \d+ of \d+: A plan with 2 tasks was accepted\.$/);
    const at = await slider.inputValue();
    await page.waitForURL(new RegExp(`seq=${at}$`));
    await picture(page, 'run-replay-1280');
    await replay.getByRole('button', { name: 'Play' }).click();
    await shows(
      'the end of the play',
      () => replay.getByRole('button', { name: 'Next event' }).isDisabled(),
      (done) => done,
      40_000,
    );
    const link = page.locator('.why').getByRole('link', { name: /^event \d+$/ });
    const seq = (await link.innerText()).slice(6);
    await link.click();
    await shows(
      'the deciding event',
      () => slider.inputValue(),
      (value) => value === seq,
    );
    expect(await replay.locator('.replay-event').innerText()).toContain('D3');
  });

  it('is drawn from the log after the stream has expired', async () => {
    const record = await recordOf(system.url(), twoRounds);
    await open('/console/runs');
    await playsEvents(page, () => [expired(record)]);
    await page.getByRole('link', { name: question }).click();
    await page.getByText('from the log').waitFor();
    await shows(
      'the tasks of the log',
      () => page.locator('.task-row').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-task') ?? '')),
      (names) => ['r1', 'x1', 'r2'].every((name) => names.includes(name)),
    );
    await page.locator('.waterfall tr[data-rule="D3"]').waitFor();
  });

  it('leads from a sentence of the answer to the source, its text, and the task that found it; sentences without a source are marked', async () => {
    await open(`/console/runs/${twoRounds}`);
    await page.locator('.markdown .citation').first().waitFor();
    expect(await page.locator('.markdown .uncited').allInnerTexts()).toEqual(['That is by the sea.']);
    await page.locator('.markdown .citation').first().click();
    const source = page.locator('.source.open');
    expect(await source.locator('blockquote').first().innerText()).not.toBe('');
    await source.locator('figcaption button').first().click();
    await page.locator('.waterfall tr.open .waterfall-open[aria-expanded="true"]').waitFor();
  });

  it('opens the insight behind a source and the runs that it was learned from', async () => {
    const record = await recordOf(system.url(), twoRounds);
    const insight = { id: 'insight-1', runs: [single] };
    await open('/console/runs');
    // An insight is learned some time after a run; here only its display matters.
    await playsEvents(page, () => [expired(record)]);
    await page.route(`**/v1/runs/${twoRounds}`, (route) =>
      route.fulfill({ json: { ...record, sources: record.sources.map((source) => ({ ...source, kind: 'graph', insight })) } }),
    );
    await page.route('**/v1/knowledge/insights/insight-1', (route) =>
      route.fulfill({
        json: {
          ...{ object: 'insight', id: 'insight-1', text: 'Founders are born somewhere.', insight_type: 'fact', domain: 'general' },
          ...{ entities: ['Ada Quill'], confidence: 0.8, trust: 0.75, flagged: false },
          learned_from: [{ run: single, at: null, answer: 'It is a century old.', sources: [] }],
        },
      }),
    );
    await page.reload();
    await page.getByRole('link', { name: question }).click();
    await page.locator('.markdown .citation').first().click();
    const note = page.locator('[data-insight="insight-1"]');
    await note.getByText('Founders are born somewhere.').waitFor();
    expect(await note.innerText()).toContain('trust 0.75');
    await note.getByRole('link', { name: 'It is a century old.' }).click();
    await page.waitForURL(new RegExp(`/console/runs/${single}$`));
    await page.getByText('How old is the company?').first().waitFor();
  });

  it('can be used by keyboard, and fits a phone down to the waterfall and the replay', async () => {
    await open(`/console/runs/${twoRounds}`, { width: 360, reducedMotion: true });
    await page.locator('.waterfall tr[data-rule]').first().waitFor();
    const unseen: string[] = [];
    let isOpen = false;
    for (let n = 0; n < 40 && !isOpen; n += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        // A radio button of a switch shows its focus on the words beside it.
        const shown = element instanceof HTMLInputElement && element.nextElementSibling ? element.nextElementSibling : element;
        const style = getComputedStyle(shown);
        return {
          text: element.innerText,
          classes: element.className,
          isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
        };
      });
      if (!at.isSeen) unseen.push(`${at.classes} ${at.text}`);
      if (at.classes !== 'waterfall-open') continue;
      await page.keyboard.press('Enter');
      await page.locator('.waterfall-detail').waitFor();
      isOpen = true;
    }
    expect([unseen, isOpen]).toEqual([[], true]);
    expect(await overflow(page)).toEqual([]);
    await page.locator('.waterfall').evaluate((element) => element.scrollIntoView());
    await picture(page, 'run-waterfall-360');
    await page.locator('.replay').evaluate((element) => element.scrollIntoView());
    await picture(page, 'run-replay-360');
  });

  it('passes axe and fits at every width, in light, dark and forced colours', async () => {
    await open('/console/runs');
    await looksRight(browser, {
      name: 'run',
      url: `${system.url()}/console/runs/${twoRounds}`,
      ready: async (shown) => {
        await shown.locator('.waterfall tr[data-rule]').first().waitFor();
        await shown.locator('.plan-node.good').first().waitFor();
      },
    });
    await looksRight(browser, {
      name: 'runs',
      url: `${system.url()}/console/runs`,
      ready: (shown) => shown.locator('tr[data-run]').first().waitFor(),
    });
  });
});

describe('two runs', () => {
  it('are compared live: the question asked again under another template, aligned by task, with a jump to the first difference', async () => {
    await open(`/console/runs/${twoRounds}`);
    const gate = latch();
    script(question)
      .plan([research('r1', 'Northlight Clock Company founder'), expert('x1', 'Guess it.')])
      .expert('In Port Ellery.', { task: 'Guess it.', when: gate.opened })
      .answer(['Ada Quill was born in Port Ellery. Nobody knows more.']);
    await page.getByLabel('Ask again with').selectOption('short');
    await page.getByRole('button', { name: 'Ask and compare' }).click();
    await page.waitForURL(/\/console\/compare\?left=.*&right=/);
    const outcome = (side: string): Promise<string> => page.locator(`[data-outcome="${side}"]`).innerText();
    await page.locator('.compare-tasks tbody tr').first().waitFor();
    expect(await outcome('left')).toBe('Answered');
    expect(await outcome('right')).not.toBe('Answered');
    gate.open();
    await shows(
      'the end of the second run',
      () => outcome('right'),
      (word) => word === 'Answered',
    );
    const right = new URL(page.url()).searchParams.get('right')!;
    const record = await recordOf(system.url(), right.replaceAll('"', ''));
    expect(record.template.id).toBe('short');
    await shows(
      'the calls of both',
      () => page.locator('[data-figure="Calls"] td').allInnerTexts(),
      (cells) => cells[1] === String(record.usage.total.calls),
    );
    await page.getByRole('button', { name: 'To the first difference' }).click();
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).innerText)).toContain('Guess it.');
    expect(await page.locator('.compare-tasks tbody tr').first().innerText()).toContain('none');
    const words = (await page.locator('[data-side="right"] ins').allInnerTexts()).join(' ');
    expect(words).toContain('Nobody knows more.');
    await picture(page, 'compare-1280');
    expect(await overflow(page)).toEqual([]);
    await looksRight(browser, {
      name: 'compare',
      url: page.url(),
      ready: (shown) => shown.locator('[data-side="right"] ins').first().waitFor(),
    });
  });
});

// Last, because its run would be in the lists of the others.
it('a question without spaces leaves the columns of the list in sight', async () => {
  const text = `Which word is ${'x'.repeat(400)}?`;
  script(text)
    .plan([expert('x1', 'Read the word.')])
    .expert('It is read.')
    .answer(['It has no end.']);
  await runEnds(system.url(), await startRun(system.url(), text, 'short'));
  await open('/console/runs');
  await page.getByText('xxxx').first().waitFor();
  const right = await page.getByRole('columnheader', { name: 'Duration' }).evaluate((cell) => cell.getBoundingClientRect().right);
  expect(right).toBeLessThanOrEqual(1280);
});
