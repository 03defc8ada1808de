import { bounds } from './tree.js';
import { unreadable } from './unreadable.js';

export type SyntaxToken =
  | { readonly kind: 'number'; readonly text: string; readonly at: number; readonly spaced: boolean }
  | { readonly kind: 'name'; readonly text: string; readonly at: number; readonly spaced: boolean }
  | { readonly kind: 'sign'; readonly text: string; readonly at: number; readonly spaced: boolean };

/** Typographic signs and their plain notation. */
const plainSigns: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '‒': '-',
  '﹣': '-',
  '－': '-',
  '＋': '+',
  '×': '*',
  '·': '*',
  '⋅': '*',
  '∙': '*',
  '•': '*',
  '∗': '*',
  '✕': '*',
  '⨯': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '∶': '/',
  '≤': '<=',
  '⩽': '<=',
  '≥': '>=',
  '⩾': '>=',
  '≠': '!=',
  '√': ' sqrt ',
  '∛': ' cbrt ',
  π: ' pi ',
  '𝜋': ' pi ',
  '∞': ' infinity ',
  '°': ' degrees ',
  '½': '(1/2)',
  '⅓': '(1/3)',
  '⅔': '(2/3)',
  '¼': '(1/4)',
  '¾': '(3/4)',
  '⌊': ' floor(',
  '⌋': ')',
  '⌈': ' ceiling(',
  '⌉': ')',
  '＝': '=',
  '（': '(',
  '）': ')',
};
const raised = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const lowered = '₀₁₂₃₄₅₆₇₈₉';
const greek: Readonly<Record<string, string>> = {
  α: 'alpha',
  β: 'beta',
  γ: 'gamma',
  δ: 'delta',
  ε: 'epsilon',
  ζ: 'zeta',
  η: 'eta',
  θ: 'theta',
  ϑ: 'theta',
  κ: 'kappa',
  λ: 'lambda',
  μ: 'mu',
  ν: 'nu',
  ξ: 'xi',
  ρ: 'rho',
  σ: 'sigma',
  τ: 'tau',
  φ: 'phi',
  ϕ: 'phi',
  χ: 'chi',
  ψ: 'psi',
  ω: 'omega',
  Δ: 'Delta',
  Σ: 'Sigma',
  Φ: 'Phi',
  Ω: 'Omega',
  Γ: 'Gamma',
  Λ: 'Lambda',
};
export const greekNames: ReadonlySet<string> = new Set(Object.values(greek));

/** The same text in plain signs: `x² − 2·π` is `x^(2) - 2* pi `. */
export function plainNotation(text: string): string {
  return text
    .replace(
      /[⁺⁻]?[⁰¹²³⁴-⁹]+/gu,
      (digits) => `^(${[...digits].map((digit) => (digit === '⁻' ? '-' : digit === '⁺' ? '' : raised.indexOf(digit))).join('')})`,
    )
    .replace(/[₀-₉]/gu, (digit) => String(lowered.indexOf(digit)))
    .replace(/[\u0370-\u03ff]/gu, (letter) => (Object.hasOwn(greek, letter) ? ` ${greek[letter]!} ` : letter))
    .replace(/\P{ASCII}/gu, (sign) => (Object.hasOwn(plainSigns, sign) ? plainSigns[sign]! : sign));
}

