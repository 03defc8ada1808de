import type { GapVerdict } from '@conclave/contracts';
import { jsonIn } from './json-reply.js';
import { labelledMembers, labelledValues, type Label, type LabelledValue } from './labelled-fields.js';
import { saysNone } from './none-words.js';

/** Names of the three fields as in the prompt, and variants that models use. */
const labels: readonly Label[] = [
  ...['completion status', 'completionstatus'].map((words) => ({ field: 'status', words, anywhere: true })),
  ...['status', 'verdict', 'completion', 'completeness', 'complete', 'is complete'].map((words) => ({ field: 'status', words })),
  ...['gap', 'gaps'].map((words) => ({ field: 'gap', words, anywhere: true })),
  ...[
    'missing',
    'missing info',
    'missing information',
    'whats missing',
    'information gap',
    'knowledge gap',
    'remaining gap',
    'open gap',
    'lücke',
    'lücken',
  ].map((words) => ({ field: 'gap', words })),
  ...['next focus', 'nextfocus'].map((words) => ({ field: 'focus', words, anywhere: true })),
  ...['focus', 'next', 'next step', 'next steps', 'next question', 'next action', 'next query', 'nächster fokus'].map((words) => ({
    field: 'focus',
    words,
  })),
];

/** Longest stored gap and focus, in characters. */
const longest = 1_000;

type Said = 'complete' | 'needs_more_info';

/** Wordings of verdicts, negated ones first: matched text is not read again. */
const verdictWords: readonly (readonly [RegExp, Said])[] = [
  [/\b(?:NO|NOT|NO LONGER|DOES NOT|DOESN T) (?:NEEDS? |REQUIRES? )?(?:ANY )?MORE (?:INFO|INFORMATION)\b/g, 'complete'],
  [
    /\b(?:NOT|ISN T|NOT YET|IN|UN|NON|PARTIALLY|PARTLY|MOSTLY|ALMOST|NICHT) ?(?:FULLY |YET |QUITE |ENTIRELY )?(?:COMPLETED?|FINISHED|SUFFICIENT|VOLLSTÄNDIG)\b/g,
    'needs_more_info',
  ],
  [
    /\bNEEDS? (?:SOME |ANY )?(?:MORE|FURTHER|ADDITIONAL)(?: INFO| INFORMATION| DATA| FACTS| RESEARCH)?\b|\bNEEDS? INFO(?:RMATION)?\b|\bMORE INFO(?:RMATION)?(?: IS)?(?: NEEDED| REQUIRED)?\b|\b(?:PARTIAL|MISSING)\b/g,
    'needs_more_info',
  ],
  [/\b(?:COMPLETED?|COMPLETION|FINISHED|SUFFICIENT|DONE|VOLLSTÄNDIG)\b/g, 'complete'],
  [/^(?:TRUE|YES|JA)\b/g, 'complete'],
  [/^(?:FALSE|NO|NEIN)\b/g, 'needs_more_info'],
];

/** With checkboxes, only the ticked one counts. */
function counting(status: string): string {
  const ticked = /(?:^|\[)[xX✓✔]\]\s*([^[]+)|[☑☒✅✔]\s*([^☐☑☒✅✔❌]+)/u.exec(status);
  return ticked?.[1] ?? ticked?.[2] ?? status;
}

/**
 * The verdict of a status; null for none or several. A verdict at its beginning counts whatever explanation follows, unless the other
 * verdict is listed next to it: then the model only echoed the format.
 */
function verdictOf(status: string): Said | null {
  let rest = counting(status)
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}|/]+/gu, ' ')
    .replace(/\s*([|/])\s*/g, ' $1 ')
    .trim();
  const found: { at: number; length: number; said: Said }[] = [];
  for (const [words, said] of verdictWords)
    rest = rest.replace(words, (match: string, at: number) => {
      found.push({ at, length: match.length, said });
      return '\u0000'.repeat(match.length);
    });
  found.sort((a, b) => a.at - b.at);
  const [first, second] = found;
  if (!first || !second || first.said === second.said || found.every(({ said }) => said === first.said)) return first?.said ?? null;
  const between = rest.slice(first.at + first.length, second.at).trim();
  const isOffered = /^(?:[|/]|OR|ODER|OU|O|AND|UND|VS|)$/.test(between);
  return first.at === 0 && !isOffered ? first.said : null;
}

