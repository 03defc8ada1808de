import { functions, type FunctionName, type Relation, type Related, type Tree } from './tree.js';
import { nameMeaning, splitNames } from './names.js';
import { Cursor, relationSigns, shown } from './cursor.js';
import { tokenize, type SyntaxToken } from './tokens.js';
import { unreadable } from './unreadable.js';

export interface Parsed<T> {
  readonly value: T;
  /** How something ambiguous was read. */
  readonly notes: readonly string[];
}

/** One expression. `declared`: names that are variables here whatever they mean elsewhere, such as `i`. Throws MATH_INPUT_INVALID. */
export const parseExpression = (text: string, declared: ReadonlySet<string>): Parsed<Tree> =>
  parsed(text, declared, (parser) => parser.sum());

/** An equation or inequality; several for `1 < x < 3`; a term without a relation must be 0. Throws MATH_INPUT_INVALID. */
export const parseRelations = (text: string, declared: ReadonlySet<string>): Parsed<readonly Related[]> =>
  parsed(text, declared, (parser) => parser.relations());

/** Rows of a matrix as `[[1, 2], [3, 4]]`, `[1, 2; 3, 4]` or with round or curly brackets. Throws MATH_INPUT_INVALID. */
export const parseRows = (text: string, declared: ReadonlySet<string>): Parsed<readonly (readonly Tree[])[]> =>
  parsed(text, declared, (parser) => parser.rows(), true);

function parsed<T>(text: string, declared: ReadonlySet<string>, read: (parser: Parser) => T, commaSeparates = false): Parsed<T> {
  const { tokens, notes } = tokenize(text, commaSeparates);
  if (tokens.length === 0) throw unreadable('The expression is empty.');
  const parser = new Parser(splitNames(tokens, declared), declared);
  const value = read(parser);
  parser.expectEnd();
  return { value, notes: [...notes, ...parser.notes] };
}

class Parser extends Cursor {
  readonly notes = new Set<string>();
  /** Bars of |x| that are open. */
  private bars = 0;

  constructor(
    tokens: readonly SyntaxToken[],
    private readonly declared: ReadonlySet<string>,
  ) {
    super(tokens);
  }

  relations(): readonly Related[] {
    const found: Related[] = [];
    let left = this.sum();
    for (;;) {
      const relation = this.relationHere();
      if (!relation) break;
      this.at += 1;
      const right = this.sum();
      found.push({ left, relation, right });
      left = right;
    }
    return found.length > 0 ? found : [{ left, relation: '=', right: { kind: 'number', value: '0' } }];
  }

  rows(): readonly (readonly Tree[])[] {
    const end = this.opened();
    const rows: Tree[][] = [];
    const nested = ['[', '(', '{'].includes(this.tokens[this.at]?.text ?? '');
    do {
      const inner = nested ? this.opened() : null;
      const row = [this.sum()];
      while (this.take(',')) row.push(this.sum());
      if (inner) this.expect(inner);
      rows.push(row);
    } while (nested ? this.take(',') || this.take(';') : this.take(';'));
    this.expect(end);
    return rows;
  }

  sum(): Tree {
    return this.nested(() => {
      const terms = [this.product()];
      for (;;) {
        if (this.take('+')) terms.push(this.product());
        else if (this.take('-')) terms.push(this.made({ kind: 'negative', of: this.product() }));
        else return terms.length === 1 ? terms[0]! : this.made({ kind: 'sum', terms });
      }
    });
  }

  private product(): Tree {
    const factors = [this.signed()];
    const divisors: Tree[] = [];
    for (;;) {
      if (this.take('*')) factors.push(this.signed());
      else if (this.take('/')) divisors.push(this.signed());
      else if (this.operandFollows()) {
        if (divisors.length > 0) this.notes.add('A product without a sign after a division is read from left to right: 1/2x is (1/2)*x.');
        this.checkSideBySide();
        factors.push(this.power());
      } else break;
    }
    const over = factors.length === 1 ? factors[0]! : this.made({ kind: 'product', factors });
    if (divisors.length === 0) return over;
    const under: Tree = divisors.length === 1 ? divisors[0]! : this.made({ kind: 'product', factors: divisors });
    return this.made({ kind: 'quotient', over, under });
  }

