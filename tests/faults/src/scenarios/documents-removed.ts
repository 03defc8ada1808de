import { randomUUID } from 'node:crypto';
import { until, type ScriptedReply } from '@conclave/test-support';
import { expert, latch, plainTemplate, price, readRun, type ServiceName } from '@conclave/test-support/system';
import { rightAnswer } from '../questions.js';
import { remove, upload, type Uploaded } from '../world/documents.js';
import { storedTexts } from '../world/stored-texts.js';
import type { World } from '../world/world.js';
import { pause } from './measure.js';
import type { Afterwards, Scenario } from './scenario.js';

const template = 'conclave-documents';
const services: readonly ServiceName[] = ['gateway', 'graph-ingest', 'merger'];
/** Milliseconds after which every gateway offers a new collection to planners. */
const offeredMs = 2_500;

/** A document with a word that no other text contains. */
interface Told {
  readonly word: string;
  readonly document: Uploaded;
}

/** Whether a prompt for an answer to the question contained the word; of the calls after the n-th. */
const isShown = ({ system }: World, question: string, word: string, after: number): boolean =>
  system.models.calls.slice(after).some(({ step, messages }) => {
    const prompt = messages.map(({ content }) => String(content)).join('\n');
    return step === 'load composer' && prompt.includes(question) && prompt.includes(word);
  });

const planOf = (question: string): ScriptedReply => {
  const look = { id: 'c1', task: 'Look it up', capability: 'collections', search_query: `tariff of the ${question}` };
  return { text: JSON.stringify({ tasks: [look, expert('x1', `Say it: ${question}`)] }), usage: price.planner };
};

async function kill(world: World, service: ServiceName): Promise<void> {
  world.fault(`SIGKILL of ${service}`);
  const process = world.system.process(service);
  await process.kill('SIGKILL');
  await process.ready();
}

/** Kills a service when a document was uploaded, and when it was removed while a run that has read it is being answered. */
async function removeOne(world: World, service: ServiceName): Promise<Told> {
  const { load, system } = world;
  const word = `w${randomUUID().slice(0, 8)}`;
  const name = `documents-${service}`;
  const text = `# Tariffs\n\nThe tariff of the Load question ${name} is ${word}.\n`;
  const document = await upload(world, name, text, () => kill(world, service));
  await pause(offeredMs);

  const removed = latch();
  world.behave({
    instead: (role, question) => {
      if (role === 'planner') return planOf(question);
      return role === 'composer' ? { chunks: [{ text: rightAnswer(question), when: removed.opened }], usage: price.composer } : null;
    },
  });
  const first = load.run({ runs: 1, atOnce: 1, name, model: template, patienceMs: 90_000 });
  const { question } = load.asked.at(-1)!;
  await until('the answer to be under way', () => isShown(world, question, word, 0), { timeoutMs: 60_000, everyMs: 20 });
  await remove(world, document);
  await kill(world, service);
  removed.open();
  const [asked] = await first;
  if (asked!.runId === null) throw new Error(`${service}: the question was not accepted. ${load.lastRefusal}`);
  await world.calm();

  const calls = system.models.calls.length;
  const [again] = await load.run({ runs: 1, atOnce: 1, question, model: template, patienceMs: 60_000 });
  if (again!.runId === null) throw new Error(`${service}: the second question was not accepted. ${load.lastRefusal}`);
  const { cached } = await readRun(system.url(), again!.runId);
  if (cached) world.breaks(again!.runId, `It was answered from the cache by ${cached.runId}, which had read a document that was removed.`);
  if (isShown(world, question, word, calls)) world.breaks(again!.runId, 'It was answered from a document that was removed.');
  world.row({
    name: service,
    outcome: 'removed',
    recoveryMs: null,
    runs: [asked!.runId, again!.runId],
  });
  return { word, document };
}

async function storm(world: World): Promise<Afterwards> {
  await world.warmUp();
  const told: Told[] = [];
  for (let round = 0; round < (world.short ? 1 : 3); round += 1)
    // Without a protection, one answer that is kept is enough.
    for (const service of world.controlled ? services.slice(0, 1) : services) told.push(await removeOne(world, service));
  world.behave({});
  return async () => {
    for (const { place, text } of await storedTexts(world))
      if (/vector/.test(place))
        for (const { word, document } of told)
          if (text.includes(word)) world.breaks(document.id, `It was removed, and its text is still in ${place}.`);
    return {};
  };
}

/** What was removed is not told any more, not even by a run that had read it in time. */
export const documentsRemoved: Scenario = {
  name: 'documents-removed',
  promise:
    'An uploaded document becomes ready whatever dies; once removed it is neither stored for search nor used, and no answer of a run that had read it is served again.',
  fault:
    'kill -9 of the gateway, graph-ingest and the merger, one at a time, when a document was accepted, and when it was removed while a run that has read it is being answered; in embedded mode, of the single process',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'document-changes', check: 'own-promise' }],
  bounds: { accepted: 5, soundRecords: true },
  limitS: 300,
  ci: ['embedded'],
  system: {
    configuration: {
      templates: {
        [template]: {
          ...plainTemplate,
          strategy: 'single-pass',
          gap_check: 'evidence',
          capabilities: ['collections'],
          learn: 'off',
          caches: { answer: true, semantic: true, plan: false, search: true },
        },
      },
    },
  },
  run: storm,
};
