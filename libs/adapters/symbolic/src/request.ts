import type { SymbolicArgs, SymbolicOperation } from '@conclave/ports';
import { parseExpression, parseRelations, parseRows, type Parsed } from './syntax/parse.js';
import { bounds, symbolsOf, type Related, type Tree } from './syntax/tree.js';
import { checkSizes } from './syntax/sizes.js';
import { unreadable } from './syntax/unreadable.js';

export type Rows = readonly (readonly Tree[])[];

/** What an engine calculates: trees and numbers, and no text except names of variables. */
export type SymbolicJob = { readonly precision: number } & (
  | { readonly operation: 'evaluate'; readonly expression: Tree; readonly values: readonly (readonly [name: string, value: Tree])[] }
  | { readonly operation: 'simplify' | 'expand' | 'factor'; readonly expression: Tree }
  | {
      readonly operation: 'solve';
      readonly relations: readonly Related[];
      readonly variables: readonly string[];
      readonly domain: 'real' | 'complex';
    }
  | {
      readonly operation: 'integrate';
      readonly expression: Tree;
      readonly variable: string;
      readonly lower: Tree | null;
      readonly upper: Tree | null;
    }
  | {
      readonly operation: 'differentiate';
      readonly expression: Tree;
      readonly variable: string;
      readonly order: number;
      readonly point: Tree | null;
    }
  | {
      readonly operation: 'limit';
      readonly expression: Tree;
      readonly variable: string;
      readonly point: Tree;
      readonly direction: '+' | '-' | 'both';
    }
  | {
      readonly operation: 'sum' | 'product';
      readonly expression: Tree;
      readonly variable: string;
      readonly lower: Tree;
      readonly upper: Tree;
    }
  | { readonly operation: 'series'; readonly expression: Tree; readonly variable: string; readonly point: Tree; readonly order: number }
  | { readonly operation: 'determinant' | 'inverse' | 'rank' | 'eigenvalues' | 'rref'; readonly matrix: Rows }
  | { readonly operation: 'multiply'; readonly matrix: Rows; readonly other: Rows }
);

export interface ReadRequest {
  readonly job: SymbolicJob;
  readonly notes: readonly string[];
}

/** Converts the arguments of a request into a job. Throws MATH_INPUT_INVALID, which names the argument and says what to write. */
export function readRequest(operation: SymbolicOperation, args: SymbolicArgs): ReadRequest {
  return new Reader(operation, args).read();
}

class Reader {
  private readonly notes = new Set<string>();
  private readonly declared: Set<string>;
  private characters = 0;

  constructor(
    private readonly operation: SymbolicOperation,
    private readonly args: SymbolicArgs,
  ) {
    this.declared = new Set([...this.nameList('variables'), ...this.nameList('variable'), ...Object.keys(this.record('values'))]);
    for (const name of this.declared)
      if (!/^[A-Za-z][A-Za-z0-9]{0,29}(?:_[A-Za-z0-9]{1,10})?$/.test(name))
        throw unreadable(`A variable is a letter or a short word without spaces; ${JSON.stringify(name.slice(0, 40))} is not.`);
  }

  read(): ReadRequest {
    const precision = this.integer('precision', 15, 1, 1_000);
    return { job: { precision, ...this.job() } as SymbolicJob, notes: [...this.notes] };
  }

