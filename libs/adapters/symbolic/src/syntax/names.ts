import { greekNames, type SyntaxToken } from './tokens.js';
import { functions, otherFunctionNames, type Constant, type FunctionName } from './tree.js';

export type Meaning =
  | { readonly kind: 'constant'; readonly name: Constant }
  | { readonly kind: 'degrees' }
  | { readonly kind: 'symbol' }
  | { readonly kind: 'function'; readonly name: FunctionName | 'power'; readonly base: string | null }
  | { readonly kind: 'unknown' };

const constants: Readonly<Record<string, Constant>> = {
  pi: 'pi',
  Pi: 'pi',
  PI: 'pi',
  e: 'e',
  E: 'e',
  i: 'i',
  I: 'i',
  oo: 'infinity',
  inf: 'infinity',
  infinity: 'infinity',
  Infinity: 'infinity',
  infty: 'infinity',
  unendlich: 'infinity',
};
/** Logarithms whose name contains the base. */
const bases: Readonly<Record<string, string>> = { log10: '10', lg: '10', log2: '2', lb: '2' };

/** The meaning of a name. A declared name is a variable, whatever it means elsewhere. */
export function nameMeaning(name: string, declared: ReadonlySet<string>): Meaning {
  if (declared.has(name)) return { kind: 'symbol' };
  if (Object.hasOwn(constants, name)) return { kind: 'constant', name: constants[name]! };
  const lower = name.toLowerCase();
  if (lower === 'degrees' || lower === 'deg' || lower === 'degree') return { kind: 'degrees' };
  if (lower === 'pow') return { kind: 'function', name: 'power', base: null };
  if (Object.hasOwn(bases, lower)) return { kind: 'function', name: 'log', base: bases[lower]! };
  for (const word of [name, lower]) {
    if (Object.hasOwn(functions, word) && word.length > 1) return { kind: 'function', name: word as FunctionName, base: null };
    if (Object.hasOwn(otherFunctionNames, word)) return { kind: 'function', name: otherFunctionNames[word]!, base: null };
  }
  if (greekNames.has(name) || /^[A-Za-z](?:\d{1,3}|_[A-Za-z0-9]{1,8})?$/.test(name)) return { kind: 'symbol' };
  return { kind: 'unknown' };
}

/** Letters that people write side by side for a product: `xy`, `ax^2`. */
const lettersOfProducts = /^[abckmnpqrstuvwxyz]{2,3}$/;

/** Tokens with short words like `ax` split into their letters; words with a meaning stay whole. */
export const splitNames = (tokens: readonly SyntaxToken[], declared: ReadonlySet<string>): readonly SyntaxToken[] =>
  tokens.flatMap((token, position) => {
    if (token.kind !== 'name' || !lettersOfProducts.test(token.text) || nameMeaning(token.text, declared).kind !== 'unknown')
      return [token];
    if (tokens[position + 1]?.text === '(') return [token];
    return [...token.text].map((letter, n) => ({ ...token, text: letter, at: token.at + n, spaced: n === 0 && token.spaced }));
  });
