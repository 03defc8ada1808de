import { estimateTokens, type Event, type PlannedTask, type TaskDispatched } from '@conclave/contracts';
import { oneCall, research, runId, Scenario } from '@conclave/strategies/loop-suite';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';

/** Titles that may be kept of a run. */
export const kept = 4;
export const templates = ['single-pass', 'agentic', 'waves'] as const;
export type TemplateName = (typeof templates)[number];

export interface Hop {
  readonly found: boolean;
  readonly rounds: number;
  readonly calls: number;
  readonly tokens: number;
}
export type Search = (query: string, limit: number) => Promise<readonly Paragraph[]>;

/** Questions that name one of two paragraphs: the other one is named only in the text of the first. */
export function bridges(questions: readonly TwoGold[]): readonly TwoGold[] {
  return questions.flatMap(({ question, gold }) => {
    const founder = /^In which town was .+, founder of the (.+), born\?$/.exec(question);
    if (founder) return [{ question: `In which town was the founder of the ${founder[1]} born?`, gold }];
    const author = /^Where was .+ born, whose best known work is (.+)\?$/.exec(question);
    return author ? [{ question: `Where was the author of ${author[1]} born?`, gold }] : [];
  });
}

/** The paragraphs with each other's texts: what is found under a title says nothing of it. */
export function shuffled(paragraphs: readonly Paragraph[]): readonly Paragraph[] {
  const half = Math.floor(paragraphs.length / 2);
  return paragraphs.map(({ title }, at) => ({ title, text: paragraphs[(at * 7 + half) % paragraphs.length]!.text }));
}

/** Names in the retrieved text that the question does not have, by how early they stand; the scripted planner sees nothing else. */
export function newNames(question: string, texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => text.match(/\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)+/gu) ?? []);
  return [...new Set(names.map((name) => name.replace(/^(?:The|This|An?|In|It)\s/u, '')))]
    .filter((name) => !question.includes(name))
    .slice(0, 2);
}

const usageOf = (asked: unknown) => ({ ...oneCall, prompt: estimateTokens(JSON.stringify(asked)), completion: 40 });
const tool = { name: 'documents.search', description: 'Searches documents', signature: 'query: string', repeatable: true };

/** Runs one question through the engine with scripted replies. Each round keeps its share of the titles, the best first. */
export async function runTwoHops(strategy: TemplateName, { question, gold }: TwoGold, search: Search): Promise<Hop> {
  const run = new Scenario({
    strategy,
    max_agentic_rounds: strategy === 'single-pass' ? 0 : 1,
    ...(strategy === 'waves' ? { tools: [tool] } : {}),
  });
  const texts: string[] = [];
  const byRound: string[][] = [];
  const plan = (epoch: number, asked: unknown): void => {
    const names = epoch === 0 ? [] : newNames(question, texts);
    const query = epoch === 0 ? question : names.join(' ') || `${question} again`;
    if (strategy !== 'waves') return void run.planned(epoch, [research(`r${epoch}`, query)], usageOf(asked));
    const call: PlannedTask = { ...research(`w${epoch}`, query), capability: 'mcp', query: null, tool: tool.name, args: { query } };
    const content = { status: epoch === 0 ? 'continue' : 'done', action: 'Searches', slots: {}, reasoning: '' };
    run.planned(epoch, [call], usageOf(asked), { content });
  };
  const work = async ({ data }: TaskDispatched): Promise<void> => {
    const local = data.taskId.slice(data.taskId.lastIndexOf('/') + 1);
    if (data.capability === 'judge.synthesis')
      return void run.result(local, {
        output: { kind: 'synthesis', text: 'Written.', insight: null, insightRejected: null, cutShort: false },
        usage: usageOf(data.input),
      });
    if (data.capability === 'judge.gap') {
      const verdict = newNames(question, texts).length > 0 ? 'needs_more_info' : 'complete';
      const gap = verdict === 'complete' ? '' : 'what is said of the names that were found';
      return void run.result(local, {
        output: { kind: 'assessment', assessment: { verdict, gap, nextFocus: gap, parsed: true } },
        usage: usageOf(data.input),
      });
    }
    const { query, args } = data.input as { query?: string; args?: { query?: string } };
    const found = await search(args?.query ?? query ?? '', kept);
    byRound.push(found.map(({ title }) => title));
    texts.push(...found.slice(0, 1).map(({ text }) => text));
    run.found(local, ...found.map(({ title, text }) => `${title}: ${text}`));
  };
  run.requested({}, { goal: question });
  plan(0, question);
  for (let at = 0; at < run.outputs.length; at += 1) {
    const event = run.outputs[at] as Event;
    if (event.type === 'TaskDispatched') await work(event as TaskDispatched);
    if (event.type === 'GapDetected') plan((event.data as { epoch: number }).epoch + 1, event.data);
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

/** Titles of all rounds, at most four: each round in turn gives its best one that is new. */
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
