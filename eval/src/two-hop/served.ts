import { ScriptedModelServer, until } from '@conclave/test-support';
import { ask, providerKey, readRun, runEvents, System } from '@conclave/test-support/system';
import type { StreamEntry } from '@conclave/contracts';
import type { EvaluationOptions } from '../evaluation.js';
import { asMarkdown, collection } from '../recall/fill.js';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';
import type { Place } from './measure.js';
import { titlesKept } from './planners.js';
import { ServedModel, type ServedPlanner } from './served-model.js';

/** One question asked of the running product. */
export interface ServedRun {
  readonly question: TwoGold;
  /** The level in the record of the run. */
  readonly level: string | null;
  /** Titles of the first search, best first; none if nothing was searched for. */
  readonly first: readonly string[];
  /** The four titles kept of all searches. */
  readonly kept: readonly string[];
  readonly calls: number;
}

export interface ServedOptions {
  readonly place: Place;
  readonly planner: ServedPlanner;
  readonly embeddings?: EvaluationOptions['embeddings'];
}

/** Questions that are asked at the same time. */
const atOnce = 4;
const template = 'conclave';
const key = 'sk-measured';
const authorization = { authorization: `Bearer ${key}` };

/**
 * Asks the built program, in its own process and over HTTP, each question with the shipped template `conclave`. The paragraphs are
 * files of its folder, or uploaded into a collection over HTTP. Throws if a question is not answered.
 */
export async function measureServed(
  paragraphs: readonly Paragraph[],
  questions: readonly TwoGold[],
  { place, planner, embeddings = null }: ServedOptions,
): Promise<readonly ServedRun[]> {
  const model = new ServedModel(place === 'folder' ? 'research' : 'collections', planner);
  const models = await ScriptedModelServer.start({
    models: ['measured'],
    apiKey: providerKey,
    script: [{ name: 'any call', match: () => true, reply: (request) => model.reply(request), times: Infinity }],
  });
  try {
    // Started without custom templates, so that the shipped ones are measured.
    const system = await System.start({
      mode: 'embedded',
      demo: true,
      ...(place === 'folder' ? { corpus: Object.fromEntries(paragraphs.map((one, n) => [`${n}.md`, asMarkdown(one)])) } : {}),
      configuration: {
        providers: {
          measured: { base_url: models.url, api_key_env: 'FAKE_PROVIDER_KEY', paid: false },
          ...(embeddings ? { neural: { base_url: embeddings.url, paid: false, timeout_s: 300 } } : {}),
        },
        models: { 'measured@measured': { context: 32_768 } },
        keys: { measured: { key_env: 'KEY_OF_THE_MEASURED', detail: 'full' } },
        ...(embeddings ? { embeddings: { model: `${embeddings.model}@neural` } } : {}),
      },
      env: { KEY_OF_THE_MEASURED: key },
    });
    try {
      await until('the template to be offered', () => isOffered(system.url()), { timeoutMs: 120_000, everyMs: 500 });
      if (place === 'uploaded') await upload(system.url(), paragraphs);
      const titles = new Set(paragraphs.map(({ title }) => plain(title)));
      const waiting = questions.map((question, n) => ({ question, n }));
      const runs: ServedRun[] = [];
      const one = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift()) runs[next.n] = await askOne(system.url(), next.question, titles);
      };
      await Promise.all(Array.from({ length: atOnce }, one));
      return runs;
    } finally {
      await system.stop();
    }
  } finally {
    await models.close();
  }
}

/** Whether the product has found a model for the template; on a busy machine its first attempt may come too early. */
async function isOffered(url: string): Promise<boolean> {
  const { data } = (await (await fetch(`${url}/v1/models`, { headers: authorization })).json()) as { data?: readonly { id: string }[] };
  return data?.some(({ id }) => id === template) ?? false;
}

async function askOne(url: string, question: TwoGold, known: ReadonlySet<string>): Promise<ServedRun> {
  const body = { model: template, messages: [{ role: 'user', content: question.question }] };
  const { status, headers, body: answer } = await ask(url, body, { 'x-conclave-cache': 'off', ...authorization });
  const id = headers.get('x-run-id');
  if (status !== 200 || id === null) throw new Error(`"${question.question}" was not answered: ${status} ${JSON.stringify(answer.error)}`);
  const searches = searchesOf(await runEvents(url, id, 0, authorization), known);
  const first = searches.filter(({ epoch }) => epoch === 0).flatMap(({ titles }) => titles);
  const later = searches.filter(({ epoch }) => epoch > 0).map(({ titles }) => titles);
  const run = await readRun(url, id, authorization);
  return { question, level: run.complexity, first, kept: titlesKept(first, later), calls: run.usage.total.calls };
}

/** Titles that each search of a run found, best first, by the entry with its result; one attempt of each search counts. */
function searchesOf(entries: readonly StreamEntry[], known: ReadonlySet<string>) {
  const found = new Map<string, { readonly epoch: number; readonly titles: readonly string[] }>();
  for (const entry of entries) {
    if (entry.kind !== 'progress' || entry.code !== 'research.result' || entry.taskId === null) continue;
    // A hit begins with a line that contains its title, alone or as `[n] title <url>`.
    const lines = (entry.detail ?? '').split('\n').map((line) => plain(/^\[\d+\] (.*) <[^<>]*>$/u.exec(line)?.[1] ?? line));
    const epoch = Number(entry.taskId.split('/').at(-2));
    found.set(entry.taskId, { epoch, titles: [...new Set(lines.filter((line) => known.has(line)))] });
  }
  return [...found.values()];
}

const plain = (title: string): string => title.replace(/\s+/gu, ' ').trim();

/** Uploads the paragraphs as documents, as fast as the product accepts them, and waits until they can be searched. */
async function upload(url: string, paragraphs: readonly Paragraph[]): Promise<void> {
  const path = `${url}/v1/collections`;
  const post = (to: string, body: object): Promise<Response> =>
    fetch(to, { method: 'POST', headers: { 'content-type': 'application/json', ...authorization }, body: JSON.stringify(body) });
  const made = await post(path, { name: collection, description: 'Articles of an encyclopedia about people, places, works and events' });
  if (!made.ok) throw new Error(`The collection was not created: ${made.status} ${await made.text()}`);
  const waiting = paragraphs.map((paragraph, n) => ({ name: `${n}.md`, mime: 'text/markdown', text: asMarkdown(paragraph) }));
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      for (;;) {
        const response = await post(`${path}/${collection}/documents`, next);
        if (response.ok) break;
        if (response.status !== 429) throw new Error(`A document was not accepted: ${response.status} ${await response.text()}`);
        await wait(Number(response.headers.get('retry-after') ?? 1));
      }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  await until('all documents to be ready', () => allReady(`${path}/${collection}/documents`), { timeoutMs: 1_800_000, everyMs: 1_000 });
}

const wait = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Throws if a document cannot be searched. */
async function allReady(path: string): Promise<boolean> {
  for (let after: string | null = null; ;) {
    const response = await fetch(`${path}?limit=1000${after === null ? '' : `&after=${after}`}`, { headers: authorization });
    const { data, nextAfter } = (await response.json()) as {
      data: readonly { readonly status: string; readonly name: string; readonly problem: string | null }[];
      nextAfter: string | null;
    };
    const failed = data.find(({ status }) => status === 'failed');
    if (failed) throw new Error(`${failed.name} cannot be searched: ${failed.problem}`);
    if (data.some(({ status }) => status !== 'ready')) return false;
    if (nextAfter === null) return true;
    after = nextAfter;
  }
}