  private job(): object {
    const { operation } = this;
    switch (operation) {
      case 'evaluate': {
        const values = Object.keys(this.record('values')).map((name) => [name, this.tree(this.record('values')[name], 'values')] as const);
        return { operation, expression: this.term(), values };
      }
      case 'simplify':
      case 'expand':
      case 'factor':
        return { operation, expression: this.term() };
      case 'solve':
        return this.solve();
      case 'integrate': {
        const [lower, upper] = [this.optional('lower'), this.optional('upper')];
        if ((lower === null) !== (upper === null))
          throw unreadable('A definite integral needs both `lower` and `upper`; leave out both for an indefinite one.');
        const expression = this.term();
        return { operation, expression, variable: this.variableOf(expression), lower, upper };
      }
      case 'differentiate': {
        const expression = this.term();
        return {
          operation,
          expression,
          variable: this.variableOf(expression),
          order: this.integer('order', 1, 1, 20),
          point: this.optional('point'),
        };
      }
      case 'limit': {
        const expression = this.term();
        return { operation, expression, variable: this.variableOf(expression), point: this.required('point'), direction: this.direction() };
      }
      case 'sum':
      case 'product': {
        const [lower, upper] = [this.required('lower'), this.required('upper')];
        const expression = this.term();
        const bound = symbolsOf(lower, upper);
        return { operation, expression, variable: this.variableOf(expression, bound), lower, upper };
      }
      case 'series': {
        const expression = this.term();
        const point = this.optional('point') ?? { kind: 'number', value: '0' };
        return { operation, expression, variable: this.variableOf(expression), point, order: this.integer('order', 6, 1, 30) };
      }
      case 'multiply':
        return { operation, matrix: this.matrix('matrix'), other: this.matrix('other') };
      default: {
        const matrix = this.matrix('matrix');
        const square = operation !== 'rank' && operation !== 'rref';
        if (square && matrix.length !== matrix[0]!.length) throw unreadable(`The ${operation} needs as many rows as columns.`);
        return { operation, matrix };
      }
    }
  }

  private solve(): object {
    const given = this.args['equations'] ?? this.args['expression'];
    const texts = (Array.isArray(given) ? given : [given]).flatMap((one) => separated(this.text(one, 'equations')));
    const relations = texts.flatMap((text) => this.kept(parseRelations(text, this.declared)));
    if (relations.length > bounds.equations) throw unreadable(`At most ${bounds.equations} equations are solved together.`);
    const named = [...this.nameList('variables'), ...this.nameList('variable')];
    const inside = symbolsOf(...relations.flatMap(({ left, right }) => [left, right]));
    let variables: readonly string[] = named.length > 0 ? [...new Set(named)] : [...inside].sort();
    if (named.length === 0 && texts.length === 1 && inside.length > 1) {
      variables = [this.chosen(inside)];
    }
    if (variables.length === 0) throw unreadable('There is no name to solve for. Write an equation such as 3*x + 5 = 20.');
    if (variables.length > bounds.equations) throw unreadable(`At most ${bounds.equations} names are solved for.`);
    const domain = this.args['domain'] === 'real' ? 'real' : 'complex';
    return { operation: 'solve', relations, variables, domain };
  }

  /** The expression; a name before it, as in `f(x) = x^2`, is left out. */
  private term(): Tree {
    const given = this.args['expression'];
    if (given === undefined || given === null) throw unreadable(`Give \`expression\` for ${this.operation}.`);
    const text = this.text(given, 'expression').replace(/^\s*(?:[A-Za-z]\s*\(\s*[A-Za-z]\s*\)|y)\s*=(?!=)/, '');
    return this.kept(parseExpression(text, this.declared));
  }

  private tree(value: unknown, name: string): Tree {
    return this.kept(parseExpression(this.text(value, name), this.declared));
  }

  private optional(name: string): Tree | null {
    const value = this.args[name];
    return value === undefined || value === null || value === '' ? null : this.tree(value, name);
  }

  private required(name: string): Tree {
    const tree = this.optional(name);
    if (!tree) throw unreadable(`Give \`${name}\` for ${this.operation}.`);
    return tree;
  }

  private variableOf(expression: Tree, bound: readonly string[] = []): string {
    const named = [...this.nameList('variable'), ...this.nameList('variables')];
    if (named.length > 0) return named[0]!;
    const inside = symbolsOf(expression);
    const free = inside.filter((name) => !bound.includes(name));
    if (inside.length === 0) return 'x';
    return free.length === 1 ? free[0]! : this.chosen(free.length > 0 ? free : inside);
  }

