import * as z from 'zod';
import { readInteger } from '../numbers/read-number.js';
import { invalid, quoted } from '../refusal.js';
import { defineTool } from '../tool.js';

const signs = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
] as const;

const romanOf = (value: number): string => {
  let [rest, text] = [value, ''];
  for (const [sign, worth] of signs) for (; rest >= worth; rest -= worth) text += sign;
  return text;
};

/** By sign and place; only the canonical spelling is valid, so the value is written again and compared. */
function numberOf(roman: string): number {
  let [value, at] = [0, 0];
  for (const [sign, worth] of signs) for (; roman.startsWith(sign, at); at += sign.length) value += worth;
  if (at !== roman.length || value > 3_999 || romanOf(value) !== roman)
    throw invalid(
      `${quoted(roman)} is not a Roman numeral in the usual spelling${value > 0 && value < 4_000 && at === roman.length ? `; ${value} is ${romanOf(value)}` : ''}.`,
    );
  return value;
}

export const romanNumeral = defineTool({
  name: 'roman_numeral',
  title: 'Roman numerals',
  description: 'Converts a whole number from 1 to 3999 to a Roman numeral, or a Roman numeral to a number.',
  input: { value: z.union([z.number(), z.string()]).describe('such as 1994 or "MCMXCIV"') },
  output: { number: z.int(), roman: z.string() },
  run({ value }) {
    if (typeof value === 'string' && /^[ivxlcdm]+$/i.test(value.trim()) && value.length < 40) {
      const roman = value.trim().toUpperCase();
      return { number: numberOf(roman), roman };
    }
    const number = readInteger(value, 'value');
    if (number < 1n || number > 3_999n) throw invalid('Roman numerals go from 1 to 3999.');
    return { number: Number(number), roman: romanOf(Number(number)) };
  },
});
