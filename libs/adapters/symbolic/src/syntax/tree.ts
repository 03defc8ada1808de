/** A parsed expression. Only these kinds exist: an engine builds its own objects from them and never sees the text. */
export type Tree =
  /** Decimal digits with at most one point; exact. */
  | { readonly kind: 'number'; readonly value: string }
  | { readonly kind: 'symbol'; readonly name: string }
  | { readonly kind: 'constant'; readonly name: Constant }
  | { readonly kind: 'sum'; readonly terms: readonly Tree[] }
  | { readonly kind: 'product'; readonly factors: readonly Tree[] }
  | { readonly kind: 'quotient'; readonly over: Tree; readonly under: Tree }
  | { readonly kind: 'negative'; readonly of: Tree }
  | { readonly kind: 'power'; readonly base: Tree; readonly exponent: Tree }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Tree[] };

export type Constant = 'pi' | 'e' | 'i' | 'infinity';

export type Relation = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** An equation or inequality. */
export interface Related {
  readonly left: Tree;
  readonly relation: Relation;
  readonly right: Tree;
}

/** Every function that can be written, with the fewest and the most arguments. */
export const functions = {
  sqrt: [1, 1],
  cbrt: [1, 1],
  root: [2, 2],
  exp: [1, 1],
  ln: [1, 1],
  log: [1, 2],
  abs: [1, 1],
  sign: [1, 1],
  sin: [1, 1],
  cos: [1, 1],
  tan: [1, 1],
  cot: [1, 1],
  sec: [1, 1],
  csc: [1, 1],
  asin: [1, 1],
  acos: [1, 1],
  atan: [1, 1],
  atan2: [2, 2],
  sinh: [1, 1],
  cosh: [1, 1],
  tanh: [1, 1],
  asinh: [1, 1],
  acosh: [1, 1],
  atanh: [1, 1],
  factorial: [1, 1],
  binomial: [2, 2],
  gamma: [1, 1],
  erf: [1, 1],
  floor: [1, 1],
  ceiling: [1, 1],
  mod: [2, 2],
  gcd: [2, 8],
  lcm: [2, 8],
  max: [1, 32],
  min: [1, 32],
  re: [1, 1],
  im: [1, 1],
  conjugate: [1, 1],
} as const satisfies Record<string, readonly [fewest: number, most: number]>;
export type FunctionName = keyof typeof functions;

/** Other spellings of functions. The parser turns `log10`, `lg` and `log2` into `log` with a base. */
export const otherFunctionNames: Readonly<Record<string, FunctionName>> = {
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
  arsinh: 'asinh',
  arcosh: 'acosh',
  artanh: 'atanh',
  tg: 'tan',
  ctg: 'cot',
  cosec: 'csc',
  sgn: 'sign',
  ceil: 'ceiling',
  choose: 'binomial',
  log: 'log',
  Abs: 'abs',
  Max: 'max',
  Min: 'min',
  Mod: 'mod',
};

/** Upper limits of an input. */
export const bounds = {
  /** Characters of one text. */
  text: 4_000,
  /** Characters of all texts of a request. */
  request: 20_000,
  /** Levels of nesting. */
  depth: 60,
  /** Nodes of one tree. */
  nodes: 1_500,
  /** Digits of a number that is written out. */
  digits: 1_000,
  /** Equations, and names solved for. */
  equations: 16,
  /** Rows and columns of a matrix. */
  side: 24,
} as const;

export const partsOf = (tree: Tree): readonly Tree[] => {
  switch (tree.kind) {
    case 'sum':
      return tree.terms;
    case 'product':
      return tree.factors;
    case 'quotient':
      return [tree.over, tree.under];
    case 'negative':
      return [tree.of];
    case 'power':
      return [tree.base, tree.exponent];
    case 'call':
      return tree.args;
    default:
      return [];
  }
};

/** Names in the order of their first occurrence. */
export function symbolsOf(...trees: readonly Tree[]): readonly string[] {
  const names = new Set<string>();
  const visit = (tree: Tree): void => {
    if (tree.kind === 'symbol') names.add(tree.name);
    partsOf(tree).forEach(visit);
  };
  trees.forEach(visit);
  return [...names];
}