  private signed(): Tree {
    return this.nested(() => {
      if (this.take('+')) return this.signed();
      if (this.take('-')) return this.made({ kind: 'negative', of: this.signed() });
      return this.power();
    });
  }

  private power(): Tree {
    const base = this.postfix();
    return this.take('^') ? this.made({ kind: 'power', base, exponent: this.exponent() }) : base;
  }

  /** Powers bind to the right: 2^3^2 is 2^9. */
  private exponent(): Tree {
    return this.nested(() => {
      if (this.take('-')) return this.made({ kind: 'negative', of: this.exponent() });
      this.take('+');
      return this.power();
    });
  }

  private postfix(): Tree {
    let tree = this.primary();
    for (;;) {
      if (this.take('!')) tree = this.made({ kind: 'call', name: 'factorial', args: [tree] });
      else if (this.take('%')) tree = this.percent(tree);
      else return tree;
    }
  }

  private percent(tree: Tree): Tree {
    const share = this.made({ kind: 'quotient', over: tree, under: { kind: 'number', value: '100' } });
    const next = this.tokens[this.at];
    if (next?.kind === 'name' && ['of', 'von', 'des', 'der'].includes(next.text)) {
      this.at += 1;
      return this.made({ kind: 'product', factors: [share, this.signed()] });
    }
    if (next && (next.kind !== 'sign' || next.text === '('))
      throw unreadable('After % write `of` and a value for a share, or mod(a, b) for a remainder.');
    this.notes.add('% is read as divided by 100.');
    return share;
  }

  private primary(): Tree {
    const token = this.tokens[this.at];
    if (!token) throw unreadable('The expression ends where a value is expected.');
    if (token.kind === 'number') {
      this.at += 1;
      const next = this.tokens[this.at];
      if (next?.kind === 'number')
        throw unreadable(`Two numbers stand side by side: ${token.text} ${next.text}. Write the sign between them.`);
      return this.made({ kind: 'number', value: token.text });
    }
    if (token.kind === 'name') return this.named(token);
    if (token.text === '|') {
      this.at += 1;
      this.bars += 1;
      const inside = this.sum();
      this.bars -= 1;
      this.expect('|');
      return this.made({ kind: 'call', name: 'abs', args: [inside] });
    }
    if (['(', '[', '{'].includes(token.text)) {
      const end = this.opened();
      const inside = this.sum();
      this.expect(end);
      return inside;
    }
    throw this.unexpected(token);
  }

  private named(token: SyntaxToken): Tree {
    this.at += 1;
    const meaning = nameMeaning(token.text, this.declared);
    const called = this.tokens[this.at]?.text === '(';
    if (meaning.kind === 'constant') return this.made({ kind: 'constant', name: meaning.name });
    if (meaning.kind === 'degrees')
      return this.made({ kind: 'quotient', over: { kind: 'constant', name: 'pi' }, under: { kind: 'number', value: '180' } });
    if (meaning.kind === 'symbol') {
      if (called && /^[fgh]$/.test(token.text) && !this.declared.has(token.text))
        throw unreadable(`The function ${token.text} is not known. Write what it stands for, such as x^2.`);
      return this.made({ kind: 'symbol', name: token.text });
    }
    if (meaning.kind === 'function') return this.application(meaning.name, meaning.base, token.text);
    throw unreadable(
      called
        ? `The function ${shown(token.text)} is not known. Functions: ${Object.keys(functions).join(', ')}.`
        : `The name ${shown(token.text)} is not known. Names are single letters; list longer ones in \`variables\`. Write a product with *, and no words.`,
    );
  }

