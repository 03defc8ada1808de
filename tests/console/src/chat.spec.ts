// The chat page: what a reader sees of a run while it is in progress and afterwards, with scripted models.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CommitteeScript, expert, latch, plainTemplate, research, System } from '@conclave/test-support/system';
import { askInPage, drawnPlan, planIs, recordOf, shows } from './harness/asking.js';
import { heights, overflow, picture, TestBrowser, type Visit, type VisitOptions } from './harness/browser.js';
import { looksRight } from './harness/looks.js';
import { playsEvents } from './harness/runs.js';

let system: System;
let browser: TestBrowser;
let visit: Visit | null = null;
let page: Page;
const script = (question: string): CommitteeScript => new CommitteeScript(system.models, question);
const open = async (options: VisitOptions = {}): Promise<void> => {
  visit = await browser.open(`${system.url()}/`, options);
  ({ page } = visit);
  await page.getByRole('heading', { level: 1 }).waitFor();
};

beforeAll(async () => {
  const started = await Promise.all([
    System.start({
      mode: 'embedded',
      faults: true,
      corpus: {
        'northlight.md': '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill.',
        'quill.md': '# Ada Quill\n\nThe birthplace of Ada Quill is Port Ellery.',
      },
      configuration: {
        models: { 'scripted@fake': { context: 32_768, price: { input: 2, output: 10 } } },
        templates: {
          priced: { ...plainTemplate, strategy: 'agentic', max_agentic_rounds: 3, gap_check: 'evidence', limits: { cost: 0.5 } },
          kept: {
            ...plainTemplate,
            strategy: 'single-pass',
            capabilities: [],
            caches: { answer: true, semantic: false, plan: false, search: false },
          },
        },
      },
    }),
    TestBrowser.launch(),
  ]);
  [system, browser] = started;
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

describe('the plan', () => {
  it('shows planned tasks as ghost nodes that only events give a colour', async () => {
    const [searching, thinking] = [latch(), latch()];
    const s = script('Who wound the first clock?')
      .plan([expert('x1', 'First part.'), expert('x2', 'Second part.'), { ...expert('x3', 'Both parts.'), needs: ['x1', 'x2'] }])
      .expert('Ada.', { task: 'First part.', when: searching.opened })
      .expert('Quill.', { task: 'Second part.', when: thinking.opened })
      .expert('Ada Quill.', { task: 'Both parts.' })
      .complete()
      .answer(['Ada Quill.']);
    await open();
    await askInPage(page, s.question, { template: 'conclave' });
    await planIs(page, 'x1 open', 'x2 open', 'x3 planned');
    expect(await page.locator('.plan-node.ghost').count()).toBe(1);
    await picture(page, 'chat-plan-fills-in-1280');
    searching.open();
    await planIs(page, 'x1 ok', 'x2 open', 'x3 planned');
    thinking.open();
    await planIs(page, 'x1 ok', 'x2 ok', 'x3 ok');
    await page.locator('.why').waitFor();
    expect(await page.locator('.plan-node.good').count()).toBe(3);
  });

  it('is no longer moved by the page once the reader has moved it', async () => {
    const gate = latch();
    const s = script('Who wound the second clock?')
      .plan([expert('x1', 'Look.')])
      .expert('Found.', { when: gate.opened })
      .gap('the year', 'Which year?')
      .plan([expert('x2', 'Look for the year.')], { iteration: 1 })
      .expert('1911.', { task: 'Look for the year.' })
      .complete()
      .answer(['In 1911.']);
    await open();
    await askInPage(page, s.question);
    await planIs(page, 'x1 open');
    const canvas = page.locator('.plan-graph-canvas');
    await canvas.scrollIntoViewIfNeeded();
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + 20, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 90, box.y + 70, { steps: 5 });
    await page.mouse.up();
    const place = (): Promise<string | null> =>
      page.locator('.react-flow__viewport').evaluate((element) => (element as HTMLElement).style.transform);
    const moved = await place();
    gate.open();
    await planIs(page, 'x1 ok', 'x2 ok');
    await page.locator('.why').waitFor();
    expect(await place()).toBe(moved);
    await page.getByRole('button', { name: 'Fit the plan' }).click();
    await shows('the plan in full again', place, (now) => now !== moved);
  });

  it('is fitted into a window that changes its size', async () => {
    const { s } = twoRounds('Where was the founder born, on a phone?');
    await open();
    await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    await page.locator('.plan-node.good').first().waitFor();
    await page.setViewportSize({ width: 360, height: heights[360] });
    await shows(
      'every task inside its frame',
      () =>
        page.locator('.plan-graph-canvas').evaluate((canvas) => {
          const frame = canvas.getBoundingClientRect();
          const places = [...canvas.querySelectorAll('.plan-node')].map((node) => node.getBoundingClientRect());
          return places.length > 2 && places.every(({ left, right }) => left >= frame.left && right <= frame.right);
        }),
      (fits) => fits,
    );
  });

  it('has one node per round beyond 40 tasks, which opens on a click', async () => {
    const s = script('What are all parts of the clock?')
      .plan([expert('x1', 'Look.')])
      .expert('Many.')
      .complete()
      .answer(['Many.']);
    await open();
    // The events are synthetic: no shipped strategy plans so many tasks at once.
    await playsEvents(page, () => crowdedRun(3, 15));
    await askInPage(page, s.question);
    await shows(
      'a node a round',
      () => page.locator('.plan-node.round').count(),
      (count) => count === 3,
    );
    expect(await drawnPlan(page)).toEqual([]);
    await page.locator('.plan-node.round[data-round="1"]').click();
    await shows(
      'the tasks of the round',
      () => drawnPlan(page),
      (drawn) => drawn.length === 15,
    );
    await page.getByRole('button', { name: 'Collapse the rounds' }).click();
    await shows(
      'a node a round again',
      () => page.locator('.plan-node.round').count(),
      (count) => count === 3,
    );
  });
});

/** Events of a run with this many rounds of this many tasks. */
function crowdedRun(rounds: number, tasks: number): readonly object[] {
  const entries: object[] = [{ kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: rounds, question: 'What?' }];
  for (let epoch = 0; epoch < rounds; epoch += 1) {
    const own = Array.from({ length: tasks }, (_, n) => ({
      taskId: `run_x/${epoch}/r${n}`,
      capability: 'research',
      task: 'find',
      needs: [],
    }));
    entries.push({ kind: 'plan.ready', epoch, fallback: false, tasks: own });
  }
  entries.push({
    ...{
      kind: 'run.completed',
      outcome: 'completed',
      rule: 'D6',
      reason: 'All is done.',
      reasonCode: 'rounds',
      answer: 'Many.',
      cutShort: false,
    },
    ...{ sources: [], usage: { calls: 0, prompt: 0, completion: 0, reasoning: 0, cost: 0, estimated: false }, rounds, failure: null },
  });
  return entries.map((entry, n) => ({ ...entry, id: n + 1, at: n }));
}

/** A run of two rounds with a gap between them. */
const twoRounds = (question: string, template = 'conclave') => ({
  template,
  s: script(question)
    .plan([research('r1', 'Northlight Clock Company founder'), expert('x1', 'Who founded it?')])
    .expert('It was founded by Ada Quill.', { task: 'Who founded it?' })
    .gap('birthplace of Ada Quill', 'Where was Ada Quill born?')
    .plan([research('r2', 'birthplace of Ada Quill')], { iteration: 1 })
    .complete()
    .answer(['Ada Quill was born in Port Ellery [1]. That is by the sea.']),
});

describe('a run of two rounds', () => {
  it('has one lane per round, with gaps opened and closed; a gap highlights the tasks that addressed it', async () => {
    const { s } = twoRounds('Where was the founder born, by lanes?');
    await open();
    await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    expect(await page.locator('.lane').evaluateAll((lanes) => lanes.map((lane) => lane.getAttribute('aria-label')))).toEqual([
      'Round 1',
      'Round 2',
    ]);
    const gap = page.locator('.gap');
    expect(await gap.getAttribute('data-gap')).toBe('closed');
    expect(await gap.innerText()).toContain('birthplace of Ada Quill');
    await gap.click();
    const marked = await page.locator('.task-row.highlighted').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-task')));
    expect(marked).toEqual(expect.arrayContaining(['r2']));
    expect(marked).not.toContain('r1');
    await picture(page, 'chat-gap-1280');
  });

  it('carries over a gap that is found again in the same words', async () => {
    const s = script('Where was the founder born, carried?')
      .plan([expert('x1', 'Say who.')])
      .expert('Ada Quill.', { task: 'Say who.' })
      .gap('the birthplace', 'Where?')
      .plan([expert('x2', 'Say where.')], { iteration: 1 })
      .expert('Somewhere new.', { task: 'Say where.' })
      .gap('the birthplace', 'Where exactly?')
      .plan([expert('x3', 'Say where exactly.')], { iteration: 2 })
      .expert('In Port Ellery.', { task: 'Say where exactly.' })
      .complete()
      .answer(['Port Ellery.']);
    await open();
    const runId = await askInPage(page, s.question);
    await shows(
      'the carried gap',
      () => page.locator('.gap').allInnerTexts(),
      (texts) => texts.join().includes('still open after 2'),
    );
    await page.locator('.why').waitFor();
    expect((await recordOf(system.url(), runId)).rounds.length).toBe(3);
    expect(await page.locator('.gap').count()).toBe(1);
    await page.locator('.gap').click();
    const marked = await page.locator('.task-row.highlighted').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-task')));
    expect(marked).toEqual(expect.arrayContaining(['x2', 'x3']));
  });

  it('explains in one sticky sentence why it stopped: the rule and its numbers, the rules that did not fire, and the deciding event', async () => {
    const { s } = twoRounds('Where was the founder born, and why did it stop?');
    await open();
    const runId = await askInPage(page, s.question);
    const why = page.locator('.why');
    await why.waitFor();
    expect(await why.locator('.why-reason').innerText()).toBe('The evidence was assessed as sufficient after 2 rounds.');
    expect(await why.locator('p code').innerText()).toBe('D3');
    expect(await why.evaluate((element) => getComputedStyle(element).position)).toBe('sticky');
    const link = why.getByRole('link', { name: /^event \d+$/ });
    const seq = Number((await link.innerText()).slice(6));
    const events = await (await fetch(`${system.url()}/v1/runs/${runId}/events`)).text();
    expect(events).toMatch(new RegExp(`id: ${seq}\nevent: decided\n`));
    await why.getByText('Rules that did not end it').click();
    const others = await why.locator('.why-others li').allInnerTexts();
    expect(others.map((text) => text.slice(0, 2))).toEqual(['D2', 'D4', 'D6', 'D8']);
    expect(others[2]).toContain('2 of 4 rounds were used.');
    expect(others[0]).toMatch(/\d+ of \d+ /);
  });

  it('shows its cost while it grows: settled, in flight and left, never as one sum', async () => {
    const gate = latch();
    const s = script('What does the founder cost?')
      .plan([expert('x1', 'Count.')])
      .expert('Counted.', { when: gate.opened })
      .complete()
      .answer(['Little.']);
    await open();
    const runId = await askInPage(page, s.question, { template: 'priced' });
    const figure = (name: string): Promise<string> => page.locator(`[data-cost="${name}"]`).innerText();
    await shows(
      'the plan as settled',
      () => figure('Calls settled'),
      (text) => text === '1',
    );
    // The price of the planner's call: 101 and 11 tokens at 2 and 10 a million.
    await shows(
      'its price',
      () => figure('Cost settled'),
      (text) => text === '0.00031',
    );
    await shows(
      'calls in flight',
      () => figure('Calls in flight'),
      (text) => Number(text) > 0,
    );
    expect(await figure('Cost left')).toBe('0.4997 of 0.5000');
    gate.open();
    await page.locator('.why').waitFor();
    await shows(
      'all calls',
      () => figure('Calls settled'),
      (text) => text === '4',
    );
    expect(await figure('Calls in flight')).toBe('-');
    const { usage } = await recordOf(system.url(), runId);
    expect(Number(await figure('Cost settled'))).toBeCloseTo(usage.total.cost, 4);
  });

  it('leads from a sentence to the text of its source, to the task that found it, and marks sentences without a source', async () => {
    const { s } = twoRounds('Where was the founder born, by which source?');
    await open();
    await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    await page.locator('.markdown .uncited').first().waitFor();
    expect(await page.locator('.markdown .uncited').allInnerTexts()).toEqual(['That is by the sea.']);
    await page.locator('.markdown .citation').first().click();
    const source = page.locator('.source.open');
    await source.locator('blockquote').first().waitFor();
    expect(await source.locator('blockquote').first().innerText()).not.toBe('');
    await source.locator('figcaption button').first().click();
    await page.locator('.task-row[aria-expanded="true"]').waitFor();
    await picture(page, 'chat-provenance-1280');
  });
});

describe('an answer', () => {
  it('grows as Markdown, and shows neither images nor HTML from a model', async () => {
    const [middle, end] = [latch(), latch()];
    const s = script('How does it look?')
      .plan([expert('x1', 'Look.')])
      .expert('Seen.')
      .complete()
      .answer([
        '## A heading\n\nSome **bold** words.\n\n',
        { text: '```js\nconst a = 1;\n\nconst b = 2;\n```\n\n', when: middle.opened },
        {
          text: '![x](http://192.0.2.7/pixel.png)\n\n<img src="http://192.0.2.7/other.png" onerror="alert(1)">\n\n[a link](javascript:alert(1)) and [another](https://example.org/)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
          when: end.opened,
        },
      ]);
    await open();
    await askInPage(page, s.question);
    await page.locator('.markdown h3').waitFor();
    expect(await page.locator('.why').count()).toBe(0);
    middle.open();
    await page.locator('.markdown pre code').waitFor();
    end.open();
    await page.locator('.markdown table').waitFor();
    await page.locator('.why').waitFor();
    const markdown = page.locator('.markdown');
    expect(await markdown.locator('img').count()).toBe(0);
    expect(await markdown.locator('pre code').innerText()).toBe('const a = 1;\n\nconst b = 2;\n');
    expect(await markdown.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))).toEqual([
      'https://example.org/',
    ]);
  });

  it('loses nothing that a model writes in Markdown or beside it, and can be copied, its code too', async () => {
    const code = 'const kept: Array<string> = [];';
    const text = [
      'Of `Map<string>` and Set<string> it is said that they last[^1]; see [the page][p].',
      '| part | says |\n|---|---|\n| first<br>second | so [1] |',
      `\`\`\`ts\n${code}\n\`\`\``,
      '- one\n- [ ] open',
      '---',
      '<details>\n<summary>More</summary>\nIt lies within.\n</details>',
      '[p]: https://example.org/page',
      '[^1]: Said in passing.',
    ].join('\n\n');
    const s = script('What is lost of the founder?')
      .plan([research('r1', 'Northlight Clock Company founder')])
      .complete()
      .answer([text]);
    await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    const markdown = page.locator('.markdown');
    await markdown.locator('table .citation').waitFor();
    const shown = await markdown.innerText();
    for (const words of ['Set<string>', 'Said in passing.', 'It lies within.', 'first\nsecond']) expect(shown).toContain(words);
    expect(await markdown.getByRole('link', { name: 'the page' }).getAttribute('href')).toBe('https://example.org/page');
    const widths = await markdown.evaluate((element) => [element.clientWidth, element.querySelector('hr')!.clientWidth]);
    expect(widths[1]).toBe(widths[0]);
    expect(await markdown.locator('li', { hasText: 'one' }).evaluate((item) => getComputedStyle(item).listStyleType)).toBe('disc');
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await shows('the code on the clipboard', copied, (now) => now.trim() === code);
    await page.getByRole('button', { name: 'Copy the answer' }).click();
    await shows('the answer on the clipboard', copied, (now) => now.includes('[^1]: Said in passing.'));
  });

  it('from a cache names the cache, its age and the run that it came from', async () => {
    const s = script('What is kept?')
      .plan([expert('x1', 'Keep.')], { times: Infinity })
      .expertReply({ text: 'It is kept.\nCONFIDENCE: 0.9' }, undefined, Infinity);
    await open();
    // A question that is asked before the answer is cached gets a new answer.
    const again = async (): Promise<string | null> => {
      const body = JSON.stringify({ model: 'kept', messages: [{ role: 'user', content: s.question }] });
      const response = await fetch(`${system.url()}/v1/runs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return response.headers.get('x-conclave-cache') === 'exact' ? response.headers.get('x-run-id') : null;
    };
    const runId = await shows('the kept answer', again, (id) => id !== null);
    await page.goto(`${system.url()}/console/chat/${runId}`);
    const note = page.locator('[data-cache="exact"]');
    await note.getByText(/answered before, .+ ago\./).waitFor();
    expect(await note.getByRole('link').getAttribute('href')).toMatch(/^\/console\/chat\/run_/);
    await picture(page, 'chat-cache-1280');
    await page.setViewportSize({ width: 360, height: heights[360] });
    expect(await overflow(page)).toEqual([]);
  });

  it('is rated from 1 to 5, with a correction', async () => {
    const s = script('Is it good?')
      .plan([expert('x1', 'Judge.')])
      .expert('Good.')
      .complete()
      .answer(['Yes.']);
    await open();
    await askInPage(page, s.question);
    await page.getByRole('radio', { name: '2', exact: true }).check();
    await page.getByLabel(/What should it have said/).fill('It is not.');
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/feedback'));
    await page.getByRole('button', { name: 'Send the rating' }).click();
    expect((await sent).postDataJSON()).toMatchObject({ rating: 2, correction: 'It is not.' });
    await page.getByText('Rated 2 of 5').waitFor();
  });

  it('continues the conversation', async () => {
    const s = script('Who is it?')
      .plan([expert('x1', 'Who?')])
      .expert('Ada.')
      .complete()
      .answer(['It is Ada Quill.']);
    await open();
    await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    const next = script('And when was that?')
      .plan([expert('x1', 'When?')])
      .expert('1911.', { task: 'When?' })
      .complete()
      .answer(['In 1911.']);
    await askInPage(page, next.question);
    await page.getByText('In 1911.').waitFor();
    expect(JSON.stringify(next.calls('planner')[0]!.messages)).toContain('It is Ada Quill.');
    expect(await page.locator('.turn').count()).toBe(2);
    const top = await page
      .locator('.turn')
      .last()
      .evaluate((turn) => Math.round(turn.getBoundingClientRect().top));
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThan(40);
    await page.reload();
    await page.getByText('In 1911.').waitFor();
  });
});

describe('a question', () => {
  it('that is refused stays in its field', async () => {
    await open({ expected: /400/ });
    const long = 'Why is it so? '.repeat(12_000).trim();
    await page.getByLabel('Your question').fill(long);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('The question is longer than this template can ask its models.').waitFor();
    expect(await page.getByLabel('Your question').inputValue()).toBe(long);
  });

  it('that is long scrolls in a box of its own, with its lines, so that the answer is in sight', async () => {
    const s = script('What do these lines say?')
      .plan([expert('x1', 'Read.')])
      .expert('Read.')
      .complete()
      .answer(['They say little.']);
    await open();
    await askInPage(page, `${s.question}\n${'A line.\n'.repeat(300)}`);
    await page.locator('.why').waitFor();
    expect(await page.getByText('They say little.').evaluate((answer) => answer.getBoundingClientRect().bottom < innerHeight)).toBe(true);
    const box = page.getByRole('region', { name: 'Question' });
    expect(await box.evaluate((element) => element.scrollHeight > 300 * 10)).toBe(true);
  });
});

describe('a run in progress', () => {
  const held = async (question: string, template = 'conclave') => {
    const gate = latch();
    const s = script(question)
      .plan([expert('x1', 'Work.')])
      .expertReply({ chunks: [{ text: 'Done.\nFINDING: Done.\nCONFIDENCE: 0.9\nGAPS: none\nREFER: none', when: gate.opened }] }, 'Work.', 2)
      .complete()
      .answer(['It is done.']);
    const runId = await askInPage(page, s.question, { template });
    await planIs(page, 'x1 open');
    return { s, runId, gate };
  };
  const steps = (name: string): Promise<readonly string[]> => page.locator(`[data-command="${name}"] .badge`).allInnerTexts();

  it('can be stopped', async () => {
    await open();
    const { runId, gate } = await held('What is stopped?');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.why').waitFor();
    expect(await page.locator('.why .badge').innerText()).toBe('Cancelled');
    expect((await recordOf(system.url(), runId)).outcome).toBe('cancelled');
    gate.open();
  });

  it('has no animation for a reader who prefers reduced motion', async () => {
    await open({ reducedMotion: true });
    const { gate } = await held('What stands still?');
    const running = (): Promise<number> =>
      page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
    await shows('a page at rest', running, (count) => count === 0);
    for (let sample = 0; sample < 5; sample += 1) expect(await running()).toBe(0);
    gate.open();
    await page.locator('.why').waitFor();
  });

  it('shows each command as sent, accepted, then applied or rejected, only from the events of the run', async () => {
    await open();
    const { gate, runId } = await held('What is steered?');
    await page.getByRole('button', { name: 'Steer' }).click();
    await page.getByLabel(/Guidance for every prompt/).fill('Only the last ten years.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const all = await shows(
      'the applied command',
      () => steps('steer'),
      (texts) => texts.length === 3,
    );
    expect(all).toEqual([
      'sent',
      expect.stringMatching(/^accepted \(command \d+\)$/),
      expect.stringMatching(/^applied in round 1 \(event \d+\)$/),
    ]);
    expect(await page.locator('[data-command="steer"] q').innerText()).toContain('Only the last ten years.');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText('Paused', { exact: true }).waitFor();
    await picture(page, 'chat-interventions-1280');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    gate.open();
    await page.locator('.why').waitFor();
    const { commands } = await recordOf(system.url(), runId);
    expect(commands.map(({ command, status }) => `${command} ${status}`)).toEqual(['steer applied', 'pause applied', 'resume applied']);
  });

  it('that ends before a command arrives shows the text of the command as not applied', async () => {
    await open({ expected: /status of 409/ });
    const { gate } = await held('What comes too late?');
    await page.getByRole('button', { name: 'Add context' }).click();
    await page.getByLabel(/Information, quoted as data/).fill('There are two of them.');
    // The command is sent only after the run has ended.
    const release = latch();
    await page.route('**/commands', async (route) => {
      await release.opened;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    gate.open();
    await page.locator('.why').waitFor();
    const last = await shows(
      'the lost command',
      () => steps('add_context'),
      (texts) => texts.length > 1,
    );
    expect(last).toEqual(['sent', 'not applied: the run had ended']);
    expect(await page.locator('[data-command="add_context"] q').innerText()).toContain('There are two of them.');
    release.open();
    await page.unroute('**/commands');
  });

  it('is read over one connection for all visible pages of a browser', async () => {
    await open();
    const { runId, gate } = await held('Who reads along?');
    const connections: string[] = [];
    const second = await browser.open(`${system.url()}/console/chat/${runId}`, {}, visit!.context);
    second.page.on('request', (request) => {
      if (request.url().includes('/events')) connections.push(request.url());
    });
    await planIs(second.page, 'x1 open');
    expect(connections).toEqual([]);
    gate.open();
    await second.page.locator('.why').waitFor();
    await page.locator('.why').waitFor();
    expect(await second.page.locator('.markdown').innerText()).toBe('Done.');
    expect(connections).toEqual([]);
    await second.check();
    await second.close();
  });

  it('continues after the last event when the gateway was killed, with a banner that disappears automatically', async () => {
    await open({ expected: /Failed to load resource|ERR_/ });
    const { gate, runId } = await held('What survives a death?');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/events')) asked.push(request.url());
    });
    await system.process('gateway').kill('SIGKILL', { forGood: true });
    await page.getByText('The gateway does not answer.').waitFor();
    await picture(page, 'chat-gateway-away-1280');
    gate.open();
    await system.process('gateway').restart();
    await page.locator('.why').waitFor({ timeout: 40_000 });
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((url) => !/runs=run_\w+:[1-9]\d*$/.test(decodeURIComponent(url)))).toEqual([]);
    expect((await recordOf(system.url(), runId)).outcome).toBe('completed');
    expect(await page.getByText('no longer kept').count()).toBe(0);
  });
});

describe('the page of a run', () => {
  it('passes axe and fits at every width, in light, dark and forced colours', async () => {
    const { s } = twoRounds('Where was the founder born, and how does it look?');
    await open();
    const runId = await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    await looksRight(browser, {
      name: 'chat-answer',
      url: `${system.url()}/console/chat/${runId}`,
      ready: async (shown) => {
        await shown.locator('.why').waitFor();
        await shown.locator('.plan-node.good').first().waitFor();
      },
    });
  });

  it('can be used by keyboard: the focus is visible, and arrow keys move through the tasks', async () => {
    const { s } = twoRounds('Where was the founder born, by keyboard?');
    await open();
    const runId = await askInPage(page, s.question);
    await page.locator('.why').waitFor();
    await visit!.close();
    visit = await browser.open(`${system.url()}/console/chat/${runId}`, { reducedMotion: true });
    ({ page } = visit);
    await page.locator('.why').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    const seen: string[] = [];
    for (let n = 0; n < 40; n += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        // A radio button of a switch shows its focus on the words beside it.
        const shown = element instanceof HTMLInputElement && element.nextElementSibling ? element.nextElementSibling : element;
        const style = getComputedStyle(shown);
        const isSeen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
        return { name: element.dataset['task'] ?? element.textContent?.trim().slice(0, 30) ?? '', tag: element.tagName, isSeen };
      });
      if (at.tag === 'BODY') break;
      if (!at.isSeen) seen.push(`no focus at ${at.tag} ${at.name}`);
      if (at.name === 'learned' || at.name === 'r1') {
        const before = at.name;
        await page.keyboard.press('ArrowDown');
        expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset['task'])).not.toBe(before);
        await page.keyboard.press('Enter');
        await page.locator('.task-detail').waitFor();
        break;
      }
    }
    expect(seen).toEqual([]);
    expect(await page.locator('.task-detail').count()).toBe(1);
  });
});
