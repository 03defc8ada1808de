import { plainCharacters, textKey } from '@conclave/loop';

/** An expert's finding and its task. */
export interface Statement {
  readonly by: string;
  readonly task: string;
  readonly text: string;
}

export interface ContradictingStatements {
  readonly one: Statement;
  readonly other: Statement;
}

/** Most contradictions listed, and most statements compared. */
const most = 8;
const mostStatements = 24;

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));
/** Words that do not show a sentence's topic. */
const filler = listed(
  'a an the this that these those it its he she they there is are was were be been being has have had do does did will would of in on at by for from to and or so as ' +
    'about around approximately roughly exactly only just yes no ja nein der die das den dem des ein eine einer eines einem einen es er sie ist sind war waren wird wurde wurden hat haben ' +
    'im am zu zum zur von vom mit für und oder etwa rund genau nur',
);
const negations = listed(
  "not no never none cannot can't isn't aren't wasn't weren't don't doesn't didn't won't nicht kein keine keinen keiner nie niemals",
);
const months =
  'january february march april may june july august september october november december januar februar märz mai juni juli oktober dezember'.split(
    ' ',
  );

const pronouns = listed('it he she they this that these those there es er sie das dies diese dieser dort');

interface ParsedStatement {
  /** The expert's task, normalised for comparison. */
  readonly question: string;
  readonly words: ReadonlySet<string>;
  readonly values: readonly string[];
  readonly isNegated: boolean;
  /** Whether it names its subject instead of using a pronoun. */
  readonly isNamed: boolean;
  readonly answer: 'yes' | 'no' | null;
}

const amount = (text: string): string => {
  const bare = text.replace(/[\u00a0\u202f' ]/g, '');
  return /^\d{1,3}(?:[.,]\d{3})+$/.test(bare) ? bare.replace(/[.,]/g, '') : bare.replace(',', '.').replace(/\.0+$/, '');
};

/** Reads a statement's topic words, its numbers and months, and whether it is negated. */
function read({ task, text }: Statement): ParsedStatement {
  // Without the capital "may" and "march" are verbs.
  const plain = plainCharacters(text)
    .replace(/\b(?:may|march)\b/g, ' ')
    .toLowerCase();
  const tokens = plain.match(/\p{L}[\p{L}\p{M}'-]*|[-+]?\d+(?:[.,]\d+)*|[%€$£°]/gu) ?? [];
  const isValue = (token: string): boolean => /\d/.test(token) || months.includes(token);
  const first = tokens[0] ?? '';
  return {
    question: textKey(task),
    words: new Set(tokens.filter((token) => !isValue(token) && !filler.has(token) && !negations.has(token))),
    values: tokens.filter(isValue).map((token) => (/\d/.test(token) ? amount(token) : token)),
    isNamed: !pronouns.has(first),
    isNegated: tokens.some((token, at) => at > 0 && negations.has(token)),
    answer: /^(?:yes|ja)$/.test(first) ? 'yes' : /^(?:no|nein)$/.test(first) ? 'no' : null,
  };
}

/** Whether the longer statement contains all words of the shorter one. */
function isAbout(a: ParsedStatement, b: ParsedStatement, least: number): boolean {
  const [fewer, more] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  return fewer.size >= least && [...fewer].every((word) => more.has(word));
}

function contradict(a: ParsedStatement, b: ParsedStatement): boolean {
  const sameQuestion = a.question === b.question;
  if (sameQuestion && a.answer !== null && b.answer !== null) return a.answer !== b.answer;
  // As answers to different questions, "It costs 30 euros" may mean different things: then both must name their subject.
  if (!sameQuestion && !(a.isNamed && b.isNamed)) return false;
  if (!isAbout(a, b, sameQuestion ? 1 : 2)) return false;
  if (a.isNegated !== b.isNegated) return a.values.join(' ') === b.values.join(' ');
  // Compares only equally many values; otherwise one statement adds what the other omits.
  return a.values.length === b.values.length && a.values.length > 0 && a.values.some((value, at) => value !== b.values[at]);
}

/**
 * Pairs of experts' statements that cannot both be true, judged by their words: they have the same subject and state different numbers
 * or dates, or one denies the other. Each pair once.
 */
export function contradictions(statements: readonly Statement[]): readonly ContradictingStatements[] {
  const found: ContradictingStatements[] = [];
  const compared = statements.slice(0, mostStatements).map((statement) => ({ statement, reading: read(statement) }));
  for (const [at, one] of compared.entries())
    for (const other of compared.slice(at + 1)) {
      if (found.length >= most) return found;
      if (contradict(one.reading, other.reading)) found.push({ one: one.statement, other: other.statement });
    }
  return found;
}
