import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GatewayRefusal,
  withOwnGateway,
  type EmbeddedSystem,
  type GatewayClient,
  type OwnGateway,
} from '@conclave/app-standalone/own-gateway';
import type { RunView } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import type { Loaded } from '@conclave/platform';
import { MaterialMistake, usualTemplates } from './material.js';
import type { OwnQuestion } from './questions.js';
import { areFound, isRight } from './scoring.js';

/** One question answered by one template. */
export interface Answered {
  readonly template: string;
  readonly line: number;
  readonly question: string;
  readonly outcome: string;
  readonly answer: string | null;
  /** Null if the question has no accepted answers. */
  readonly right: boolean | null;
  /** Whether all gold titles are among the sources of the run's facts; null if the question has none. */
  readonly found: boolean | null;
  readonly calls: number;
  /** Prompt and completion. */
  readonly tokens: number;
  readonly cost: number;
  readonly seconds: number;
}

export interface MeasureOptions {
  readonly loaded: Loaded;
  /** Folder of text and Markdown documents; null for the one in the configuration. */
  readonly documents: string | null;
  readonly questions: readonly OwnQuestion[];
  /** Ids of templates, in this order; null for the usual ones that are offered. */
  readonly templates: readonly string[] | null;
  /** Questions that are asked at the same time. */
  readonly parallel: number;
  readonly localServers?: OwnGateway['localServers'];
  readonly signal: AbortSignal;
  readonly onAnswered: (answered: Answered, done: number, of: number) => void;
  /** Receives warnings. */
  readonly terminal: { write(text: string): unknown };
}

/**
 * Asks every question of every template, each template in its own data folder, so that none learns from another. No cache answers.
 * Ends early when the signal aborts: open runs are cancelled and not counted. Throws MaterialMistake for an unknown template,
 * before anything is asked.
 */
export async function measure(
  options: MeasureOptions,
): Promise<{ readonly templates: readonly string[]; readonly all: readonly Answered[] }> {
  const { questions, signal } = options;
  const all: Answered[] = [];
  let templates = options.templates ?? [];
  await inOwnFolder(options, async (client, { catalogue }) => {
    for (const template of templates) await known(client, template);
    const offered = catalogue.templates().map(({ id }) => id);
    if (options.templates === null) templates = usualTemplates.filter((id) => offered.includes(id));
  });
  for (const template of templates) {
    if (signal.aborted) break;
    await inOwnFolder(options, async (client, system) => {
      const waiting = [...questions];
      const worker = async (): Promise<void> => {
        for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
          const answered = await answer(client, system, template, next, signal);
          if (!answered) return;
          all.push(answered);
          options.onAnswered(answered, all.length, questions.length * templates.length);
        }
      };
      await Promise.all(Array.from({ length: options.parallel }, worker));
    });
  }
  return { templates, all };
}

async function known(client: GatewayClient, template: string): Promise<void> {
  try {
    await client.json('GET', `/v1/models/${encodeURIComponent(template)}`);
  } catch (error) {
    if (error instanceof GatewayRefusal) throw new MaterialMistake(`${template}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Everything in this process, on a new data folder and the documents to be measured. */
async function inOwnFolder(
  { loaded, documents, localServers, terminal }: MeasureOptions,
  use: (client: GatewayClient, system: EmbeddedSystem) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'conclave-own-'));
  const { configuration } = loaded;
  const search = documents === null ? configuration.search : { ...configuration.search, searxng: undefined, corpus: documents };
  const own = { ...loaded, home, configuration: { ...configuration, search, stores: {} } };
  try {
    await withOwnGateway({ loaded: own, service: 'eval', terminal, ...(localServers ? { localServers } : {}) }, use);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Null for a run that was cancelled because the signal aborted. */
async function answer(
  client: GatewayClient,
  { ports }: EmbeddedSystem,
  template: string,
  { line, question, answers, titles }: OwnQuestion,
  signal: AbortSignal,
): Promise<Answered | null> {
  const { id } = await client.start(template, question, false);
  const cancelled = (): void => void client.cancel(id).catch(() => undefined); // decided: a run that has just ended accepts no cancel
  signal.addEventListener('abort', cancelled, { once: true });
  try {
    if (signal.aborted) cancelled();
    for await (const entry of client.events(id)) if (entry.kind === 'run.completed') break;
  } finally {
    signal.removeEventListener('abort', cancelled);
  }
  const run: RunView = await client.run(id);
  if (run.outcome === 'cancelled' && signal.aborted) return null;
  const stored = await ports.state.runs.read<RunState>(id);
  const found = (stored?.state.memory.facts ?? []).map(({ source }) => source.title);
  const { calls, prompt, completion, cost } = run.usage.total;
  return {
    ...{ template, line, question, outcome: run.outcome ?? run.status, answer: run.answer, calls, tokens: prompt + completion, cost },
    right: answers && isRight(run.answer, answers),
    found: titles && areFound(titles, found),
    seconds: run.completedAt !== null && run.startedAt !== null ? (run.completedAt - run.startedAt) / 1000 : 0,
  };
}
