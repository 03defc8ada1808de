import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../stack/index.mjs';
import { lastLines, run as execute, startProcess, stopProcess } from '../stack/processes.mjs';
import { cacheFolder } from '../stack/settings.mjs';
import { Chat, chromiumPath } from './open-webui-chat.mjs';
import { SlowModel } from './slow-model.mjs';
import { WebUi } from './open-webui-server.mjs';
import { check, until } from './until.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const version = '0.12.4';
/** Libraries for models that Open WebUI runs itself: several gigabytes, and none of them is used here. */
const left =
  'torch sentence-transformers transformers faster-whisper accelerate onnxruntime opencv-python-headless rapidocr-onnxruntime'.split(' ');

export const title = `the real Open WebUI ${version} in Chromium: a connection, and the functions of deploy/open-webui`;
export const unproven = [
  'Several users with accounts and groups of Open WebUI: nobody is signed in during the check.',
  'Knowledge and web search of Open WebUI: only a file attached in a chat, searched with `conclave-embedding`.',
];

const pythons = ['python3.12', 'python3.11', 'python3', '/usr/bin/python3'];
const fits = (python) =>
  spawnSync(python, ['-c', 'import ensurepip, venv, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))'], { timeout: 60_000 })
    .status === 0;
export const missing = () =>
  !existsSync(chromiumPath)
    ? `it needs Chromium at ${chromiumPath}, or its path in CHROMIUM`
    : pythons.some(fits)
      ? null
      : 'it needs Python 3.11 or 3.12 with venv, which Open WebUI requires';

/** Installs Open WebUI at the first use. Returns the path of its program. */
async function install(fact) {
  const folder = path.join(cacheFolder, `open-webui-${version}`);
  const program = path.join(folder, 'bin/open-webui');
  const whole = path.join(folder, 'whole');
  if (existsSync(whole)) return program;
  const began = Date.now();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cacheFolder, { recursive: true });
  // Its scripts contain the name of the folder, so it is installed in place; an interrupted installation lacks the mark of a complete one.
  await execute(pythons.find(fits), ['-m', 'venv', folder]);
  await execute(path.join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', 'uv==0.9.11'], { withinMs: 300_000 });
  const overrides = path.join(folder, 'overrides.txt');
  writeFileSync(overrides, left.map((name) => `${name}==0 ; sys_platform == 'none'\n`).join(''));
  await execute(
    path.join(folder, 'bin/uv'),
    ['pip', 'install', '--quiet', '--python', path.join(folder, 'bin/python'), '--override', overrides, `open-webui==${version}`],
    { withinMs: 900_000 },
  );
  writeFileSync(whole, '');
  fact(`Open WebUI ${version} was installed in ${Math.round((Date.now() - began) / 1_000)} s, without libraries for its own models.`);
  return program;
}

const key = 'sk-check-open-webui';
const files = {
  'docs/northlight.md': '# Northlight Clock Company\n\nThe founder of the Northlight Clock Company is Ada Quill.\n',
  'docs/quill.md': '# Ada Quill\n\nThe birthplace of Ada Quill is Port Ellery. Ada Quill was born in 1880.\n',
};

