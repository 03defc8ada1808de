import { promptMarks as marks, type Source } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask } from '../asks/ask.js';
import { jsonForm } from '../asks/json-form.js';
import { isEcho } from '../prompts/echoes.js';
import { asData, bounded, dataRule, oneLine, sections } from '../prompts/quoting.js';
import { asked as messages } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject, type Loose } from '../replies/names.js';

/** Most facts of a sub-topic, and characters of one fact and of one passage. */
export const mostFacts = 5;
const [factLength, passageLength] = [600, 1_500];

/** A passage that was found for a sub-topic. */
export interface Passage {
  readonly text: string;
  readonly source: Source;
}

export interface FactsAsked {
  readonly topic: string;
  readonly goal: string;
  readonly passages: readonly Passage[];
}

/** Facts with the number of their passage, from 1. */
export const CitedFacts = z.array(z.object({ text: z.string(), passage: z.int().positive() }));
export type CitedFacts = z.infer<typeof CitedFacts>;

const Reply = z.strictObject({ facts: z.array(z.strictObject({ fact: z.string(), source: z.int() })).max(mostFacts) });

const form = jsonForm('facts', Reply);

/** Writes down what passages say about a sub-topic. */
export const factsAsk: Ask<FactsAsked, CitedFacts> = {
  name: 'subtopic',
  input: z.custom<FactsAsked>(),
  output: CitedFacts,
  reAsks: 1,
  call: { temperature: 0, json: () => form },
  prompt: ({ topic, goal, passages }, { tokens, prompts }) => {
    const share = Math.floor((Math.min(tokens, 24_000) * 2) / Math.max(1, passages.length));
    const length = Math.max(200, Math.min(passageLength, share));
    const lines = passages.map(
      ({ text, source }, index) => `[${index + 1}] ${bounded(oneLine(text), length)} — ${oneLine(bounded(source.title, 200))}`,
    );
    return messages(
      sections(marks.roles.topicReader, promptText('subtopic', prompts, { max_facts: String(mostFacts) }), dataRule),
      sections(`${marks.question} ${bounded(goal, 2_000)}`, `${marks.task} ${topic}`, `${marks.passages}\n${asData(lines.join('\n'))}`),
    );
  },
  read: ({ text }, { passages }) => readFacts(text, passages.length),
};

/** Reads the facts of a reply. A fact without one of the passages as its source is dropped; a reply without any list is unusable. */
export function readFacts(reply: string, passages: number): ReturnType<typeof factsAsk.read> {
  const value = jsonIn(reply);
  if (value === undefined) return { faults: ['The reply contains no JSON. Reply with one JSON object only.'] };
  const given = Array.isArray(value) ? (value as unknown[]) : isObject(value) ? (value['facts'] ?? value['findings']) : null;
  if (!Array.isArray(given)) return { faults: ['The reply has no list "facts".'] };
  const facts = given.flatMap((entry: unknown) => {
    const said: Loose = isObject(entry) ? entry : {};
    const words = said['fact'] ?? said['text'] ?? said['statement'];
    const passage = numberIn(said['source'] ?? said['passage'] ?? said['n']);
    const isCited = passage !== null && passage >= 1 && passage <= passages;
    return typeof words === 'string' && words.trim() !== '' && !isEcho(words) && isCited
      ? [{ text: bounded(oneLine(words), factLength), passage }]
      : [];
  });
  if (given.length > 0 && facts.length === 0) return { faults: ['No fact names the number of its passage as "source".'] };
  return { output: facts.slice(0, mostFacts) };
}

/** The first whole number of a value such as 2, "2" or "[2]"; null without one. */
function numberIn(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) ? value : null;
  const digits = typeof value === 'string' ? /\d{1,3}/.exec(value)?.[0] : undefined;
  return digits === undefined ? null : Number(digits);
}
