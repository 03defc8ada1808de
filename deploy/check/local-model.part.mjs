import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from '../stack/index.mjs';
import { run as execute, startProcess, stopProcess } from '../stack/processes.mjs';
import { pythonEnvironment } from '../stack/python-environment.mjs';
import { cacheFolder } from '../stack/settings.mjs';
import { check, until } from './until.mjs';

const root = path.resolve(import.meta.dirname, '../..');
/** Another model: the path of its GGUF file. */
const given = process.env.CONCLAVE_CHECK_GGUF;
const name = given ? path.basename(given, '.gguf').toLowerCase() : 'qwen2.5-coder-0.5b-instruct';

export const title = 'a real language model behind a llama.cpp server answers through each shipped template';
export const unproven = [
  'How good the answers are: a model of half a billion parameters is wrong often. What counts is that its replies can be used.',
  'Larger models. `CONCLAVE_CHECK_GGUF=<file>` names another one.',
];
const python = pythonEnvironment({
  name: 'local-model',
  requirements: path.join(root, 'deploy/check/local-model-requirements.txt'),
  purpose: 'the llama.cpp server of this check requires',
});
export const missing = () => python.missing()?.reason ?? null;

/** Questions for each template; the guides are its documents. */
const questions = [
  ['conclave-fast', 'Write a SQL query that returns the three best-selling products per month, and explain it.'],
  ['conclave', 'Hi there!'],
  ['conclave', 'What is the difference between TCP and UDP, and when does it matter?'],
  ['conclave-fast', 'Welche Vor- und Nachteile hat Homeoffice für kleine Firmen?'],
  ['conclave-research', 'Which backups does Conclave make, and how does one restore them?'],
  ['conclave-reflective-rag', 'How does Conclave decide that a run is finished, and what limits can end it earlier?'],
  ['conclave-decompose', 'Compare how Conclave runs embedded and distributed: which servers does each need?'],
  ['conclave-reasoning', 'How many days does February 2024 have?'],
  ['conclave-adaptive', 'Who wrote Pride and Prejudice, and in which year was it published?'],
];

export async function run({ fact }) {
  const program = await python.install();
  await execute(process.execPath, ['tools/build.mjs'], { cwd: root });
  const at = mkdtempSync(path.join(tmpdir(), 'conclave-local-model-'));
  const [modelPort, port] = await freePorts(2);
  const started = [];
  try {
    const weights = given ?? path.join(cacheFolder, `${name}.gguf`);
    const server = ['-u', path.join(root, 'deploy/check/llama_server.py'), weights, String(modelPort), name];
    started.push(await startProcess({ file: program, args: server, cwd: at, env: {} }, path.join(at, 'llama.log'), 'ours'));
    const models = `http://127.0.0.1:${modelPort}/v1`;
    await until('the model server', async () => (await fetch(`${models}/models`)).ok, 120_000);
    const configuration = { providers: { llamacpp: { base_url: models } }, search: { corpus: path.join(root, 'docs/guides') } };
    writeFileSync(path.join(at, 'conclave.yaml'), JSON.stringify(configuration));
    const env = {
      ...{ PORT: String(port), CONCLAVE_HOME: path.join(at, 'data'), CONCLAVE_CONFIG: path.join(at, 'conclave.yaml'), CI: '1' },
    };
    const log = path.join(at, 'conclave.log');
    started.push(await startProcess({ file: process.execPath, args: [path.join(root, 'dist/standalone.js')], cwd: at, env }, log, 'ours'));
    const url = `http://127.0.0.1:${port}`;
    await until('Conclave', async () => (await fetch(`${url}/health/ready`)).ok, 120_000);
    const runs = [];
    for (const [template, question] of questions) {
      const answered = await ask(url, template, question);
      check(answered.text.trim() !== '', `${template} answers “${question}”: ${JSON.stringify(answered.end ?? answered.error)}`);
      runs.push({ template, ...answered, ...(await told(url, answered.end.run_id)) });
    }
    const total = (member) => runs.reduce((sum, one) => sum + one[member], 0);
    const [plans, unusable, fallbacks] = [total('plans'), total('unusable'), total('fallbacks')];
    const [assessed, unread] = [total('assessments'), total('unread')];
    check(
      unusable <= plans / 2,
      `fewer than half as many plans are refused as are made: ${unusable} and ${plans}: ${runs.flatMap(({ refused }) => refused).join(' ')}`,
    );
    check(fallbacks === 0, `each plan is the model's own: ${fallbacks} of ${plans} are not`);
    check(unread === 0, `each of ${assessed} assessments gives a verdict: ${unread} do not`);
    fact(`Each of ${runs.length} questions to ${new Set(runs.map(({ template }) => template)).size} templates got an answer from ${name}.`);
    fact(
      `${plans} plans were made by the model; ${unusable} replies in between could not be used, and no plan had to be replaced by a general one.`,
    );
    fact(`All ${assessed} checks of what is missing gave a verdict.`);
    fact(
      `The ${total('calls')} model calls of these runs took ${Math.round(total('seconds'))} s on ${process.arch} with its processors alone.`,
    );
  } finally {
    for (const one of started.reverse()) await stopProcess(one);
    rmSync(at, { recursive: true, force: true });
  }
}

/** Asks over the chat API, streamed. Returns the text, the last fields of the stream, and seconds. */
async function ask(url, model, content) {
  const began = Date.now();
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, conclave: { rounds: 1, wall_time_s: 150 }, messages: [{ role: 'user', content }] }),
  });
  let [text, end, error] = ['', null, reply.ok ? null : await reply.text()];
  if (reply.ok)
    for (const line of (await reply.text()).split('\n')) {
      if (!line.startsWith('data: {')) continue;
      const chunk = JSON.parse(line.slice(6));
      text += chunk.choices?.[0]?.delta?.content ?? '';
      end = chunk.conclave ?? end;
      error = chunk.error ?? error;
    }
  return { text, end, error, seconds: (Date.now() - began) / 1000 };
}

/** What the events of a run say about its plans and assessments. */
async function told(url, id) {
  const view = await (await fetch(`${url}/v1/runs/${id}`)).json();
  const events = await (await fetch(`${url}/v1/runs/${id}/events`)).text();
  const entries = events.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  const count = (suits) => entries.filter(suits).length;
  return {
    calls: view.usage.total.calls,
    plans: count(({ kind }) => kind === 'plan.ready'),
    fallbacks: count(({ kind, fallback }) => kind === 'plan.ready' && fallback),
    unusable: view.rounds.reduce((sum, { planUsage }) => sum + Math.max(0, (planUsage?.calls ?? 1) - 1), 0),
    refused: entries.flatMap(({ kind, text }) => (kind === 'progress' && text.startsWith('The plan was invalid') ? [text] : [])),
    assessments: count(({ kind }) => kind === 'assessed'),
    unread: count(({ kind, parsed }) => kind === 'assessed' && parsed === false),
  };
}
