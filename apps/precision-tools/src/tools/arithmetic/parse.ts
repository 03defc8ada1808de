import { readDecimal } from '../numbers/read-number.js';
import { Rational } from '../numbers/rational.js';
import { invalid, quoted, tooLarge } from '../refusal.js';
import { tokenize, type ArithmeticToken } from './tokens.js';

/** The kind of value in which an expression is calculated: exact numbers, or fractions of polynomials. */
export interface Algebra<Value> {
  number(value: Rational): Value;
  /** A constant or variable; null if the name is neither. */
  name(name: string): Value | null;
  isFunction(name: string): boolean;
  call(name: string, args: readonly Value[]): Value;
  add(a: Value, b: Value): Value;
  subtract(a: Value, b: Value): Value;
  multiply(a: Value, b: Value): Value;
  divide(a: Value, b: Value): Value;
  modulo(a: Value, b: Value): Value;
  power(a: Value, b: Value): Value;
  negate(a: Value): Value;
  factorial(a: Value): Value;
  degrees(a: Value): Value;
}

const deepest = 150;
const thousands = /^0\d\d$/;

interface Operand<Value> {
  value: Value;
  /** A bare percentage such as 10 %, whose meaning after + and - would be a guess. */
  percent: boolean;
  /** Ends in a power or is below a fraction line: an operand that follows without a sign could belong to two places. */
  closed: boolean;
  /** The number 1 as it is written: with it, both readings of `1 + p%` are the same. */
  one?: boolean;
}

/**
 * Parses and calculates in one pass, so that a long sum needs no deep tree. Powers bind to the right and before a leading minus
 * (-2^2 is -4); `a % b` between two operands is the remainder, a `%` after one is a hundredth.
 */
export class Expression<Value> {
  private readonly tokens: ArithmeticToken[];
  private at = 0;
  private depth = 0;
  private readonly written: string[] = [];

  constructor(
    source: string,
    private readonly algebra: Algebra<Value>,
  ) {
    this.tokens = tokenize(source);
    if (this.tokens.length === 1) throw invalid('The expression is empty: write one such as 17.5% * 2340.');
  }

  /** The value of the whole text. Throws INVALID_ARGUMENT at the first ambiguous or invalid part. */
  evaluate(): Value {
    const value = this.sum().value;
    this.expectEnd();
    return value;
  }

  /** Both sides of an equation. */
  evaluateSides(): [Value, Value] {
    const left = this.sum().value;
    if (this.next.text !== '=') throw invalid('Write one equation with one "=", such as 2*x + 3 = 7.');
    this.take();
    const right = this.sum().value;
    this.expectEnd();
    return [left, right];
  }

