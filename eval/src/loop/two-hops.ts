import {
  estimateTokens,
  type Event,
  type GapDetected,
  type PlannedTask,
  type ResultReady,
  type Source,
  type TaskDispatched,
  type Template,
} from '@conclave/contracts';
import { namesTitle } from '@conclave/ports';
import { oneCall, research, runId, Scenario } from '@conclave/strategies/loop-suite';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';

/** Number of titles that may be kept of a run. */
export const kept = 4;
export const templates = ['single-pass', 'agentic', 'reflective-rag', 'waves'] as const;
export type TemplateName = (typeof templates)[number];

export interface Hop {
  readonly found: boolean;
  readonly rounds: number;
  readonly calls: number;
  readonly tokens: number;
}
export type Search = (query: string, limit: number) => Promise<readonly Paragraph[]>;

/** Kinds of questions, by the paragraphs that they name. */
export const kinds = ['comparison', 'both named', 'one named'] as const;
export interface TwoHopQuestion extends TwoGold {
  readonly kind: (typeof kinds)[number];
}

/**
 * The questions of the corpus in three kinds of equal size: a comparison of two paragraphs, a question that names both, and one that names
 * only the first, so that the second is named only in the text of the first.
 */
export function mixed(questions: readonly TwoGold[]): readonly TwoHopQuestion[] {
  return questions.map(({ question, gold }, at) => {
    const bridge = bridged(question);
    if (bridge === null) return { kind: 'comparison', question, gold };
    // Of each pair of bridges, about a company and about a work, one names both, in turn.
    return (Math.floor(at / 3) + (at % 3)) % 2 === 0
      ? { kind: 'one named', question: bridge, gold }
      : { kind: 'both named', question, gold };
  });
}

/** A bridge question without the name of its end; null for any other question. */
function bridged(question: string): string | null {
  const founder = /^In which town was .+, founder of the (.+), born\?$/.exec(question);
  if (founder) return `In which town was the founder of the ${founder[1]} born?`;
  const author = /^Where was .+ born, whose best known work is (.+)\?$/.exec(question);
  return author ? `Where was the author of ${author[1]} born?` : null;
}

/**
 * Maps each title to the text of another paragraph, so that the text that is read is unrelated to its title. Titles and searched texts stay.
 */
export function shuffledTexts(paragraphs: readonly Paragraph[]): ReadonlyMap<string, string> {
  const half = Math.floor(paragraphs.length / 2);
  return new Map(paragraphs.map(({ title }, at) => [title, paragraphs[(at * 7 + half) % paragraphs.length]!.text]));
}

/** Names in the texts that are not in the words, in order of appearance. */
export function newNames(words: string, texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => text.match(/\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)+/gu) ?? []);
  return [...new Set(names.map((name) => name.replace(/^(?:The|This|An?|In|It)\s/u, '')))]
    .filter((name) => !words.includes(name))
    .slice(0, 2);
}

/** What is known when the next query is written. */
export interface Known {
  readonly question: string;
  /** Paragraphs that were found, as they were read. */
  readonly found: readonly Paragraph[];
  readonly queries: readonly string[];
  readonly gold: readonly string[];
}

/**
 * Names to search for next; none if nothing is missing or nothing leads on. The planner sees only what was found: two paragraphs that
 * the question names are enough, otherwise it continues from the one that the question names, or from the best one.
 */
export function leads({ question, found, queries }: Known): readonly string[] {
  const about = found.filter(({ title }) => namesTitle(question, title));
  if (about.length >= 2) return [];
  return newNames(
    [question, ...queries].join(' '),
    (about.length > 0 ? about : found.slice(0, 1)).map(({ text }) => text),
  );
}

const usageOf = (asked: unknown) => ({ ...oneCall, prompt: estimateTokens(JSON.stringify(asked ?? '')), completion: 40 });
const tool = { name: 'documents.search', description: 'Searches documents', signature: 'query: string', repeatable: true };

/** The part of the input of `judge.facts` of reflective-rag that these replies use. */
interface PassagesAsked {
  readonly passages: readonly { readonly text: string; readonly source: Source }[];
  readonly taskId: string;
  readonly epoch: number;
}

/** Passes that every loop may make. */
const passes = 2;
const changes: Readonly<Record<TemplateName, Partial<Template>>> = {
  'single-pass': { strategy: 'single-pass', max_agentic_rounds: 0 },
  agentic: { strategy: 'agentic', max_agentic_rounds: passes - 1 },
  'reflective-rag': { strategy: 'reflective-rag', options: { max_rounds: passes } },
  waves: { strategy: 'waves', tools: [tool] },
};

export interface TwoHopOptions {
  /** Text that is read under a title, instead of its own. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Writes the next query. */
  readonly goOn?: (known: Known) => readonly string[];
}

