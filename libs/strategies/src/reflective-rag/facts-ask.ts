import { promptMarks as marks, type Fact, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply } from '../asks/ask.js';
import { jsonForm } from '../asks/json-form.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { isEcho } from '../prompts/echoes.js';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, oneLine, sections } from '../prompts/quoting.js';
import { asked } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject } from '../replies/names.js';
import { FactsAsked, factsPerPass } from './rag-shapes.js';
import { questionLines } from './question-lines.js';

type Input = Extract<TaskInput, { kind: 'values' }>;
type Evidence = Extract<TaskOutput, { kind: 'evidence' }>;

/** Longest fact, in characters. */
const longestFact = 600;
/** Characters of one passage, and of all together, in an uncut prompt. */
const passageLength = 8_000;
const passagesLength = 24_000;

const form = jsonForm('facts', z.object({ facts: z.array(z.object({ fact: z.string(), passage: z.int() })).max(factsPerPass) }));

/** Extracts the facts that bear on the question from the passages of a pass; each has the source of its passage. */
export const factsAsk: Ask<Input, Evidence> = {
  name: 'rag.facts',
  input: inputOf('values'),
  output: outputOf('evidence'),
  reAsks: 2,
  call: { temperature: 0, json: () => form },
  prompt: ({ values }, room) => {
    const given = FactsAsked.parse(values);
    const { passages, query } = given;
    return fitted([], room.tokens, ({ scale }) => {
      const length = Math.round(scale * Math.min(passageLength, Math.max(400, passagesLength / Math.max(1, passages.length))));
      const shown = passages.map(({ text, source }, n) => `[${n + 1}] ${oneLine(source.title)}\n${bounded(text.trim(), length)}`);
      return asked(
        sections(marks.roles.reader, promptText('rag.facts', room.prompts, { max_facts: String(factsPerPass) }), dataRule),
        sections(questionLines(given), `${marks.query} ${query}`, `${marks.passages}\n${asData(shown.join('\n\n'))}`),
      );
    });
  },
  read: ({ text }, { values }) => readFacts(text, FactsAsked.parse(values)),
};

interface Said {
  readonly text: string;
  /** Number of its passage, from 1; null if it names none. */
  readonly passage: number | null;
}

/** Reads facts of a reply: JSON in any wrapping, or lines with `[n]`. A fact without a passage that was shown is dropped. */
function readFacts(reply: string, { passages, taskId, epoch }: FactsAsked): ParsedReply<Evidence> {
  const said = saidIn(reply, passages);
  if (said === null) return { faults: ['The reply is not JSON with a list "facts", each with "fact" and "passage".'] };
  const seen = new Set<string>();
  const facts = said.flatMap(({ text, passage }): Fact[] => {
    const source = passage === null ? undefined : passages[passage - 1]?.source;
    const fact = bounded(oneLine(text), longestFact);
    if (!source || fact === '' || isEcho(fact) || seen.has(fact.toLowerCase())) return [];
    seen.add(fact.toLowerCase());
    return [{ text: fact, source, taskId, epoch, confidence: null }];
  });
  if (facts.length === 0 && said.length > 0) return { faults: [`No fact names a passage that was shown, from 1 to ${passages.length}.`] };
  return { output: { kind: 'evidence', facts: facts.slice(0, factsPerPass) } };
}

/** Matches replies that say in words that there are no facts. */
const nothing = /^[\s"'`*_([]*(?:no(?:ne|thing| (?:relevant )?(?:facts?|information))|keine?|nichts)\b[^[\]]{0,200}$/iu;

function saidIn(reply: string, passages: FactsAsked['passages']): readonly Said[] | null {
  const value = jsonIn(reply);
  const list = Array.isArray(value) ? (value as unknown[]) : isObject(value) ? listOf(value) : undefined;
  if (list) {
    const said = list.flatMap((entry) => saidBy(entry, passages));
    // A citation such as [1] is valid JSON, too: a list that contains no fact is read as text.
    if (said.length > 0 || list.length === 0 || isObject(value)) return said;
  }
  const lines = reply.split('\n').flatMap((line): Said[] => {
    const text = line.replace(/^[\s>*•#-]+(?:\d{1,2}[.)]\s+)?|^\s*\d{1,2}[.)]\s+/u, '');
    const passage = numberIn(/\[(\d{1,3})\]/.exec(text)?.[1]);
    const fact = text.replace(/(?<!\s)\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]/g, '').trim();
    return passage === null || fact === '' ? [] : [{ text: fact, passage }];
  });
  if (lines.length > 0) return lines;
  return nothing.test(reply.trim()) ? [] : null;
}

/** The list of facts in an object, under whatever name, or the object itself if it is a fact. */
function listOf(value: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const found = value['facts'] ?? Object.values(value).find((member) => Array.isArray(member) && member.some(isObject));
  if (Array.isArray(found)) return found as unknown[];
  return textIn(value) === null ? undefined : [value];
}

const textIn = (value: Readonly<Record<string, unknown>>): string | null => {
  const text = ['fact', 'text', 'statement', 'claim', 'content'].map((name) => value[name]).find((one) => typeof one === 'string');
  return typeof text === 'string' ? text : null;
};

const numberIn = (value: unknown): number | null => {
  const digits = typeof value === 'number' ? String(value) : typeof value === 'string' ? /\d{1,3}/.exec(value)?.[0] : undefined;
  return digits === undefined || Number(digits) === 0 ? null : Math.trunc(Number(digits));
};

function saidBy(entry: unknown, passages: FactsAsked['passages']): readonly Said[] {
  if (typeof entry === 'string') {
    const passage = numberIn(/\[(\d{1,3})\]/.exec(entry)?.[1]);
    return [{ text: entry.replace(/(?<!\s)\s*\[\d{1,3}\]/g, ''), passage }];
  }
  if (!isObject(entry)) return [];
  const text = textIn(entry);
  if (text === null) return [];
  const named = ['passage', 'passages', 'source', 'sources', 'citation', 'n', 'id', 'title'].map((name) => entry[name]);
  const first = named.map((one) => (Array.isArray(one) ? (one as unknown[])[0] : one)).filter((one) => one !== undefined && one !== null);
  const byTitle = first.map(
    (one) => passages.findIndex(({ source }) => typeof one === 'string' && oneLine(one) === oneLine(source.title)) + 1,
  );
  const passage = byTitle.find((n) => n > 0) ?? first.map(numberIn).find((n) => n !== null) ?? null;
  return [{ text, passage }];
}
