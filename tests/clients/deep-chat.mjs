// deep-chat on a page of another origin, used as a person would use it: in Chromium, through its input and its button.
/* global customElements, document -- globals of the page, for the functions that it evaluates */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { address, apiKey, check, endless, models, question, said, tell, town, versionOf } from './capabilities.mjs';

const bundle = readFileSync(
  createRequire(import.meta.url)
    .resolve('deep-chat')
    .replace(/deepChat\.js$/, 'deepChat.bundle.js'),
);
const html = '<!doctype html><meta charset="utf-8"><title>Chat</title><script type="module" src="/deep-chat.js"></script>';
const server = createServer(({ url }, response) => {
  const script = url === '/deep-chat.js';
  const known = script || url === '/';
  response.writeHead(known ? 200 : 204, { 'content-type': script ? 'text/javascript' : 'text/html' }).end(script ? bundle : html);
});
const port = Number(process.env.CLIENT_PAGE_PORT);
await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
});

/**
 * Opens a chat page. `service` is the service in `directConnection`, as users configure it, with a `function_handler` if it has tools.
 * @returns the page, and `say`, which sends a question and returns the answer, or the error that the user sees
 */
async function open(path, name, service, { stream = false, ...headers } = {}) {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.evaluate(
    async ([url, service, name, stream, headers]) => {
      await customElements.whenDefined('deep-chat');
      const chat = document.createElement('deep-chat');
      globalThis.called = [];
      for (const part of Object.values(service))
        if (part.tools)
          part.function_handler = (calls) => {
            globalThis.called.push(...calls.map((call) => JSON.parse(call.arguments)));
            return calls.map(() => ({ response: 'rain' }));
          };
      const shown = { errorMessages: { displayServiceErrorMessages: true } };
      Object.assign(chat, { directConnection: { [name]: service }, connect: { url, stream, headers }, ...shown });
      document.body.append(chat);
    },
    [`${address}/v1/${path}`, service, name, stream, headers],
  );
  const write = async (text) => {
    await page.locator('deep-chat #text-input').fill(text);
    await page.keyboard.press('Enter');
  };
  const state = () =>
    page.evaluate(() => {
      const chat = document.querySelector('deep-chat');
      const { role, text } = chat.getMessages().at(-1) ?? {};
      const waits = chat.shadowRoot.querySelector('.streamed-message, .loading-message-text');
      const error = chat.shadowRoot.querySelector('.error-message-text')?.textContent;
      return { error, text: role === 'ai' ? text : undefined, waits: waits !== null };
    });
  const say = async (text) => {
    await write(text);
    for (let tries = 0; tries < 600; tries += 1) {
      const { error, text: answer, waits } = await state();
      if (error) return error;
      if (answer && !waits) return answer;
      await page.waitForTimeout(50);
    }
    throw new Error(`No answer was shown: ${JSON.stringify(await state())}`);
  };
  return { page, write, state, say };
}

/** The chat API is selected with `completions`; its settings, too, are read from `chat`. */
const completions = (model, rest = {}) => ({ key: apiKey, completions: true, chat: { model, ...rest } });
/**
 * On a busy page, deep-chat notices the end of a stream before the events that arrived with it: it then shows an error beside the answer,
 * or an answer without its end.
 */
const missedItsEnd = (answer) => answer.includes('No valid stream events were sent') || (answer !== said && said.startsWith(answer));
/** The result of `work`, tried again if the page was busy. */
async function unhurried(work, answerOf) {
  for (let tries = 1; ; tries += 1) {
    const found = await work();
    if (tries === 10 || !missedItsEnd(answerOf(found))) return found;
  }
}
const asked = (...chat) =>
  unhurried(
    async () => {
      const { page, say } = await open(...chat);
      try {
        return { answer: await say(question()), called: await page.evaluate(() => globalThis.called) };
      } finally {
        await page.close();
      }
    },
    ({ answer }) => answer,
  );
tell({ client: 'deep-chat', version: versionOf('deep-chat') });

const conversation = async (stream) => {
  const talk = async () => {
    const { page, say } = await open('chat/completions', 'openAI', completions(models.template), { stream });
    const sent = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.postDataJSON().messages));
    const answers = [await say(question()), await say(question())];
    await page.close();
    return { answers, turns: sent.map((messages) => messages.map(({ role }) => role)) };
  };
  const { answers, turns } = await unhurried(talk, ({ answers }) => answers.find(missedItsEnd) ?? '-');
  assert.deepEqual(answers, [said, said]);
  assert.deepEqual(turns, [['user'], ['user', 'assistant', 'user']]);
};
await check('chat', () => conversation(false));
await check('chat, streamed', () => conversation(true));

const parameters = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] };
const weather = { name: 'get_weather', description: 'The weather of a town', parameters };
const tools = [{ type: 'function', function: weather }];
const roundTrip = async (model) => {
  for (const stream of [false, true])
    assert.deepEqual(await asked('chat/completions', 'openAI', completions(model, { tools }), { stream }), {
      answer: said,
      called: [{ town }],
    });
};
await check('tools, template', () => roundTrip(models.passing));
await check('tools, asked first', () => roundTrip(models.asking));
await check('tools, direct', () => roundTrip(models.direct));

await check('errors', async () => {
  for (const stream of [false, true]) {
    const refused = async (service) => (await asked('chat/completions', 'openAI', service, { stream })).answer;
    assert.match(await refused(completions('no-such')), /No template or model has this id/);
    assert.match(await refused({ ...completions(models.template), key: 'sk-nobody' }), /key/);
    assert.match(await refused(completions(models.template, { temperature: 9 })), /temperature/);
  }
});
await check('abort', async () => {
  const { page, write, state } = await open('chat/completions', 'openAI', completions(models.direct), { stream: true });
  await write(question(endless));
  await page.waitForFunction(() => document.querySelector('deep-chat').getMessages().at(-1)?.text?.startsWith('It'));
  await page.locator('deep-chat .input-button-container .input-button, deep-chat .input-button').last().click();
  await page.waitForTimeout(200);
  assert.equal((await state()).waits, false);
  await page.close();
});
await check('responses', async () => {
  for (const stream of [false, true])
    assert.equal((await asked('responses', 'openAI', { key: apiKey, chat: { model: models.template } }, { stream })).answer, said);
});
await check('responses, tools', async () => {
  const chat = { tools: [{ type: 'function', ...weather }] };
  for (const model of [models.passing, models.asking, models.direct])
    for (const stream of [false, true]) {
      const found = await asked('responses', 'openAI', { key: apiKey, chat: { model, ...chat } }, { stream });
      assert.deepEqual(found, { answer: said, called: [{ town }] });
    }
});
const claude = { key: apiKey, model: models.template, max_tokens: 500 };
await check('messages', async () => assert.equal((await asked('messages', 'claude', claude)).answer, said));
await check('messages, streamed', async () => assert.equal((await asked('messages', 'claude', claude, { stream: true })).answer, said));

await browser.close();
server.close();
