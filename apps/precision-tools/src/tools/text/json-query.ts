// Programs that compile this file as part of another project do not see the declaration otherwise.
// eslint-disable-next-line @typescript-eslint/triple-slash-reference
/// <reference path="./jmespath.d.ts" />
import jmespath, { type Node } from 'jmespath';
import * as z from 'zod';
import { invalid, tooLarge } from '../refusal.js';
import { defineTool, longTextChars } from '../tool.js';

const deepest = 200;

/**
 * Numbers of a JSON text that a double rounds. Throws LIMIT_EXCEEDED for deep nesting: a text of brackets must not reach code that
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

/** True for a number with more digits than a double can hold. */
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
function readJson(text: string): { value: unknown; inexactNumbers: string[] } {
  const inexactNumbers = inexactNumbersOf(text);
  try {
    const value: unknown = JSON.parse(text, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.assign(Object.create(null) as object, inner) : inner,
    );
    return { value, inexactNumbers };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid(`json_str is not JSON: ${error.message.slice(0, 200)}.`);
  }
}

const longestPath = 1_000;
/** Limit of what an expression may build: the characters of the JSON text times how often it may copy them. */
const mostWork = 20_000_000;
const largestResult = { values: 50_000, chars: 200_000 };

/**
 * How often an expression may copy its input: a multi-select of n parts copies it n times, and stages multiply. Without a limit,
 * `[@,@]|[@,@]|…` doubles it at each step.
 */
function growthOf(node: unknown): number {
  if (Array.isArray(node)) return node.reduce((product: number, inner) => product * growthOf(inner), 1);
  if (typeof node !== 'object' || node === null) return 1;
  const { type, name, value, children = [] } = node as Node;
  if (type === 'Literal') return 1;
  if (type === 'Function' && name === 'join' && (children[0] ?? undefined)?.type !== 'Literal')
    throw invalid('join takes a literal separator, such as join(`", "`, @).');
  const parts = [...children, ...(type === 'KeyValuePair' ? [value] : [])].map(growthOf);
  if (type.startsWith('MultiSelect')) return parts.reduce((sum, part) => sum + part, 0);
  return parts.reduce((product, part) => product * part, 1);
}

function compile(path: string): Node {
  if (path.length > longestPath) throw tooLarge(`The path may have ${longestPath} characters.`);
  try {
    return jmespath.compile(path);
  } catch (error) {
    throw unreadable(error);
  }
}

const unreadable = (error: unknown): Error => {
  if (error instanceof RangeError) return tooLarge('The path is nested too deeply, or its result is too large.');
  const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
  return invalid(`The JMESPath expression fails: ${reason}. Examples: items[0].name, items[?price > \`10\`].name, length(items), keys(@).`);
};

/** Refuses a result that is too large to return; shared parts are counted as often as they would be written. */
function checkResult(result: unknown): void {
  let [values, chars] = [0, 0];
  const open: { value: unknown; depth: number }[] = [{ value: result, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    values += 1;
    if (typeof value === 'string') chars += value.length;
    if (values > largestResult.values || chars > largestResult.chars || depth > 500)
      throw tooLarge('The result is too large to return: ask for a part of it, or for length(…).');
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        chars += Array.isArray(value) ? 0 : key.length;
        open.push({ value: inner, depth: depth + 1 });
      }
  }
}

export const jsonQuery = defineTool({
  name: 'json_query',
  title: 'JSON query',
  description:
    'Reads values out of a JSON text with a JMESPath expression: paths, filters, projections, length, sum, sort_by. Use it instead of reading long JSON yourself.',
  input: {
    json_str: z.string().describe('a JSON text'),
    path: z.string().min(1).describe('JMESPath, such as "items[0].name", "items[?price > `10`].name", "length(items)"'),
  },
  output: {
    found: z.boolean().describe('false when the expression gave null'),
    result: z.unknown().describe('any JSON value'),
    inexact_numbers: z.array(z.string()).describe('numbers of the text with more digits than a double keeps; in `result` they are rounded'),
  },
  limits: { argumentChars: longTextChars },
  run({ json_str, path }) {
    const expression = compile(path);
    if (growthOf(expression) * json_str.length > mostWork)
      throw tooLarge('The expression would copy this JSON too often: use fewer multi-selects or a shorter text.');
    const { value, inexactNumbers } = readJson(json_str);
    let result: unknown;
    try {
      result = jmespath.search(value, path);
    } catch (error) {
      throw unreadable(error);
    }
    checkResult(result);
    return { found: result !== null && result !== undefined, result: result ?? null, inexact_numbers: inexactNumbers };
  },
});
