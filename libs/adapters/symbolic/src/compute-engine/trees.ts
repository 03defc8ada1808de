import { functions, partsOf, type Tree } from '../syntax/tree.js';

/** Whether a value that came from another process is a tree of known kinds, not deeper or larger than is worked with. */
export function known(value: unknown): value is Tree {
  let left = 20_000;
  const isTree = (part: unknown, depth: number): boolean => {
    left -= 1;
    if (left < 0 || depth > 400 || typeof part !== 'object' || part === null || !('kind' in part)) return false;
    const tree = part as Tree;
    switch (tree.kind) {
      case 'number':
        return typeof tree.value === 'string' && /^\d{1,25000}$/.test(tree.value);
      case 'symbol':
        return typeof tree.name === 'string' && /^\w{1,41}$/.test(tree.name);
      case 'constant':
        return ['pi', 'e', 'i', 'infinity'].includes(tree.name);
      case 'call':
        return Object.hasOwn(functions, tree.name) && isList(tree.args) && tree.args.every((arg) => isTree(arg, depth + 1));
      case 'sum':
        return isList(tree.terms) && tree.terms.every((term) => isTree(term, depth + 1));
      case 'product':
        return isList(tree.factors) && tree.factors.every((factor) => isTree(factor, depth + 1));
      case 'quotient':
      case 'negative':
      case 'power':
        return partsOf(tree).every((inner) => isTree(inner, depth + 1));
      default:
        return false;
    }
  };
  return isTree(value, 0);
}

const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