  private chosen(names: readonly string[]): string {
    if (names.length === 1) return names[0]!;
    if (!names.includes('x')) throw unreadable(`Say in \`variable\` which of ${names.join(', ')} is meant.`);
    this.notes.add('x is taken as the variable; the other names are constants.');
    return 'x';
  }

  private direction(): '+' | '-' | 'both' {
    const value = this.args['direction'];
    if (value === '+' || value === 'right' || value === 'from above') return '+';
    if (value === '-' || value === 'left' || value === 'from below') return '-';
    if (value === undefined || value === null || value === '' || value === 'both' || value === '+-') return 'both';
    throw unreadable('`direction` is +, - or both.');
  }

  private integer(name: string, otherwise: number, least: number, most: number): number {
    const value = this.args[name];
    if (value === undefined || value === null || value === '') return otherwise;
    const number = typeof value === 'string' && /^\s*\d{1,6}\s*$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
      throw unreadable(`\`${name}\` is a whole number from ${least} to ${most}.`);
    return number;
  }

  private matrix(name: string): Rows {
    const given = this.args[name];
    if (given === undefined || given === null) throw unreadable(`Give \`${name}\` for ${this.operation}, such as [[1, 2], [3, 4]].`);
    const rows: Rows = Array.isArray(given)
      ? given
          .slice(0, bounds.side + 1)
          .map((row) => (Array.isArray(row) ? row : [row]).slice(0, bounds.side + 1).map((entry) => this.tree(entry, name)))
      : this.kept(parseRows(this.text(given, name), this.declared));
    if (rows.length === 0 || rows[0]!.length === 0 || rows.some((row) => row.length !== rows[0]!.length))
      throw unreadable(`\`${name}\` needs rows of the same length, such as [[1, 2], [3, 4]].`);
    if (rows.length > bounds.side || rows[0]!.length > bounds.side)
      throw unreadable(`\`${name}\` has more than ${bounds.side} rows or columns.`);
    return rows;
  }

  private nameList(name: string): readonly string[] {
    const value = this.args[name];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one) => (typeof one === 'string' ? one.split(/[\s,;]+/).filter(Boolean) : []));
  }

  private record(name: string): Readonly<Record<string, unknown>> {
    const value = this.args[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  }

  private text(value: unknown, name: string): string {
    if (typeof value === 'number' && !Number.isFinite(value)) throw unreadable(`\`${name}\` is not a number.`);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
      throw unreadable(`\`${name}\` must be a text.`);
    const text = String(value);
    this.characters += text.length;
    if (this.characters > bounds.request) throw unreadable(`All arguments together have more than ${bounds.request} characters.`);
    return text;
  }

  private kept<T>({ value, notes }: Parsed<T>): T {
    for (const tree of treesOf(value)) checkSizes(tree);
    for (const note of notes) this.notes.add(note);
    return value;
  }
}

/** Equations in one text, separated by `;`, a line break, `and`, or a comma between two relations. */
function separated(text: string): readonly string[] {
  if (text.length > bounds.text) return [text];
  const parts = text.split(/[;\n]|\s(?:and|und)\s/).filter((part) => part.trim() !== '');
  return parts.flatMap((part) => {
    const pieces = part.split(',');
    return pieces.length > 1 && pieces.every((piece) => /[=<>≤≥≠]/.test(piece)) ? pieces : [part];
  });
}

/** Trees in the parsed text: one, the sides of relations, or the entries of rows. */
function treesOf(value: unknown): readonly Tree[] {
  if (Array.isArray(value)) return value.flatMap(treesOf);
  if (typeof value !== 'object' || value === null) return [];
  return 'left' in value && 'right' in value ? [value.left as Tree, value.right as Tree] : [value as Tree];
}