export async function run({ fact }) {
  const program = await install(fact);
  await execute(process.execPath, ['tools/build.mjs'], { cwd: root });
  const at = mkdtempSync(path.join(tmpdir(), 'conclave-open-webui-'));
  const [port, slowPort, webPort] = await freePorts(3);
  let chat;
  const closing = [() => rmSync(at, { recursive: true, force: true })];
  const start = async (name, command) => {
    const one = await startProcess({ ...command, cwd: at }, path.join(at, `${name}.log`), 'ours');
    closing.push(() => stopProcess(one, 10_000));
  };
  const conclave = async (name, port, variables) => {
    const env = { PORT: String(port), CONCLAVE_HOME: path.join(at, name), PEOPLE_KEY: key, CI: '1', ...variables };
    await start(name, { file: process.execPath, args: [path.join(root, 'dist/standalone.js')], env });
    await until(name, async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, 120_000);
    return `http://127.0.0.1:${port}`;
  };
  try {
    const slow = await SlowModel.start();
    closing.push(() => slow.close());
    mkdirSync(path.join(at, 'docs'));
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(at, name), text);
    writeFileSync(
      path.join(at, 'conclave.yaml'),
      JSON.stringify({
        search: { corpus: './docs' },
        keys: { people: { key_env: 'PEOPLE_KEY', tenant: 'people' } },
      }),
    );
    const url = await conclave('conclave', port, {});
    const slowUrl = await conclave('conclave-slow', slowPort, { OPENAI_BASE_URL: slow.url });
    const web = new WebUi(`http://127.0.0.1:${webPort}`);
    await start('open-webui', {
      file: program,
      args: ['serve', '--host', '127.0.0.1', '--port', String(webPort)],
      env: web.environment(at, url, key),
    });
    await until('Open WebUI', () => web.isReady(), 240_000);
    // Loaded only here: `npm run docs` reads the other exports of this file, and a bundle cannot contain this package.
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'],
    });
    closing.push(() => browser.close());
    chat = await Chat.open(browser, web.url);
    await asConnection(chat, web, url, fact);
    await asFunctions(chat, web, url, fact);
    for (const model of ['conclave', 'pipe.conclave']) await withFile(chat, web, url, model);
    fact(
      'A file that is attached in a chat is split and embedded with `conclave-embedding`; the answer cites it under the number of Open WebUI, by connection and by pipe, and the run is about what was typed.',
    );
    await showsErrors(chat, web, url, fact);
    await isStopped(chat, web, { slow, slowUrl }, fact);
  } catch (error) {
    await chat?.page.screenshot({ path: path.join(root, '.results/open-webui.png') });
    const tails = ['conclave', 'conclave-slow', 'open-webui'].map((name) => path.join(at, `${name}.log`)).filter(existsSync);
    throw new Error(`${error.message}\n${tails.map((log) => lastLines(log)).join('\n')}`, { cause: error });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

const runsOf = async (url) => {
  const response = await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${key}` } });
  return (await response.json()).data;
};

async function asConnection(chat, web, url, fact) {
  await web.signIn();
  const models = await web.models();
  for (const name of ['conclave', 'conclave-fast', 'conclave-research'])
    check(models.includes(name), `${name} is among the models: ${models.join(', ')}`);
  await chat.begin('conclave');
  await chat.ask('Where was the founder of the Northlight Clock Company born?');
  const answer = await chat.answer();
  check(/Thought for/.test(answer) && /^Port Ellery \[1\]/m.test(answer), `the answer names the town below its thoughts: ${answer}`);
  await chat.newest().getByText('Thought for').click();
  await chat.newest().getByText('Checking what is still missing').first().waitFor();
  await chat.picture('connection');
  // The title, tags and follow-up questions are separate calls, not runs.
  await until('the title of the chat', async () => !/New Chat|^Open WebUI/.test(await chat.page.title()), 30_000);
  await chat.ask('When was she born?');
  const next = await chat.answer(2);
  check(next.includes('1880'), `a follow-up question is understood: ${next}`);
  const runs = await runsOf(url);
  check(runs.length === 2, `two questions are two runs, and not ${runs.length}: ${runs.map(({ question }) => question).join(' | ')}`);
  fact(
    'As a connection: templates are listed as models, progress is shown as thinking that folds, the answer below it, a question with a pronoun ' +
      'in the same chat is understood, and the title of the chat comes from a separate call: two questions made two runs.',
  );
}

async function asFunctions(chat, web, url, fact) {
  const valves = { base_url: `${url}/v1`, api_key: key };
  await web.addFunction('pipe', 'conclave_pipe.py', valves);
  await web.addFunction('rating', 'conclave_rating.py', valves);
  await web.forAllModels('rating');
  await until('the models of the pipe', async () => (await web.models()).includes('pipe.conclave'), 30_000);
  await chat.page.goto(web.url);
  await chat.begin('pipe.conclave');
  await chat.ask('In which year was the founder of the Northlight Clock Company born?');
  const answer = await chat.answer();
  check(answer.includes('1880') && !answer.includes('Thought for'), `the answer is shown without thoughts: ${answer}`);
  await chat
    .newest()
    .getByRole('button', { name: /^View source: / })
    .first()
    .waitFor();
  await chat.newest().getByRole('button', { name: 'Toggle status history' }).click();
  await chat.newest().getByText('Checking what is still missing').first().waitFor();
  await chat
    .newest()
    .getByRole('button', { name: /Toggle \d+ sources/ })
    .click();
  await chat.newest().getByText('How this answer was found').last().click();
  await chat.page.getByText('The evidence was assessed as sufficient').last().waitFor();
  await chat.page.keyboard.press('Escape');
  await chat.newest().getByRole('button', { name: 'Toggle status history' }).click();
  await chat.picture('functions');
  await chat.page.getByRole('button', { name: 'Good answer' }).last().click();
  await chat.page.getByText('Thank you. The rating was sent.').waitFor();
  fact(
    'As functions: status lines with their history, citations in the text, how the answer was found as the last source, and a rating that is stored.',
  );
}

/** A file that Open WebUI searches itself, and a question about it. */
async function withFile(chat, web, url, model) {
  const name = `leave-${model}.md`;
  const text = '# Leave\n\nThe people of the office in Wexel get 31 days of leave a year.\n';
  const question = `How many days of leave do the people of the office in Wexel get (${model})?`;
  await chat.page.goto(web.url);
  await chat.begin(model);
  await chat.attach({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) });
  await until(`${name} in Open WebUI`, async () => (await web.statusOfFile(name)) === 'completed', 60_000);
  await chat.ask(question);
  const answer = await chat.answer();
  check(/31 days/.test(answer), `the answer is in the file: ${answer}`);
  await chat
    .newest()
    .getByRole('button', { name: `View source: ${name}` })
    .first()
    .waitFor();
  if (model === 'conclave') await chat.picture('file');
  const [run] = await runsOf(url);
  check(run.question === question, `the run is about the question, and not about ${run.question}`);
}

async function showsErrors(chat, web, url, fact) {
  await web.setValves('pipe', { base_url: `${url}/v1`, api_key: 'sk-wrong' });
  await chat.begin('pipe.conclave');
  await chat.ask('Is anybody there?');
  await chat.page
    .getByText(/API key is missing or unknown/i)
    .last()
    .waitFor();
  await chat.picture('wrong-key');
  fact('A wrong key is reported in the chat.');
}

async function isStopped(chat, web, { slow, slowUrl }, fact) {
  await web.setValves('pipe', { base_url: `${slowUrl}/v1`, api_key: key });
  await until('the slow model', async () => (await web.models()).some((name) => name.startsWith('pipe.waits@')), 30_000);
  await chat.page.goto(web.url);
  await chat.begin((await web.models()).find((name) => name.startsWith('pipe.waits@')));
  await chat.ask('Say all the words.');
  await chat.newest().getByText('word 5').waitFor();
  const began = Date.now();
  await chat.page.getByRole('button', { name: 'Stop' }).click();
  await until('the end of the call', async () => slow.left > 0, 20_000);
  fact(`Stop ends the call of the model ${((Date.now() - began) / 1_000).toFixed(1)} s later.`);
}
