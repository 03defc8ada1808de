import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { logText, plainTemplate, runEnd, runEvents, startRun, System } from '@conclave/test-support/system';
import { promptMarks } from '@conclave/contracts';
import { textOf, until } from '@conclave/test-support';

// A model that never stops repeating itself: its call is ended at the limit of the configuration, and people see why.
const loop = 'The old town lies at the river, as I said before. ';
const limit = 1_000;
let system: System;

beforeAll(async () => {
  system = await System.start({
    corpus: { 'light.md': '# Light\n\nThe light of the lighthouse at Cape Orrin turns on a bath of mercury.\n' },
    configuration: {
      repetition_limit: limit,
      templates: {
        simple: { ...plainTemplate, complexity: 'trivial', strategy: 'single-pass', capabilities: [], learn: 'off' },
        looked: { ...plainTemplate, strategy: 'single-pass', learn: 'off' },
      },
    },
  });
  system.models.add({
    match: { system: 'You are an expert' },
    reply: { stallAfter: [{ text: 'It lies at a river.\n' }, ...Array.from({ length: 200 }, () => ({ text: loop }))] },
  });
});
afterAll(() => system?.stop());

it('a model that repeats itself is stopped, its text before that is the answer, and progress and records say so', async () => {
  const { body } = await startRun(system.url(), { model: 'simple', input: 'Where does the old town lie?' });
  const run = await runEnd(system.url(), body.id, 30_000);
  expect(run).toMatchObject({ outcome: 'completed', cutShort: true, answer: expect.stringContaining('It lies at a river.') });
  expect(run.answer!.length).toBeLessThan(limit);
  system.models.expectCalls(1);
  await until('the end of the call upstream', () => system.models.calls.every(({ abortedAt }) => abortedAt !== null));
  expect(JSON.stringify(await runEvents(system.url(), body.id))).toContain(`it repeated itself for ${limit} characters and was stopped`);
  const records = (await (await fetch(`${system.url()}/v1/runs/${body.id}/records`)).json()) as { data: object[] };
  expect(records.data).toContainEqual(expect.objectContaining({ kind: 'call', status: 'ok', repeated: limit }));
});

// The same for a model that is asked directly: nothing is held back, and the stream ends as at a limit of tokens.
it.each([
  [
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'Tell me.' }], stream_options: { include_usage: true } },
    ['"finish_reason":"length"', '"usage":{"prompt_tokens":'],
  ],
  ['/v1/messages', { messages: [{ role: 'user', content: 'Tell me.' }], max_tokens: 100_000 }, ['"stop_reason":"max_tokens"']],
  ['/v1/responses', { input: 'Tell me.' }, ['"status":"incomplete"', '"reason":"max_output_tokens"']],
  ['/v1/completions', { prompt: 'Tell me.' }, ['"finish_reason":"length"']],
])('a streamed direct call to %s ends too', async (path, body, ends) => {
  const before = system.models.calls.length;
  system.models.add({
    match: { user: 'Tell me.' },
    reply: { stallAfter: [{ text: 'It lies at a river.\n' }, ...Array.from({ length: 200 }, () => ({ text: loop }))] },
  });
  const response = await fetch(`${system.url()}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted@fake', stream: true, ...body }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  for (const end of ends) expect(text).toContain(end);
  expect(text).toContain('It lies at a river.');
  await until('the end of the call upstream', () => system.models.calls.slice(before).every(({ abortedAt }) => abortedAt !== null));
  expect(system.models.calls.length).toBe(before + 1);
  expect(logText(system)).toContain('A model repeated itself; its call was ended.');
});

// Small models go on with their prompt when the answer is over.
it('a copy of the evidence behind an answer is left out of the stream and of the answer', async () => {
  const copied = (text: string): string => text.slice(text.search(/^(?:FACTS|EVIDENCE):$/m));
  const plan = { tasks: [{ id: 'r1', task: 'find it', capability: 'research', search_query: 'lighthouse Cape Orrin mercury' }] };
  const prompts: string[] = [];
  system.models.add({ match: { system: promptMarks.roles.planner }, reply: { text: JSON.stringify(plan) } });
  system.models.add({
    match: { system: promptMarks.roles.composer },
    reply: ({ messages }) => {
      const prompt = messages.map(({ content }) => textOf(content)).join('\n');
      prompts.push(prompt);
      return { text: `It turns on mercury [1].\n\n${copied(prompt).slice(0, 120)}`, words: true };
    },
  });
  const { body } = await startRun(system.url(), { model: 'looked', input: 'On what does the lighthouse at Cape Orrin turn?' });
  const run = await runEnd(system.url(), body.id, 30_000);
  expect(prompts).toEqual([expect.stringContaining('bath of mercury')]);
  expect(run.answer).toContain('It turns on mercury [1].');
  expect(run.answer).not.toContain('FACTS:');
  const shown = (await runEvents(system.url(), body.id)).flatMap((entry) => (entry.kind === 'chunk' ? [entry.text] : [])).join('');
  expect(shown).toMatch(/^It turns on mercury \[1\]\.\s+Sources:\n\[1\] Light\s*$/);
  expect(logText(system)).toContain('A model copied its prompt behind its answer; the copy was left out.');
});
