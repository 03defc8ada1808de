/**
 * Floating-point value of a real expression in result notation: for tests, so it shares no code with what it checks. Throws an Error for
 * anything it does not know. `at`: name -> value.
 */
export function valueOf(text: string, at: Readonly<Record<string, number>> = {}): number {
  const tokens = text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_]\w*|\*\*|\S/g) ?? [];
  let position = 0;
  const take = (sign: string): boolean => tokens[position] === sign && ++position > 0;
  const sum = (): number => {
    let value = product();
    for (;;) {
      if (take('+')) value += product();
      else if (take('-')) value -= product();
      else return value;
    }
  };
  const product = (): number => {
    let value = unary();
    for (;;) {
      if (take('*')) value *= unary();
      else if (take('/')) value /= unary();
      else return value;
    }
  };
  const unary = (): number => (take('-') ? -unary() : take('+') ? unary() : power());
  const power = (): number => {
    const base = primary();
    return take('^') || take('**') ? base ** unary() : base;
  };
  const primary = (): number => {
    const token = tokens[position++];
    if (token === undefined) throw new Error(`${text} ends early.`);
    if (token === '(') {
      const value = sum();
      if (!take(')')) throw new Error(`${text} lacks a bracket.`);
      return value;
    }
    if (/^\d/.test(token)) return Number(token);
    if (Object.hasOwn(at, token)) return at[token]!;
    if (Object.hasOwn(constants, token)) return constants[token]!;
    if (!Object.hasOwn(known, token) || !take('(')) throw new Error(`${token} in ${text} has no value.`);
    const args = [sum()];
    while (take(',')) args.push(sum());
    if (!take(')')) throw new Error(`${text} lacks a bracket.`);
    return known[token]!(...args);
  };
  const value = sum();
  if (position < tokens.length) throw new Error(`${tokens[position]!} in ${text} is not expected.`);
  return value;
}

const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E, infinity: Infinity };
const known: Readonly<Record<string, (...args: number[]) => number>> = {
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  exp: Math.exp,
  ln: Math.log,
  abs: Math.abs,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  cot: (x) => 1 / Math.tan(x),
  sec: (x) => 1 / Math.cos(x),
  csc: (x) => 1 / Math.sin(x),
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
};