  /** How it was interpreted, in one spelling. */
  get reading(): string {
    return this.written
      .join(' ')
      .replace(/([(]) /g, '$1')
      .replace(/ ([),!°])/g, '$1')
      .replace(/(?<![\w)] )([A-Za-z]\w*) \(/g, '$1(')
      .replace(/ \^ /g, '^')
      .replace(/(^|[(^]|[-+*/,=%] )- /g, '$1-');
  }

  private get next(): ArithmeticToken {
    return this.tokens[this.at]!;
  }
  private take(): ArithmeticToken {
    const token = this.next;
    this.at += 1;
    this.written.push(token.text);
    return token;
  }
  private takeIf(text: string): boolean {
    if (this.next.kind !== 'sign' || this.next.text !== text) return false;
    this.take();
    return true;
  }
  private expectEnd(): void {
    const { kind, text } = this.next;
    if (kind === 'end') return;
    if (text === '=') throw invalid('Only one "=" is allowed, and only in solve_equation.');
    throw invalid(`${quoted(text)} does not follow from what is before it: an operator is missing, or there is a parenthesis too many.`);
  }
  private nested<Result>(read: () => Result): Result {
    this.depth += 1;
    if (this.depth > deepest) throw tooLarge(`The expression is nested more than ${deepest} levels deep.`);
    const result = read();
    this.depth -= 1;
    return result;
  }

  private sum(): Operand<Value> {
    let left = this.product();
    while (this.next.kind === 'sign' && (this.next.text === '+' || this.next.text === '-')) {
      const plus = this.take().text === '+';
      const right = this.product();
      if (right.percent && !left.percent && !left.one) {
        const sign = plus ? '+' : '-';
        throw invalid(
          `"${sign} p%" after a number has two readings: write a * (1 ${sign} p%) to change a by p per cent, or a ${sign} (p/100) for the plain number.`,
        );
      }
      const value = plus ? this.algebra.add(left.value, right.value) : this.algebra.subtract(left.value, right.value);
      left = { value, percent: left.percent && right.percent, closed: true };
    }
    return left;
  }

  private product(): Operand<Value> {
    let left = this.signed();
    for (;;) {
      const { kind, text } = this.next;
      if (kind === 'sign' && (text === '*' || text === '/' || text === '%')) {
        this.take();
        const right = this.signed();
        const operation = text === '*' ? 'multiply' : text === '/' ? 'divide' : 'modulo';
        left = { value: this.algebra[operation](left.value, right.value), percent: false, closed: text !== '*' || right.closed };
      } else if (kind === 'name' && (text === 'of' || text === 'mod')) {
        this.take();
        const right = this.signed();
        left = { value: this.algebra[text === 'of' ? 'multiply' : 'modulo'](left.value, right.value), percent: false, closed: true };
      } else if (kind === 'name' || (kind === 'sign' && text === '(')) {
        if (left.closed) throw invalid(`Before ${quoted(text)} a sign is missing, and two readings are possible: write * and parentheses.`);
        this.written.push('*');
        const right = this.signed();
        left = { value: this.algebra.multiply(left.value, right.value), percent: false, closed: right.closed };
      } else return left;
    }
  }

  private signed(): Operand<Value> {
    return this.nested(() => {
      if (this.takeIf('+')) return this.signed();
      if (!this.takeIf('-')) return this.power();
      const operand = this.signed();
      return { ...operand, value: this.algebra.negate(operand.value) };
    });
  }

  private power(): Operand<Value> {
    const base = this.postfix();
    if (!this.takeIf('^')) return base;
    const exponent = this.signed();
    return { value: this.algebra.power(base.value, exponent.value), percent: false, closed: true };
  }

  private postfix(): Operand<Value> {
    let operand = this.atom();
    for (;;) {
      if (this.takeIf('!')) {
        if (this.next.text === '!') throw invalid('"!!" has two readings: write (n!)! or the product of the double factorial.');
        operand = { value: this.algebra.factorial(operand.value), percent: false, closed: true };
      } else if (this.takeIf('°')) operand = { value: this.algebra.degrees(operand.value), percent: false, closed: true };
      else if (this.next.text === '%' && !this.startsOperand(this.tokens[this.at + 1]!)) {
        this.take();
        operand = { value: this.algebra.divide(operand.value, this.algebra.number(Rational.of(100))), percent: true, closed: true };
      } else return operand;
    }
  }
  /** If a number, name or parenthesis follows the `%`, it is a remainder. */
  private startsOperand({ kind, text }: ArithmeticToken): boolean {
    return kind === 'number' || (kind === 'name' && text !== 'of' && text !== 'mod') || text === '(';
  }

  private atom(): Operand<Value> {
    const token = this.next;
    if (token.kind === 'number')
      return { value: this.algebra.number(readDecimal(this.take().text)), percent: false, closed: false, one: token.text === '1' };
    if (token.kind === 'name') return this.named();
    if (this.takeIf('(')) {
      const { value, percent } = this.nested(() => this.sum());
      if (!this.takeIf(')')) throw invalid('A closing parenthesis is missing.');
      return { value, percent, closed: false };
    }
    if (token.kind === 'end') throw invalid('The expression ends where a number was expected.');
    throw invalid(`A number was expected before ${quoted(token.text)}.`);
  }

  private named(): Operand<Value> {
    const { text: name } = this.take();
    if (!this.algebra.isFunction(name)) {
      const value = this.algebra.name(name);
      if (value === null) throw invalid(`${quoted(name)} is not a function, constant or variable here.`);
      return { value, percent: false, closed: false };
    }
    // √2 and sqrt 2 take the one operand that follows.
    if (name === 'sqrt' && this.next.text !== '(')
      return { value: this.algebra.call(name, [this.postfix().value]), percent: false, closed: true };
    if (!this.takeIf('(')) throw invalid(`${name} is a function: write ${name}(…).`);
    const args = this.nested(() => this.callArguments());
    if (!this.takeIf(')')) throw invalid(`${name}( … has no closing parenthesis.`);
    return { value: this.algebra.call(name, args), percent: false, closed: false };
  }

  private callArguments(): Value[] {
    if (this.next.text === ')') return [];
    this.splitListedNumbers();
    const args: Value[] = [];
    do {
      args.push(this.sum().value);
    } while (this.takeIf(','));
    return args;
  }

  /** Between the parentheses of a function a comma separates arguments: gcd(12,180) has two. Only 1,000 could be meant otherwise. */
  private splitListedNumbers(): void {
    for (let depth = 0, index = this.at; index < this.tokens.length; index += 1) {
      const token = this.tokens[index]!;
      if (token.text === '(') depth += 1;
      if (token.text === ')' && (depth -= 1) < 0) return;
      if (token.kind !== 'number' || !token.text.includes(',') || depth > 0) continue;
      const parts = token.text.split(',');
      if (parts.slice(1).some((part) => thousands.test(part))) {
        throw invalid(`${quoted(token.text)} inside a function has two readings: write it without the comma, or a space after the comma.`);
      }
      const split = parts.flatMap((part, position): ArithmeticToken[] => [
        ...(position > 0 ? [{ kind: 'sign' as const, text: ',', at: token.at }] : []),
        { kind: 'number', text: part, at: token.at },
      ]);
      this.tokens.splice(index, 1, ...split);
    }
  }
}
