import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply } from '../asks/ask.js';
import { jsonForm } from '../asks/json-form.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { fitted } from '../prompts/fitting.js';
import { dataRule, sections } from '../prompts/quoting.js';
import { asked, factsText } from '../prompts/rendering.js';
import { promptText } from '../prompts/shipped.js';
import { jsonIn } from '../replies/json-reply.js';
import { labelledMembers, labelledValues, type Label } from '../replies/labelled-fields.js';
import { isObject } from '../replies/names.js';
import { factsFor, questionLines } from './question-lines.js';
import { AssessAsked, Sufficiency } from './rag-shapes.js';

type Input = Extract<TaskInput, { kind: 'values' }>;
type Output = Extract<TaskOutput, { kind: 'values' }>;

/** Longest missing aspect, in characters, and most of them. */
const longestAspect = 300;
const mostAspects = 6;

const form = jsonForm('sufficiency', Sufficiency.omit({ parsed: true }).extend({ missing: z.array(z.string()).max(mostAspects) }));

/** Judges whether the facts answer the question: asked about the facts alone, never about a written answer. */
export const assessAsk: Ask<Input, Output> = {
  name: 'rag.assess',
  input: inputOf('values'),
  output: outputOf('values'),
  reAsks: 2,
  call: { temperature: 0, json: () => form },
  prompt: ({ values }, room) => {
    const given = AssessAsked.parse(values);
    return fitted([], room.tokens, (cut) =>
      asked(
        sections(marks.roles.evaluator, promptText('rag.assess', room.prompts), dataRule),
        sections(questionLines(given), factsText(factsFor(given.facts), cut)),
      ),
    );
  },
  read: ({ text }) => {
    const read = readSufficiency(text);
    return 'faults' in read ? read : { output: { kind: 'values', values: read.output } };
  },
};

const labels: readonly Label[] = [
  ...['quality', 'answer quality'].map((words) => ({ field: 'quality', words, anywhere: true })),
  ...['verdict', 'status', 'assessment', 'sufficiency', 'sufficient', 'qualität'].map((words) => ({ field: 'quality', words })),
  ...['missing', 'missing aspects', 'missing information'].map((words) => ({ field: 'missing', words, anywhere: true })),
  ...['gap', 'gaps', 'fehlt', 'es fehlt'].map((words) => ({ field: 'missing', words })),
];

/** Wordings of verdicts, negated ones first: what matched is not read again. */
const verdictWords: readonly (readonly [RegExp, Sufficiency['quality']])[] = [
  [
    /\b(?:not|isn'?t|nicht)\s+(?:yet\s+|fully\s+|quite\s+|entirely\s+)*(?:sufficient|enough|complete|ausreichend)\b|\b(?:insufficient|unzureichend|incomplete)\b/giu,
    'insufficient',
  ],
  [/\b(?:partial(?:ly)?|partly|teilweise)(?:\s+sufficient)?\b/giu, 'partial'],
  [/\b(?:sufficient|ausreichend|enough|complete)\b/giu, 'sufficient'],
];
/** Wordings that count only as the value of a field: a reply that begins with "No" may say anything. */
const fieldWords: typeof verdictWords = [
  [/^\W*(?:true|yes|ja)\b/giu, 'sufficient'],
  [/^\W*(?:false|no|nein)\b/giu, 'insufficient'],
];

/** The verdict of a text; null for none, and for several, as in an echo of the form. */
function verdictIn(text: string, isField: boolean): Sufficiency['quality'] | null {
  let rest = text;
  const found = new Set<Sufficiency['quality']>();
  for (const [words, quality] of isField ? [...verdictWords, ...fieldWords] : verdictWords)
    rest = rest.replace(words, (match) => {
      found.add(quality);
      return ' '.repeat(match.length);
    });
  return found.size === 1 ? [...found][0]! : null;
}

const isNone = (text: string): boolean => /^\W*(?:(?:none|nothing|nichts|null|n\/a|no|aspect\s{0,9}\d?)(?!\w)\W*)?$/iu.test(text);

/** The texts of the first list of an object that is named `missing...` or `gap`; null without one. */
function listNamed(value: unknown): readonly string[] | null {
  if (!isObject(value)) return null;
  const member = Object.entries(value).find(([key]) => /^missing|^gaps?$/i.test(key))?.[1];
  return Array.isArray(member) ? member.filter((one): one is string => typeof one === 'string') : null;
}

/** Characters up to which a reply without labels is read: a longer one weighs both sides. */
const longestBare = 200;

/** Reads a verdict in any form: JSON, labelled lines, one line, a bare word. */
export function readSufficiency(reply: string): ParsedReply<Sufficiency> {
  const value = jsonIn(reply);
  const json = labelledMembers(value, labels);
  const fields = json.some(({ field }) => field === 'quality') ? json : labelledValues(reply, labels);
  const given = (field: string): string | undefined => fields.findLast((one) => one.field === field)?.value;
  const named = given('quality');
  const quality = verdictIn(named ?? (reply.trim().length <= longestBare ? reply : ''), named !== undefined);
  if (quality === null) return { faults: ['"quality" must be "sufficient", "partial" or "insufficient".'] };
  const said = listNamed(value) ?? (given('missing') ?? '').split(/[;\n]/);
  const missing = said
    .map((aspect) => aspect.replace(/\s+/g, ' ').trim())
    .filter((aspect) => !isNone(aspect))
    .map((aspect) => aspect.slice(0, longestAspect))
    .slice(0, mostAspects);
  if (quality === 'sufficient' && missing.length > 0)
    return { faults: ['"quality" is "sufficient", yet "missing" names something. Say "partial", or leave "missing" empty.'] };
  return { output: { quality, missing, parsed: true } };
}