/** Digits in groups of three, split by a sign that can mean nothing else there. */
const grouped = /^\d{1,3}(?:(?:[\u00a0\u2009\u202f'’_]\d{3})+)(?![\d'’_])(?:\.\d+)?/;
const english = /^\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?(?![\d,])/;
const german = /^\d{1,3}(?:\.\d{3})+,\d+(?![\d.,])/;
const severalGroups = /^\d{1,3}(?:\.\d{3}){2,}(?![\d.,])/;
const decimalComma = /^\d+,\d+(?![\d.,])/;
const usual = /^(?:\d+(?:\.\d*)?|\.\d+)/;
const scientific = /^[eE][+-]?\d+(?![\d.A-Za-z_])/;

export interface Tokenized {
  readonly tokens: readonly SyntaxToken[];
  readonly notes: readonly string[];
}

/**
 * Splits a text into tokens. A comma between digits belongs to the number only outside of the brackets of lists and functions, where it
 * cannot separate values; with `commaSeparates` it never does. Throws MATH_INPUT_INVALID for a sign that is not part of the notation.
 */
export function tokenize(text: string, commaSeparates = false): Tokenized {
  if (text.length > bounds.text) throw unreadable(`It has ${text.length} characters; at most ${bounds.text} are read.`);
  const source = plainNotation(text.normalize('NFC'));
  const tokens: SyntaxToken[] = [];
  const notes = new Set<string>();
  /** For each open bracket whether a comma in it separates. */
  const open: boolean[] = [];
  let at = 0;
  let spaced = false;
  const add = (kind: SyntaxToken['kind'], length: number, value = source.slice(at, at + length)): void => {
    tokens.push({ kind, text: value, at, spaced });
    at += length;
    spaced = false;
  };
  while (at < source.length) {
    const rest = source.slice(at, at + bounds.digits + 200);
    const [space] = /^\s+/.exec(rest) ?? [];
    if (space !== undefined) {
      at += space.length;
      spaced = true;
      continue;
    }
    const number = numberAt(rest, commaSeparates || open.includes(true));
    if (number) {
      if (number.note) notes.add(number.note);
      add('number', number.length, number.value);
      continue;
    }
    const [name] = /^[A-Za-z](?:[A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)/.exec(rest) ?? [];
    if (name !== undefined) {
      add('name', name.length);
      continue;
    }
    const [sign] = /^(?:\*\*|<=|>=|!=|==|[-+*/^()[\]{}|!%=<>,;])/.exec(rest) ?? [];
    if (sign === undefined) throw unreadable(`The sign ${shown(rest)} has no meaning in an expression.`);
    if (sign === '(' || sign === '[' || sign === '{') open.push(sign !== '(' || tokens.at(-1)?.kind === 'name');
    if (sign === ')' || sign === ']' || sign === '}') open.pop();
    add('sign', sign.length, sign === '**' ? '^' : sign === '==' ? '=' : sign);
  }
  return { tokens, notes: [...notes] };
}

function numberAt(
  rest: string,
  commaSeparates: boolean,
): { readonly length: number; readonly value: string; readonly note?: string } | null {
  const found = (pattern: RegExp): string | undefined => pattern.exec(rest)?.[0];
  const spelled = (text: string, value: string) => ({ length: text.length, value, note: `${text} is read as ${value}.` });
  const groups = found(grouped);
  if (groups !== undefined) return spelled(groups, groups.replace(/[^\d.]/g, ''));
  if (!commaSeparates) {
    const continental = found(german) ?? found(severalGroups);
    if (continental !== undefined) return spelled(continental, continental.replaceAll('.', '').replace(',', '.'));
    const thousands = found(english);
    if (thousands !== undefined) return spelled(thousands, thousands.replaceAll(',', ''));
    const comma = found(decimalComma);
    if (comma !== undefined) return spelled(comma, comma.replace(',', '.'));
  }
  const digits = found(usual);
  if (digits === undefined) return null;
  if (digits.length > bounds.digits) throw unreadable(`A number has more than ${bounds.digits} digits.`);
  const [exponent] = scientific.exec(rest.slice(digits.length)) ?? [];
  if (exponent === undefined) {
    if (/^\.\d/.test(rest.slice(digits.length))) throw unreadable(`${shown(rest)} is not a number: it has two points.`);
    return { length: digits.length, value: digits };
  }
  const shift = Number(exponent.slice(1));
  if (Math.abs(shift) > bounds.digits) throw unreadable(`The exponent of ${digits}${exponent} is beyond ${bounds.digits}.`);
  return { length: digits.length + exponent.length, value: shifted(digits, shift) };
}

/** Digits with their point moved: `1.5` by 3 is `1500`. */
function shifted(digits: string, by: number): string {
  const [whole = '', part = ''] = digits.split('.');
  const all = whole + part;
  const point = whole.length + by;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return point >= all.length ? all.padEnd(point, '0') : `${all.slice(0, point)}.${all.slice(point)}`;
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 1) === '' ? text : [...text][0]);
