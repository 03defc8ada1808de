import { takeClauses, type Clause } from './clauses.js';
import { germanNumbers, isFormula, withSigns } from './wording.js';

/** A task in words as an operation with its arguments, or why it is not one. */
export type MathTask =
  | { readonly kind: 'read'; readonly operation: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unread'; readonly sentence: string };

interface Form {
  readonly operation: string;
  /** Start of the task. `more` turns its groups into further arguments. */
  readonly start: RegExp;
  /** Optional end of the task, such as the `ab` of `leite … ab`. */
  readonly end?: RegExp;
  readonly clauses?: readonly Clause[];
  readonly more?: (found: RegExpExecArray) => Readonly<Record<string, unknown>>;
  readonly takes?: 'expression' | 'equations' | 'matrix' | 'matrices';
  readonly german?: true;
}

const ordinal: Readonly<Record<string, number>> = {
  first: 1,
  second: 2,
  third: 3,
  fourth: 4,
  erste: 1,
  zweite: 2,
  dritte: 3,
  vierte: 4,
};
const orderOf = (word: string | undefined) =>
  word && Object.hasOwn(ordinal, word.toLowerCase()) ? { order: ordinal[word.toLowerCase()] } : {};
const limitAt = ([, variable, point]: RegExpExecArray) => ({ variable, point: point!.trim() });

const verb =
  '(?:find|compute|calculate|determine|evaluate|give|what is|what are|bestimme|berechne|ermittle|finde|gib|was ist|was sind|wie lautet)?\\s*';
const the = '(?:the\\s+|an?\\s+|die\\s+|das\\s+|den\\s+)?';
const starting = (text: string): RegExp => new RegExp(`^${verb}${the}${text}`, 'iu');

/** Forms in the order they are tried. */
const forms: readonly Form[] = [
  {
    operation: 'solve',
    start: /^solve\s+(?:for\s+([a-z])\s*(?::|in|,)?\s*)/iu,
    takes: 'equations',
    more: ([, variable]) => ({ variables: [variable] }),
  },
  {
    operation: 'solve',
    start:
      /^(?:solve|find (?:all |the )?(?:solutions?|roots?|zeros?) (?:of|to|for)|find [a-z] (?:if|when|such that|where|in))\s+(?:the\s+)?(?:following\s+)?(?:equations?|system(?: of (?:linear )?equations)?|inequality)?\s*:?\s*/iu,
    takes: 'equations',
    clauses: ['unknowns'],
  },
  {
    operation: 'solve',
    start:
      /^(?:l(?:ö|oe)se|bestimme die (?:l(?:ö|oe)sung(?:en)?|nullstellen?) (?:von|der gleichung)|l(?:ö|oe)sung(?:en)? von|nullstellen? von)\s+(?:die\s+|das\s+|der\s+)?(?:(?:un)?gleichung(?:en|ssystem)?|lineare gleichungssystem)?\s*:?\s*/iu,
    takes: 'equations',
    clauses: ['unknowns'],
    german: true,
  },
  {
    operation: 'integrate',
    start: starting('(?:(?:in)?definite\\s+)?(?:integrate|integral of|antiderivative of|integral)\\s+'),
    clauses: ['range', 'variable'],
  },
  {
    operation: 'integrate',
    start: starting('(?:(?:un)?bestimmte\\s+)?(?:integriere|integral (?:von|über|der funktion)|stammfunktion von|∫)\\s*'),
    clauses: ['range', 'variable'],
    german: true,
  },
  {
    operation: 'differentiate',
    start: starting('(?:(first|second|third|fourth)\\s+)?(?:differentiate|derivative of|derive)\\s+'),
    clauses: ['variable', 'at'],
    more: ([, word]) => orderOf(word),
  },
  { operation: 'differentiate', start: /^d\s*\/\s*d([a-z])\s*/iu, clauses: ['at'], more: ([, variable]) => ({ variable }) },
  {
    operation: 'differentiate',
    start: starting('(?:(erste|zweite|dritte|vierte)\\s+)?(?:ableitung (?:von|der funktion)|differenziere)\\s+'),
    clauses: ['variable', 'at'],
    more: ([, word]) => orderOf(word),
    german: true,
  },
  { operation: 'differentiate', start: /^leite\s+/iu, end: /\s+ab$/iu, clauses: ['variable', 'at'], german: true },
  {
    operation: 'limit',
    start:
      /^(?:(?:find|compute|calculate|evaluate)\s+)?lim(?:it)?\s*_?\s*[({]?\s*([a-z])\s*(?:->|→|\\to)\s*([^\s(){}]+)\s*[)}]?\s*(?:of\s+)?/iu,
    clauses: ['side'],
    more: limitAt,
  },
  { operation: 'limit', start: starting('(?:limit (?:of)?)\\s+'), clauses: ['side', 'approach'] },
  { operation: 'limit', start: starting('(?:grenzwert|limes) (?:von|der funktion)\\s+'), clauses: ['side', 'approach'], german: true },
  {
    operation: 'series',
    start: starting('(?:taylor|maclaurin|power)?\\s*(?:series|expansion|polynomial) (?:of|for)\\s+'),
    clauses: ['order', 'around'],
  },
  {
    operation: 'series',
    start: starting('(?:taylor-?|potenz-?)(?:reihe|entwicklung|polynom) (?:von|für)\\s+'),
    clauses: ['order', 'around'],
    german: true,
  },
  { operation: 'sum', start: starting('sum(?:mation)?(?: of)?\\s+'), clauses: ['range'] },
  { operation: 'sum', start: starting('summe (?:von|über)\\s+'), clauses: ['range'], german: true },
  { operation: 'product', start: starting('product(?: of)?\\s+'), clauses: ['range'] },
  { operation: 'product', start: starting('produkt (?:von|über)\\s+'), clauses: ['range'], german: true },
  { operation: 'determinant', start: starting('determinant (?:of|for)\\s+(?:the matrix\\s+)?'), takes: 'matrix' },
  { operation: 'determinant', start: starting('determinante (?:von|der matrix)\\s+'), takes: 'matrix', german: true },
  {
    operation: 'inverse',
    start: starting('inverse (?:of|matrix of)\\s+(?:the matrix\\s+)?|^invert\\s+(?:the matrix\\s+)?'),
    takes: 'matrix',
  },
  {
    operation: 'inverse',
    start: starting('inverse (?:matrix )?(?:von|der matrix)\\s+|^invertiere\\s+(?:die matrix\\s+)?'),
    takes: 'matrix',
    german: true,
  },
  {
    operation: 'eigenvalues',
    start: starting('(?:eigenvalues? of|eigenwerte? (?:von|der matrix))\\s+(?:the matrix\\s+)?'),
    takes: 'matrix',
  },
  { operation: 'rank', start: starting('(?:rank of|rang (?:von|der matrix))\\s+(?:the matrix\\s+)?'), takes: 'matrix' },
  { operation: 'rref', start: starting('(?:rref|reduced row echelon form|row reduce)\\s+(?:of\\s+)?(?:the matrix\\s+)?'), takes: 'matrix' },
  {
    operation: 'multiply',
    start: /^(?:multiply|multipliziere)\s+(?:the matrices\s+|die matrizen\s+)?(?=[[{(]\s*[[{(])/iu,
    takes: 'matrices',
  },
  { operation: 'simplify', start: /^(?:simplify|reduce)\s+/iu },
  { operation: 'simplify', start: /^(?:vereinfache|kürze)\s+/iu, german: true },
  { operation: 'expand', start: /^(?:expand|multiply out)\s+/iu },
  { operation: 'expand', start: /^(?:multipliziere)\s+/iu, end: /\s+aus$/iu, german: true },
  { operation: 'factor', start: starting('(?:factor(?:i[sz]e)?|prime fact(?:ors|ori[sz]ation) of|factors of)\\s+') },
  {
    operation: 'factor',
    start: starting('(?:faktorisiere|primfaktor(?:en|zerlegung) von|zerlege)\\s+'),
    end: /\s+in (?:prim)?faktoren$/iu,
    german: true,
  },
  {
    operation: 'evaluate',
    start: /^(?:calculate|compute|evaluate|work out|what is|what's|how much is|the value of|value of)\s+(?:the\s+)?(?:value of\s+)?/iu,
    clauses: ['values', 'digits'],
  },
  {
    operation: 'evaluate',
    start: /^(?:berechne|rechne|was ist|was ergibt|wie ?viel (?:ist|sind|ergibt)|ermittle)\s+(?:den wert von\s+)?/iu,
    end: /\s+aus$/iu,
    clauses: ['values', 'digits'],
    german: true,
  },
];

const advice =
  'Write the operation and the formula, such as `solve 3*x + 5 = 20`, `integrate x^2 from 0 to 3`, `simplify sin(x)^2 + cos(x)^2` or `17.5% of 2340`.';
const unread = (sentence: string): MathTask => ({ kind: 'unread', sentence });

/** Longest task that is read, in characters. */
const longest = 4_000;

/**
 * Reads a task in English or German: `Solve 3*x + 5 = 20`, `derivative of x^3 at x = 2`, `Berechne 17,5 % von 2.340,00`, or a bare formula.
 * Text that is not clearly mathematics is not read, to avoid a wrong reading.
 */
export function readMathTask(text: string): MathTask {
  if (text.length > longest) return unread(`The task has more than ${longest} characters. ${advice}`);
  const plain = text
    .trim()
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .replace(/^(?:please|bitte|can you|could you|kannst du|exactly)[\s,]+/iu, '')
    .replace(/[\s.?]+$/u, '')
    .replace(/,?\s+(?:please|bitte)$/iu, '');
  if (plain === '') return unread(`The task is empty. ${advice}`);
  for (const form of forms) {
    const found = form.start.exec(plain);
    if (!found) continue;
    const task = inForm(form, found, plain);
    if (task) return task;
  }
  const bare = withoutResult(withSigns(plain));
  if (!isFormula(bare) || !/[\d+*/^=<>√²³!%()-]/u.test(bare)) return unread(`The calculation is unclear. ${advice}`);
  if (!/(?<![<>!=])[=<>](?!=)|[<>!=]=|[≤≥≠]/u.test(bare)) return { kind: 'read', operation: 'evaluate', args: { expression: bare } };
  return { kind: 'read', operation: 'solve', args: { equations: separated(bare) } };
}

/** `√1764 = ?` asks for the value of the left side. */
const withoutResult = (text: string): string => text.replace(/\s*=$/u, '');

function inForm(form: Form, found: RegExpExecArray, plain: string): MathTask | null {
  const afterStart = plain.slice(found[0].length).replace(form.end ?? /$^/u, '');
  const language = form.german || /\b(?:von|bis|und|für|nach|gegen|mal|durch)\b/iu.test(plain) ? 'german' : 'english';
  const numbers = language === 'german' ? germanNumbers(afterStart) : afterStart;
  if (numbers === null) return unread('A number such as 2.340 can be read in two ways. Write 2340 or 2,340.');
  const signs = withSigns(numbers);
  const { rest, args } = takeClauses(form.operation === 'evaluate' ? withoutResult(signs) : signs, form.clauses ?? []);
  const said = { ...form.more?.(found), ...args };
  const texts = Object.values(said).filter((value): value is string => typeof value === 'string');
  if (!texts.every((value) => isFormula(value) || value === '+' || value === '-')) return null;
  switch (form.takes ?? 'expression') {
    case 'equations':
      return formulas({ operation: form.operation, args: { equations: separated(rest), ...said } }, rest);
    case 'matrix':
      return formulas({ operation: form.operation, args: { matrix: rest } }, rest);
    case 'matrices': {
      const [matrix, other] = rest.split(/(?<=[\]})])\s*(?:,|;|\*|×|by|and|with|und|mit|x)\s*(?=[[{(]\s*[[{(])/iu);
      return matrix && other ? formulas({ operation: form.operation, args: { matrix, other } }, matrix, other) : null;
    }
    default:
      return formulas({ operation: form.operation, args: { expression: rest, ...said } }, rest);
  }
}

const formulas = (task: { operation: string; args: Record<string, unknown> }, ...texts: readonly string[]): MathTask | null =>
  texts.every((text) =>
    text
      .replace(/\s(?:and|und)\s/giu, ' ')
      .split(/[;\n]/)
      .every(isFormula),
  )
    ? { kind: 'read', ...task }
    : null;

/** Equations of one text, separated by words or by signs between relations. */
function separated(text: string): readonly string[] {
  const parts = text.split(/[;\n]|\s(?:and|und)\s/iu).filter((part) => part.trim() !== '');
  return parts
    .flatMap((part) => {
      const pieces = part.split(/,(?!\d)|,(?=\d*\s*[*a-z(])/iu);
      return pieces.length > 1 && pieces.every((piece) => /[=<>≤≥≠]/u.test(piece)) ? pieces : [part];
    })
    .map((part) => part.trim());
}
