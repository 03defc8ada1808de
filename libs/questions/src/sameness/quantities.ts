import type { ComparedText, ComparedToken } from './reading.js';
import { pair } from './small-words.js';

/** Differences between numbers, dates and units. */
export function quantityDifferences(first: ComparedText, second: ComparedText): readonly string[] {
  const differences: string[] = [];
  for (const kind of ['number', 'date'] as const) {
    const [left, right] = [quantities(first, kind), quantities(second, kind)];
    if (left.join('|') !== right.join('|')) differences.push(pair(kind, left, right));
  }
  const [leftUnits, rightUnits] = [unitsOf(first), unitsOf(second)];
  const isPart = (part: readonly string[], whole: readonly string[]): boolean => part.every((unit) => whole.includes(unit));
  if (!isPart(leftUnits, rightUnits) || !isPart(rightUnits, leftUnits)) differences.push(pair('unit', leftUnits, rightUnits));
  // "Convert dollars to euros" and "convert euros to dollars".
  else if (bareUnitsOf(first) !== bareUnitsOf(second)) differences.push('order');
  const [leftAsked, rightAsked] = [askedTimeUnits(first), askedTimeUnits(second)];
  if (leftAsked !== rightAsked && leftAsked !== '' && rightAsked !== '') differences.push(pair('unit', [leftAsked], [rightAsked]));
  return differences;
}

/** Numbers in order with their units, dates in any order. */
function quantities({ tokens }: ComparedText, kind: 'number' | 'date'): readonly string[] {
  const found: string[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== kind) return;
    const unit = [tokens[index + 1], tokens[index - 1], tokens[index + 2]].find(
      (near) =>
        near?.value.startsWith('unit:') &&
        (near === tokens[index + 1] || /^[$€£¥]$/u.test(near.text) || /^(?:°|degrees?|grad)$/u.test(tokens[index + 1]?.value ?? '')),
    );
    found.push(kind === 'number' && unit ? `${token.value} ${unit.value.slice(5)}` : token.value);
  });
  return kind === 'date' ? found.sort() : found;
}

const asksUnit = new Set(['which', 'what', 'many', 'viele', 'welchem', 'welcher', 'welches', 'welchen', 'in']);
const timeUnits = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year'].map((unit) => `unit:${unit}`));
/** "How many minutes", "in which year": the unit only names the measure of the answer, and another wording omits it. */
const isAskedTime = (tokens: readonly ComparedToken[], index: number): boolean =>
  timeUnits.has(tokens[index]!.value) && asksUnit.has(tokens[index - 1]?.value ?? '');
const unitsAmong = ({ tokens }: ComparedText, isWanted: (index: number) => boolean): readonly string[] => [
  ...new Set(tokens.flatMap(({ value }, index) => (value.startsWith('unit:') && isWanted(index) ? [value.slice(5)] : []))),
];
const unitsOf = (reading: ComparedText): readonly string[] => unitsAmong(reading, (index) => !isAskedTime(reading.tokens, index));
/** Units without a number, in their order. */
const bareUnitsOf = (reading: ComparedText): string =>
  unitsAmong(
    reading,
    (index) => ![-1, 1].some((step) => reading.tokens[index + step]?.kind === 'number') && !isAskedTime(reading.tokens, index),
  ).join(' ');
const askedTimeUnits = (reading: ComparedText): string =>
  [...unitsAmong(reading, (index) => isAskedTime(reading.tokens, index))].sort().join(' ');