/** Matches "nothing is missing", alone or with an explanation; `None of the sources …` and `No date …` are gaps. */
const none = new RegExp(
  '^(?:(?:none|nothing|nil|null|n/?a|not applicable|complete|empty|false|kein(?:e|er)?|nichts|-|–|—|∅|0)(?:$|\\s*[.,;:!(–—-].*$)' +
    '|no (?:\\p{L}+ ){0,3}?(?:gaps?|missing (?:\\p{L}+ ?){1,2}|(?:\\p{L}+ )?(?:is|are) (?:still )?(?:missing|needed|required))\\b.*' +
    '|nothing (?:else |more |further )?(?:is |remains )?(?:missing|needed|required|open)\\b.*)?$',
  'iu',
);
/** Whether the value echoes a placeholder of the requested format. */
const isUnfilled = (value: string): boolean => /what specific fact|one concrete question/i.test(value) || /^<[^<>]*>?$/.test(value);
const isNone = (value: string): boolean => {
  const said = value.replace(/(?<![\s"'`.])[\s"'`.]+$/, '').trim();
  return none.test(said) || saysNone(said);
};

const unreadable: GapVerdict = { verdict: 'complete', gap: '', nextFocus: '', parsed: false };

/**
 * Reads the gap detector's reply in any form: lines, a list, one line, JSON, YAML, a table, tags. COMPLETE, or a gap that is empty or
 * "none", ends the loop. A reply without a verdict becomes the documented fallback COMPLETE with `parsed: false`, so that it is counted
 * and reported. So does a contradictory one: the echoed format, COMPLETE with a gap, NEEDS_MORE_INFO without one.
 */
export function readGap(reply: string): GapVerdict {
  const json = labelledMembers(jsonIn(reply.slice(-12_000)), labels);
  const fields = json.some(({ field }) => field === 'status') ? json : labelledValues(reply, labels);
  const said = lastVerdict(fields) ?? bareVerdict(reply, fields) ?? openGap(reply, fields);
  if (!said) return unreadable;
  const given = (field: string): string | null => {
    const values = said.fields.filter((one) => one.field === field && !isUnfilled(one.value)).map(({ value }) => value.slice(0, longest));
    return values.at(-1) ?? null;
  };
  const focus = given('focus');
  const isOpen = (value: string | null): value is string => value !== null && !isNone(value);
  const inferred = (): string | null => gapBehind(given('status') ?? '') ?? (isOpen(focus) ? focus : null);
  const gap = given('gap') ?? (said.verdict === 'needs_more_info' ? inferred() : null);
  if (said.verdict === 'complete') return isOpen(gap) ? unreadable : { verdict: 'complete', gap: '', nextFocus: '', parsed: true };
  if (gap === null) return unreadable;
  if (isNone(gap)) return { verdict: 'complete', gap: '', nextFocus: '', parsed: true };
  return { verdict: 'needs_more_info', gap, nextFocus: isOpen(focus) ? focus : gap, parsed: true };
}

interface StatusVerdict {
  readonly verdict: Said;
  readonly fields: readonly LabelledValue[];
}

/** The last status with a verdict and its fields: those after it or, if there are none, those before it. */
function lastVerdict(fields: readonly LabelledValue[]): StatusVerdict | null {
  const statuses = fields.flatMap(({ field, value }, at) => {
    const verdict = field === 'status' ? verdictOf(value) : null;
    return verdict ? [{ at, verdict }] : [];
  });
  const last = statuses.at(-1);
  if (!last) return null;
  const behind = fields.slice(last.at + 1);
  return { verdict: last.verdict, fields: [...fields.slice((statuses.at(-2)?.at ?? -1) + 1, last.at + 1), ...behind] };
}

const verdictAndMore = /^[^\p{L}\p{N}]*(COMPLETED?|INCOMPLETE|NEEDS?[ _-]?MORE[ _-]?INFO(?:RMATION)?)\b[^\p{L}\p{N}]*(.*)$/isu;

/** The gap that follows the verdict directly: `NEEDS_MORE_INFO: the year`. */
function gapBehind(status: string): string | null {
  const more = /^\W*(?:INCOMPLETE|NEEDS?[ _-]?MORE[ _-]?INFO(?:RMATION)?)\W*?(?::|\s[–—-])\s*(\S.*)$/isu.exec(status)?.[1];
  return more && !isNone(more) ? more : null;
}

/** A verdict without a field name, in capitals at the start of a line: `NEEDS_MORE_INFO: the year`. */
function bareVerdict(reply: string, fields: readonly LabelledValue[]): StatusVerdict | null {
  if (fields.some(({ field, value }) => field === 'status' && value !== '')) return null;
  const lines = reply
    .slice(-4_000)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  for (const [at, line] of lines.entries()) {
    const found = verdictAndMore.exec(line);
    const verdict = found && found[1] === found[1]!.toUpperCase() ? verdictOf(line) : null;
    if (!found || !verdict) continue;
    const rest = found[2]! || (verdict === 'needs_more_info' ? (lines[at + 1] ?? '') : '');
    const isGap = verdict === 'needs_more_info' && rest !== '' && !fields.some(({ field }) => field === 'gap');
    return { verdict, fields: isGap ? [{ field: 'gap', value: rest }, ...fields] : fields };
  }
  return null;
}

/** Without a status, a named gap means that more is needed, unless the surrounding text says the contrary. */
function openGap(reply: string, fields: readonly LabelledValue[]): StatusVerdict | null {
  if (fields.some(({ field, value }) => field === 'status' && value !== '')) return null;
  const gap = fields.findLast(({ field }) => field === 'gap')?.value ?? '';
  if (gap === '' || isNone(gap) || isUnfilled(gap)) return null;
  return verdictOf(reply.replaceAll(gap, ' ').slice(0, 2_000)) === 'complete' ? null : { verdict: 'needs_more_info', fields };
}
