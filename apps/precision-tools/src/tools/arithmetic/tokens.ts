import { invalid, quoted, tooLarge } from '../refusal.js';

export type ArithmeticToken =
  | { kind: 'number'; text: string; at: number }
  | { kind: 'name'; text: string; at: number }
  | { kind: 'sign'; text: string; at: number }
  | { kind: 'end'; text: string; at: number };

const longestExpression = 10_000;

/** Other spellings of signs and names, each with its standard form. */
const spellings: readonly (readonly [RegExp, string])[] = [
  [/[×⋅·∙]/g, '*'],
  [/[÷∕]/g, '/'],
  [/[−–]/g, '-'],
  [/\*\*/g, '^'],
  [/²/g, '^2'],
  [/³/g, '^3'],
  [/√/g, ' sqrt '],
  [/π/g, ' pi '],
  [/τ/g, ' tau '],
  [/[\u00a0\u202f\u2009]/g, ' '],
];

const patterns = {
  space: /\s+/y,
  number: /(?:\d[\d_'’]*(?:[.,]\d+)*\.?|\.\d+)(?:[eE][+-]?\d+(?![\w.]))?/y,
  name: /[A-Za-z][A-Za-z0-9]*/y,
  sign: /[-+*/^%!(),°=|]/y,
};

/** Splits an expression. A comma stays inside a number only as text; the parser decides what it means. */
export function tokenize(source: string): ArithmeticToken[] {
  if (source.length > longestExpression) throw tooLarge(`An expression may have ${longestExpression} characters.`);
  // `12 * 14 =` asks for the value of the expression before the sign.
  const text = spellings.reduce((written, [other, usual]) => written.replace(other, usual), source).replace(/(?<=\S)\s*=\s*\??\s*$/, '');
  const tokens: ArithmeticToken[] = [];
  for (let at = 0; at < text.length;) {
    let found: RegExpExecArray | null = null;
    for (const kind of ['space', 'number', 'name', 'sign'] as const) {
      patterns[kind].lastIndex = at;
      found = patterns[kind].exec(text);
      if (!found) continue;
      if (kind !== 'space') tokens.push({ kind, text: found[0], at });
      break;
    }
    if (!found) {
      throw invalid(
        `${quoted(text.slice(at, at + 12))} is not arithmetic. Write numbers, + - * / ^ % !, parentheses and functions such as sqrt(2), round(x, 2), gcd(12, 18).`,
      );
    }
    at += found[0].length;
  }
  return [...tokens, { kind: 'end', text: '', at: text.length }];
}
