/** The direct subtrees of a tree; none for a leaf. */
export function partsOf(tree) {
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
}

/** Names in the order of their first occurrence. */
export function symbolsOf(...trees) {
  const names = new Set();
  const visit = (tree) => {
    if (tree.kind === 'symbol') names.add(tree.name);
    partsOf(tree).forEach(visit);
  };
  trees.forEach(visit);
  return [...names];
}