  private application(name: FunctionName | 'power', base: string | null, written: string): Tree {
    // sin^2(x) is (sin(x))^2; sin^-1 could be two things.
    let exponent: Tree | null = null;
    if (this.take('^')) {
      const token = this.tokens[this.at];
      const bracketed = token?.text === '(';
      const digits = this.tokens[bracketed ? this.at + 1 : this.at];
      if (digits?.kind !== 'number') throw unreadable(`Write (${written}(x))^n for a power, and a${written}(x) for the inverse function.`);
      this.at += bracketed ? 2 : 1;
      if (bracketed) this.expect(')');
      exponent = this.made({ kind: 'number', value: digits.text });
    }
    const args = this.argumentsOf(name, written);
    const [fewest, most] = name === 'power' ? [2, 2] : functions[name];
    if (args.length < fewest || args.length > most)
      throw unreadable(
        `${written} takes ${fewest === most ? fewest : `${fewest} to ${most}`} value${most === 1 ? '' : 's'}, not ${args.length}.`,
      );
    if (name === 'log' && base === null && args.length === 1 && written.toLowerCase() === 'log')
      this.notes.add('log is read as the natural logarithm; write log10(x) or log(x, 10) for another base.');
    if (base !== null) args.push({ kind: 'number', value: base });
    const call: Tree =
      name === 'power'
        ? this.made({ kind: 'power', base: args[0]!, exponent: args[1]! })
        : this.made({ kind: 'call', name: name === 'log' && args.length === 1 ? 'ln' : name, args });
    return exponent ? this.made({ kind: 'power', base: call, exponent }) : call;
  }

  private argumentsOf(name: FunctionName | 'power', written: string): Tree[] {
    if (this.tokens[this.at]?.text === '(') {
      const end = this.opened();
      const args = [this.sum()];
      while (this.take(',') || this.take(';')) args.push(this.sum());
      this.expect(end);
      return args;
    }
    if (!this.operandFollows(true)) throw unreadable(`The function ${written} needs its value in brackets: ${written}(x).`);
    if (name === 'sqrt' || name === 'cbrt') return [this.nested(() => this.postfix())];
    // sin 2x is sin(2x); the next function ends the value: sin x cos x.
    const factors = [this.nested(() => this.power())];
    while (this.operandFollows() && !this.functionFollows()) {
      this.checkSideBySide();
      factors.push(this.power());
    }
    return [factors.length === 1 ? factors[0]! : this.made({ kind: 'product', factors })];
  }

  private functionFollows(): boolean {
    const token = this.tokens[this.at];
    return token?.kind === 'name' && nameMeaning(token.text, this.declared).kind === 'function';
  }

  /** Whether a value begins here without a sign before it. A number only after a function: `x 2` is refused. */
  private operandFollows(number = false): boolean {
    const token = this.tokens[this.at];
    if (!token) return false;
    if (token.kind === 'number') {
      if (number) return true;
      throw unreadable(`The number ${token.text} follows a value without a sign. Write * or ^ between them.`);
    }
    return token.kind === 'name' || ['(', '[', '{'].includes(token.text) || (token.text === '|' && this.bars === 0);
  }

  private checkSideBySide(): void {
    const [before, after] = [this.tokens[this.at - 1], this.tokens[this.at]];
    const isWord = (token?: SyntaxToken): boolean =>
      token?.kind === 'name' && token.text.length > 1 && ['symbol', 'unknown'].includes(nameMeaning(token.text, this.declared).kind);
    if ((isWord(before) && after?.kind === 'name') || (isWord(after) && before?.kind === 'name'))
      throw unreadable(`${shown(before!.text)} and ${shown(after!.text)} stand side by side. Write a product with *, and no words.`);
  }

  private relationHere(): Relation | null {
    const text = this.tokens[this.at]?.text ?? '';
    return Object.hasOwn(relationSigns, text) ? relationSigns[text]! : null;
  }
}
