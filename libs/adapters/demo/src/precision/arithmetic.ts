import { languageIn, plainNumbers, type Language } from './numerals.js';

/** Words around a calculation that ask for it, in four languages. Any other word means that the text is not a calculation. */
const asking = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${[
    "please|bitte|hello|hi|hey|hallo|so|then|now|ok|okay|exactly|genau|thanks|danke|merci|gracias|por favor|s[’']il (?:te|vous) pla[iî]t",
    '(?:can|could|would) you|can i|tell me|i need to know|do you know|quickly|kannst du|sag mir|mir',
    "what(?:[’']?s| is| are| do(?:es)?)?|whats|how much(?: is| are| do(?:es)?)?|calculate|compute|evaluate|work out|solve|find|give me",
    'wie ?viel(?:e)?|was|ist|sind|macht|machen|ergibt|ergeben|gibt|berechne|rechne(?: aus)?|aus',
    'combien|quel(?:le)? est|font|fait|ça fait|calcule[rz]?|est[- ]ce que',
    'cu[aá]nto|cu[aá]l|es|son|da|calcula|qu[eé]',
    'the|a|an|das|die|der|den|la|le|el|value of|result of|answer to|wert von|ergebnis von|résultat de|resultado de|is|are|was|equals?|equal to|gleich|make|makes|get|when i|if i|in total|together|zusammen|insgesamt|altogether',
  ].join('|')})(?![\\p{L}\\p{N}])`,
  'giu',
);

/** One operand: a number, a percentage, or what an earlier rule has put into parentheses. */
const e = String.raw`(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+|/\d+(?![\d.]))?%?!?|(?:sqrt|cbrt|ncr|abs)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)!?)`;
const and = String.raw`(?:,?\s+(?:and|und|et|y)\s+|\s*,\s*|\s*\+\s*)`;

type Rule = readonly [pattern: RegExp, into: string | ((...found: string[]) => string)];
const rule = (pattern: string, into: Rule[1]): Rule => [
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${pattern})(?![\p{L}\p{N}])`, 'iu'),
  into,
];
const listed = (list: string, sign: string): string => `(${list.split(new RegExp(and, 'iu')).join(` ${sign} `)})`;
const between = (a: string, b: string): string => (Number(a) < Number(b) ? `(${b} - ${a})` : `(${a} - ${b})`);

