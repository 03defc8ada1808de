/** How tightly a notation binds; whatever binds less is put in brackets. */
const binding = { sum: 1, negative: 2, product: 2, power: 4, atom: 5 };

/** The expression in a notation that the parser can read again: `x^2/2`, `2*sqrt(2)`. */
export const notationOf = (tree) => written(tree).text;

const atom = (text) => ({ text, binds: binding.atom });
const within = ({ text, binds }, least) => (binds < least ? `(${text})` : text);
const bracketed = (tree, least) => within(written(tree), least);
/** Puts a sum in brackets, even one that is left over of a product or quotient: `-(x + y)`. */
const negated = (of) => ({ text: `-${within(of, binding.product)}`, binds: binding.negative });

function written(tree) {
  switch (tree.kind) {
    case 'number':
      return atom(tree.value);
    case 'symbol':
    case 'constant':
      return atom(tree.name);
    case 'call':
      return called(tree.name, tree.args);
    case 'power':
      return { text: `${bracketed(tree.base, binding.atom)}^${bracketed(tree.exponent, binding.atom)}`, binds: binding.power };
    case 'negative':
      return negated(written(tree.of));
    case 'quotient':
      return quotient(tree.over, tree.under);
    case 'product':
      return product(tree.factors);
    case 'sum':
      return { text: tree.terms.map(term).join(''), binds: binding.sum };
  }
}

function called(name, args) {
  if (name === 'log' && args.length === 1) return atom(`ln(${notationOf(args[0])})`);
  return atom(`${name}(${args.map(notationOf).join(', ')})`);
}

function quotient(over, under) {
  if (over.kind === 'negative') return negated(quotient(over.of, under));
  if (under.kind === 'number' && under.value === '1') return written(over);
  return { text: `${bracketed(over, binding.product)}/${bracketed(under, binding.power)}`, binds: binding.product };
}

function product(factors) {
  // (1/3)*x^3 is x^3/3.
  const [first, ...rest] = factors;
  const positive = withoutSign(first);
  if (positive) return negated(product([positive, ...rest]));
  if (first.kind === 'number' && first.value === '1' && rest.length > 0) return product(rest);
  if (first.kind === 'quotient' && rest.length > 0)
    return quotient(isOne(first.over) ? together(rest) : together([first.over, ...rest]), first.under);
  if (rest.length === 0) return written(first);
  return {
    text: factors.map((factor, n) => bracketed(factor, n === 0 ? binding.product : binding.power)).join('*'),
    binds: binding.product,
  };
}

/** A factor without the minus sign before it or above its fraction line; null if there is none. */
function withoutSign(factor) {
  if (factor.kind === 'negative') return factor.of;
  return factor.kind === 'quotient' && factor.over.kind === 'negative' ? { ...factor, over: factor.over.of } : null;
}

const isOne = (tree) => tree.kind === 'number' && tree.value === '1';
const together = (factors) => (factors.length === 1 ? factors[0] : { kind: 'product', factors });

function term(tree, position) {
  const { text, binds } = written(tree);
  const plain = binds <= binding.sum ? `(${text})` : text;
  if (position === 0) return plain;
  return plain.startsWith('-') ? ` - ${plain.slice(1)}` : ` + ${plain}`;
}