/** Runs one question through the engine with scripted replies. Every search finds four paragraphs; four of all are kept. */
export async function runTwoHops(
  strategy: TemplateName,
  { question, gold }: TwoGold,
  search: Search,
  { texts, goOn = leads }: TwoHopOptions = {},
): Promise<Hop> {
  const run = new Scenario(changes[strategy]);
  const found: Paragraph[] = [];
  const queries: string[] = [];
  const byRound: string[][] = [];
  const next = (): readonly string[] => goOn({ question, found, queries, gold });
  const plan = (epoch: number, asked: unknown): void => {
    const names = epoch === 0 ? [] : next();
    const query = epoch === 0 ? question : names.join(' ');
    if (strategy === 'waves') {
      const isOver = epoch > 0 && names.length === 0;
      const call: PlannedTask = { ...research(`w${epoch}`, query), capability: 'mcp', query: null, tool: tool.name, args: { query } };
      const content = { status: epoch + 1 < passes && !isOver ? 'continue' : 'done', action: 'Searches', slots: {}, reasoning: '' };
      return void run.planned(epoch, isOver ? [] : [call], usageOf(asked), { content });
    }
    if (strategy === 'reflective-rag')
      return void run.planned(epoch, [], usageOf(asked), {
        content: {
          class: 'factual',
          collections: ['research'],
          query: (asked as { query?: string | null } | undefined)?.query ?? question,
        },
      });
    run.planned(epoch, [research(`r${epoch}`, query)], usageOf(asked));
  };
  const judged: Readonly<Record<string, (input: TaskDispatched['data']['input']) => ResultReady['data']['output']>> = {
    'judge.synthesis': () => ({ kind: 'synthesis', text: 'Written.', insight: null, insightRejected: null, cutShort: false }),
    'judge.gap': () => {
      const gap = next().length > 0 ? 'what is said of the names that were found' : '';
      return { kind: 'assessment', assessment: { verdict: gap ? 'needs_more_info' : 'complete', gap, nextFocus: gap, parsed: true } };
    },
    'judge.facts': (input) => {
      const { passages, taskId, epoch } = (input as unknown as { values: PassagesAsked }).values;
      return { kind: 'evidence', facts: passages.map(({ text, source }) => ({ text, source, taskId, epoch, confidence: null })) };
    },
    'judge.assess': () => {
      const missing = next();
      return {
        kind: 'values',
        values: { quality: missing.length > 0 ? 'insufficient' : 'sufficient', missing: [...missing], parsed: true },
      };
    },
    'judge.refine': () => ({ kind: 'values', values: { query: next().join(' ') } }),
  };
  const work = async ({ data: { taskId, capability, input } }: TaskDispatched): Promise<void> => {
    const local = taskId.slice(taskId.lastIndexOf('/') + 1);
    const judge = judged[capability];
    if (judge) return void run.result(local, { output: judge(input), usage: usageOf(input) });
    const { query, args } = input as { query?: string; args?: { query?: string } };
    const asked = args?.query ?? query ?? '';
    const hits = await search(asked, kept);
    const read = hits.map(({ title, text }) => ({ title, text: texts?.get(title) ?? text }));
    byRound.push(read.map(({ title }) => title));
    found.push(...read);
    queries.push(asked);
    run.found(local, ...read.map(({ title, text }) => `${title}: ${text}`));
  };
  run.requested({}, { goal: question });
  plan(0, undefined);
  for (let at = 0; at < run.outputs.length; at += 1) {
    const event = run.outputs[at] as Event;
    if (event.type === 'TaskDispatched') await work(event as TaskDispatched);
    if (event.type === 'GapDetected') {
      const { epoch, asked } = (event as GapDetected).data;
      plan(epoch + 1, strategy === 'reflective-rag' ? asked : event.data);
    }
  }
  const end = run.completed();
  if (end === undefined) throw new Error(`${runId} has not ended: ${question}`);
  const titles = titlesKept(byRound);
  const { calls, prompt, completion } = end['usage'] as typeof oneCall;
  return {
    found: gold.every((title) => titles.includes(title)),
    rounds: end['rounds'] as number,
    calls,
    tokens: prompt + completion,
  };
}

/** Titles of all rounds, at most four: each round in turn adds its best new one. */
function titlesKept(byRound: readonly (readonly string[])[]): readonly string[] {
  const titles: string[] = [];
  for (let rank = 0; rank < kept; rank += 1)
    for (const round of byRound) {
      const title = round[rank];
      if (title !== undefined && titles.length < kept && !titles.includes(title)) titles.push(title);
    }
  return titles;
}

/** The 95 % bootstrap interval of the mean of differences between -1 and 1, from 2,000 resamples that are the same in every run. */
export function interval(differences: readonly number[]): readonly [number, number] {
  let state = 11;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const means = Array.from({ length: 2_000 }, () => {
    let sum = 0;
    for (let n = 0; n < differences.length; n += 1) sum += differences[Math.floor(next() * differences.length)]!;
    return sum / differences.length;
  }).sort((a, b) => a - b);
  return [means[49]!, means[1_949]!];
}