/** Each is applied as often as it matches, in order. */
const rules: readonly Rule[] = [
  rule(String.raw`(${e})\s*(?:per ?cent|prozent|pour ?cent|por ?ciento)`, '$1%'),
  rule(String.raw`(${e})\s+%`, '$1%'),
  // A minus sign, unless a number comes before it.
  rule(String.raw`(?<!\d[%)!]?\s+)(?:minus|moins|menos) (\d+(?:\.\d+)?)`, '-$1'),
  rule(String.raw`(?:increase|raise|erhöhe) (${e}) (?:by|um) (\d+(?:\.\d+)?%)`, '$1 * (1 + $2)'),
  rule(String.raw`(?:decrease|reduce|lower|verringere|senke) (${e}) (?:by|um) (\d+(?:\.\d+)?%)`, '$1 * (1 - $2)'),
  rule(
    String.raw`(?:the )?(?:square root of|sqrt of|sqrt(?=\s*\d)|(?:quadrat)?wurzel (?:aus|von)|racine carrée de|raíz cuadrada de)\s*(${e})`,
    'sqrt($1)',
  ),
  rule(
    String.raw`(?:the )?(?:cube root of|cbrt of|cbrt(?=\s*\d)|kubikwurzel (?:aus|von)|racine cubique de|raíz cúbica de)\s*(${e})`,
    'cbrt($1)',
  ),
  rule(String.raw`(\d+) factorial|(?:the )?(?:factorial of|fakultät von|factorielle de|factorial de) (\d+)`, (_all, a, b) => `${a ?? b}!`),
  rule(String.raw`(${e}) (?:squared|zum quadrat|au carré|al cuadrado)`, '($1)^2'),
  rule(String.raw`(${e}) (?:cubed|au cube|al cubo)`, '($1)^3'),
  rule(
    String.raw`(${e}) (?:(?:raised )?to the power (?:of )?|to the |raised to |hoch |puissance |elevado a )(${e})(?:st|nd|rd|th)?(?: power)?`,
    '($1)^$2',
  ),
  rule(String.raw`(${e}) choose (\d+)`, 'ncr($1, $2)'),
  rule(
    String.raw`(?:the )?(?:remainder|rest)(?: left)? (?:when|if|of|von|bei)?\s*(${e}) (?:is )?(?:divided by|geteilt durch|divisé par|dividido (?:por|entre)|/) (${e})`,
    '($1 mod $2)',
  ),
  rule(String.raw`(${e}) (?:modulo|mod) (${e})`, '($1 mod $2)'),
  rule(String.raw`(?:the )?(?:sum of|summe (?:von|aus)|somme de|suma de) (${e}(?:${and}${e})+)`, (_all, list) => listed(list!, '+')),
  rule(String.raw`(?:the )?(?:product of|produkt (?:von|aus)|produit de|producto de) (${e}(?:${and}${e})+)`, (_all, list) =>
    listed(list!, '*'),
  ),
  rule(String.raw`(?:the )?(?:quotient of|quotient (?:von|aus)) (${e})${and}(${e})`, '($1 / $2)'),
  rule(
    String.raw`(?:the )?(?:difference (?:between|of)|differenz (?:zwischen|von|aus)|différence entre|diferencia entre) (-?[\d.]+)${and}(-?[\d.]+)`,
    (_all, a, b) => between(a!, b!),
  ),
  rule(String.raw`(?:subtract|take|subtrahiere|ziehe) (${e}) (?:from|away from|von) (${e})(?: ab)?`, '($2 - $1)'),
  rule(String.raw`(?:add|addiere) (${e}(?:${and}${e})+)`, (_all, list) => listed(list!, '+')),
  rule(String.raw`(?:add|addiere) (${e}) (?:to|zu) (${e})`, '($2 + $1)'),
  rule(String.raw`(?:multiply|multipliziere) (${e}) (?:by|with|and|mit) (${e})`, '($1 * $2)'),
  rule(String.raw`(?:divide|teile) (${e}) (?:by|durch) (${e})`, '($1 / $2)'),
  rule(
    String.raw`(?:one |a |an )?half of (${e})|die hälfte von (${e})|la moitié de (${e})|la mitad de (${e})`,
    (_all, ...of) => `(${of.find(Boolean)} / 2)`,
  ),
  rule(String.raw`(?:one |a |1 )?third of (${e})|ein drittel von (${e})`, (_all, a, b) => `(${a ?? b} / 3)`),
  rule(String.raw`(?:one |a |1 )?(?:quarter|fourth) of (${e})|ein viertel von (${e})`, (_all, a, b) => `(${a ?? b} / 4)`),
  rule(String.raw`(\d+) thirds of (${e})`, '($1 / 3 * $2)'),
  rule(String.raw`(\d+) (?:quarters|fourths) of (${e})`, '($1 / 4 * $2)'),
  rule(String.raw`(\d+) (?:fifths) of (${e})`, '($1 / 5 * $2)'),
  rule(String.raw`(?:double|twice|das doppelte von|le double de|el doble de) (${e})`, '($1 * 2)'),
  rule(String.raw`(?:triple|das dreifache von|le triple de|el triple de) (${e})`, '($1 * 3)'),
  rule(String.raw`(${e}),? (?:multiplied by|times|mal|multipliziert mit|fois|multiplié par|multiplicado por) (${e})`, '$1 * $2'),
  rule(String.raw`(${e}),? (?:divided by|geteilt durch|dividiert durch|durch|divisé par|dividido (?:por|entre)) (${e})`, '$1 / $2'),
  rule(String.raw`(${e}),? (?:plus|und dann plus|más|mas|added to) (${e})`, '$1 + $2'),
  rule(String.raw`(${e}),? (?:minus|moins|menos|weniger) (${e})`, '$1 - $2'),
  rule(String.raw`(${e})%? (?:von|vom|de|del|d[’'])\s*(${e})`, (all) => all.replace(/\s*(?:von|vom|del|de|d[’'])\s*/iu, ' of ')),
  // A next step: "double 78 and add 5", "12 times 3, then subtract 4".
  rule(String.raw`(${'X'}),? (?:and )?(?:then )?(?:and )?(?:add|plus) (${e})`.replace('X', e), '($1) + $2'),
  rule(String.raw`(${e}),? (?:and )?(?:then )?(?:subtract|minus|take away) (${e})`, '($1) - $2'),
  rule(String.raw`(${e}),? (?:and )?(?:then )?(?:multiply|multiplied|times)(?: it| that| the result)?(?: by)? (${e})`, '($1) * $2'),
  rule(String.raw`(${e}),? (?:and )?(?:then )?(?:divide|divided)(?: it| that| the result)?(?: by)? (${e})`, '($1) / $2'),
];

/** Words between the steps of a chain, which is calculated from left to right. */
const nextSteps = /,?\s+(?:and\s+)?then\s+|,\s*(?=(?:add|subtract|multiply|divide|double|halve)\b)/iu;

const symbols = /^[\d\s.,+\-*/^%×÷·−√π()!]*(?:(?:of|mod|sqrt|cbrt|ncr|abs|e)(?![a-z])[\d\s.,+\-*/^%×÷·−√π()!]*)*$/u;
const operator = /[+*/^%×÷·√!]|[\d)]\s*[-−]\s*[-−\d(]|of|mod|sqrt|cbrt|ncr/u;

/** Whether text that looks like a calculation names a thing: a date, a period, a score, a serial or telephone number, `24/7`. */
function isName(written: string, sum: string): boolean {
  const tight = sum.replace(/\s*$/u, '');
  if (/(?<![\d.])0\d/.test(tight)) return true;
  if (/^\d{1,4}([-/])\d{1,2}\1\d{1,4}$/.test(tight) || /^[12]\d{3}-[12]\d{3}$/.test(tight) || /^\d+(?:-\d+){2,}$/.test(tight)) return true;
  // "What is 9/11?" asks for a thing; "9/11 =" and "calculate 9/11" for a number.
  const fraction = /^(\d+)\/(\d+)$/.exec(tight);
  return fraction !== null && /^\s*(?:what(?:[’']?s| is| was| are)|was (?:ist|war|bedeutet))\b/iu.test(written) && !/=/.test(written);
}

/** The calculation of a question as an expression for a calculator; null for any other question. */
export function expressionIn(question: string, language: Language = languageIn(question)): string | null {
  if (question.length > 250) return null;
  let text = plainNumbers(question, language)
    .replace(/(?<=\d)\s*[x×]\s*(?=\d)/giu, ' * ')
    .replace(/\s+/g, ' ');
  if (language === 'es') text = text.replace(/(?<=\d)\s+por\s+(?=\d)/giu, ' * ').replace(/(?<=\d)\s+entre\s+(?=\d)/giu, ' / ');
  const steps = text.split(nextSteps);
  if (steps.length > 1) return inSteps(steps);
  return reduced(text, question);
}

/** "Take 12 times 3, then add 4": each step works on the result of the one before. */
function inSteps([first, ...later]: readonly string[]): string | null {
  const start = first!.replace(/^\s*(?:start with|begin with|take|from)\s+/iu, '');
  let done = reduced(start, first!) ?? numberAlone(start);
  for (const step of later) {
    if (done === null) return null;
    const [, verb, number] =
      /^(?:and )?(add|subtract|multiply|divide)(?: it| that| the result)?(?: by| from it| to it)? (-?[\d.]+%?)(?: from it| to it| to that| from that)?[\s.?!]*$/iu.exec(
        step,
      ) ?? [];
    const sign = verb && { add: '+', subtract: '-', multiply: '*', divide: '/' }[verb.toLowerCase()];
    if (/^(?:double|halve)(?: it| that| the result)?[\s.?!]*$/iu.test(step)) done = `(${done}) ${/^double/iu.test(step) ? '* 2' : '/ 2'}`;
    else if (sign) done = `(${done}) ${sign} ${number}`;
    else return null;
  }
  return done;
}

const numberAlone = (text: string): string | null => /^(-?[\d.]+)$/u.exec(text.trim())?.[1] ?? null;

function reduced(text: string, written: string): string | null {
  // An exclamation mark after more than one number ends a sentence: "What is 5 + 5!".
  const said = /^[^\d]*\d+!\W*$/u.test(text) ? text : text.replace(/!+\s*$/u, '');
  let sum = said.replace(/[\s?=.:;]+$/u, '').replace(/^[\s¿¡,:]+/u, '');
  // Rules come first: "the sum of" contains words that `asking` would remove.
  for (let again = true, left = 60; again && left > 0; left -= 1) {
    again = false;
    for (const [pattern, into] of rules) {
      const next = typeof into === 'string' ? sum.replace(pattern, into) : sum.replace(pattern, (...found: string[]) => into(...found));
      if (next === sum) continue;
      sum = next;
      again = true;
      break;
    }
  }
  for (let before = ''; before !== sum;) {
    before = sum;
    sum = sum
      .replace(asking, ' ')
      .replace(/^[\s,!?:¿¡]+|[\s,?=.:]+$/gu, '')
      .replace(/\s+/g, ' ');
  }
  const plain = withoutOuter(sum.replace(/(?<![\p{L}\d])\((\d+(?:\.\d+)?%?)\)/gu, '$1').replace(/\(\(([^()]*)\)\)/g, '($1)'));
  if ((plain.match(/\d[\d.]*/g) ?? []).some((number) => !/^\d+(?:\.\d+)?$/.test(number))) return null;
  return isBalanced(plain) &&
    symbols.test(plain) &&
    /\d/.test(plain) &&
    operator.test(plain) &&
    plain.length <= 200 &&
    !isName(written, plain)
    ? plain
    : null;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const sign of text) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** `(18 + 27)` is `18 + 27`. */
function withoutOuter(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text;
  let depth = 0;
  for (const [at, sign] of [...text].entries()) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (depth === 0 && at < text.length - 1) return text;
  }
  return withoutOuter(text.slice(1, -1));
}
