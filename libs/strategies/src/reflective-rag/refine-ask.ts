import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import { textKey } from '@conclave/loop';
import type { Ask, ParsedReply } from '../asks/ask.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { fitted } from '../prompts/fitting.js';
import { asData, bounded, dataRule, oneLine, sections } from '../prompts/quoting.js';
import { asked, factsText } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject } from '../replies/names.js';
import { factsFor, questionLines } from './question-lines.js';
import { RefineAsked } from './rag-shapes.js';

type Input = Extract<TaskInput, { kind: 'values' }>;
type Output = Extract<TaskOutput, { kind: 'values' }>;

/** Longest query, in characters. */
const longestQuery = 400;

/** Writes the query of the next pass from the question, what was tried, what is missing and what is known. */
export const refineAsk: Ask<Input, Output> = {
  name: 'rag.refine',
  input: inputOf('values'),
  output: outputOf('values'),
  reAsks: 2,
  call: { temperature: 0 },
  prompt: ({ values }, room) => {
    const given = RefineAsked.parse(values);
    return fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.refiner, promptText('rag.refine', room.prompts), dataRule),
        sections(
          questionLines(given),
          `${marks.tried}\n${asData(given.tried.map(triedLine).join('\n'))}`,
          `${marks.missing}\n${asData(given.missing.map((aspect) => `- ${oneLine(aspect)}`).join('\n') || 'not said')}`,
          factsText(factsFor(given.facts), cut),
        ),
      ),
    );
  },
  read: ({ text }, { values }) => {
    const read = readQuery(text, RefineAsked.parse(values));
    return 'faults' in read ? read : { output: { kind: 'values', values: { query: read.output } } };
  },
};

const triedLine = ({ query, collections, outcome }: RefineAsked['tried'][number]): string =>
  `- ${bounded(oneLine(query), longestQuery)} (in ${collections.join(', ')}): ${outcome}`;

/** Reads one query of a reply: bare, quoted, fenced, labelled or as JSON. A query that was tried is refused. */
function readQuery(reply: string, { tried }: RefineAsked): ParsedReply<string> {
  const query = queryIn(reply);
  if (query === '') return { faults: ['The reply holds no query.'] };
  if (query.length > longestQuery) return { faults: [`The query has ${query.length} characters; at most ${longestQuery} are allowed.`] };
  if (tried.some((one) => textKey(one.query) === textKey(query))) return { faults: [`"${query}" was tried already. Write another query.`] };
  return { output: query };
}

const label =
  /^[\s>*_#"'`•-]*(?:(?:the\s{1,9})?(?:new|next|refined|search|neue|nächste)?[\s_-]{0,9}(?:search\s{1,9})?(?:query|suchanfrage|anfrage))[\s*_"'`]*[:=]\s*/iu;

function queryIn(reply: string): string {
  const value = jsonIn(reply);
  if (isObject(value)) {
    const member =
      value['query'] ?? value['refined_query'] ?? value['search_query'] ?? Object.values(value).find((one) => typeof one === 'string');
    return typeof member === 'string' ? bare(member) : '';
  }
  const lines = reply
    .replace(/<(think|thinking)>[\s\S]*?(?:<\/\1>|$)/gi, '')
    .split('\n')
    .filter((line) => !/^\s*```/.test(line) && /[\p{L}\p{N}]/u.test(line));
  const labelled = lines.findIndex((line) => label.test(line));
  const after = labelled < 0 ? '' : lines[labelled]!.replace(label, '');
  if (labelled >= 0) return bare(after.trim() === '' ? (lines[labelled + 1] ?? '') : after);
  // An introduction ends with a colon; the query follows.
  const intro = lines.findIndex((line) => line.trimEnd().endsWith(':'));
  return bare(lines[intro + 1] ?? lines[0] ?? '');
}

/** The text without surrounding quotes, emphasis and list marks. */
const bare = (text: string): string => oneLine(text.replace(/^[\s"'`*_>„“«•-]+|(?<![\s"'`*_”“»])[\s"'`*_”“»]+$/gu, ''));
