import { invalid, tooLarge } from '../refusal.js';

const deepest = 200;

/**
 * Numbers of a JSON text that a double rounds. Throws LIMIT_EXCEEDED for deep nesting: a text of brackets must not reach what
 * walks a value recursively.
 */
function inexactNumbersOf(text: string): string[] {
  let depth = 0;
  const inexactNumbers: string[] = [];
  const token = /"(?:[^"\\]|\\.)*"?|[[{]|[\]}]|-?\d[\d.eE+-]*/gs;
  for (const [found] of text.matchAll(token)) {
    if (found === '[' || found === '{') {
      if ((depth += 1) > deepest) throw tooLarge(`The JSON is nested more than ${deepest} levels deep.`);
    } else if (found === ']' || found === '}') depth -= 1;
    else if (!found.startsWith('"') && losesDigits(found) && inexactNumbers.length < 20) inexactNumbers.push(found.slice(0, 60));
  }
  return inexactNumbers;
}

/** True for a number with more digits than a double keeps. */
function losesDigits(literal: string): boolean {
  if (literal.replace(/^-/, '').replace('.', '').length <= 15) return false;
  const [digits = '', exponent = '0'] = literal.toLowerCase().replace('-', '').split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const normal = (text: string, power: number): string => {
    const significant = text.replace(/^0+/, '');
    const trimmed = significant.replace(/0+$/, '');
    return trimmed === '' ? '0' : `${trimmed}e${power + significant.length - trimmed.length}`;
  };
  const shortest = Math.abs(Number(literal)).toExponential().replace('+', '');
  const [mantissa = '', power = '0'] = shortest.split('e');
  const [first = '', rest = ''] = mantissa.split('.');
  return normal(whole + fraction, Number(exponent) - fraction.length) !== normal(first + rest, Number(power) - rest.length);
}

/** Objects without a prototype, so that a path such as `constructor` finds nothing that is not in the text. */
export function readJson(text: string): { value: unknown; inexactNumbers: string[] } {
  const inexactNumbers = inexactNumbersOf(text);
  try {
    const value: unknown = JSON.parse(text, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.assign(Object.create(null) as object, inner) : inner,
    );
    return { value, inexactNumbers };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid(`json_str is no JSON: ${error.message.slice(0, 200)}.`);
  }
}
