import { askingSentences, longestRequest } from '../answering/question.js';
import { expressionIn } from './arithmetic.js';
import { calendarCall, weekdays, yesNo } from './calendar-answers.js';
import { calendarIn } from './calendar.js';
import { currencies, listedIn, needsRate, type ListedCall } from './lists.js';
import { languageIn, type Language } from './numerals.js';
import { type Calculation, text, type ToolResult } from './calculation.js';
import { withoutTypos } from './typos.js';
import { conversionIn } from './units.js';

/** The calculations that a request asks for, sentence by sentence. */
export interface WantedCalculations {
  readonly calculations: readonly Calculation[];
  /** The questions of the same request that documents may answer; null if there is none. */
  readonly rest: string | null;
  /** Why nothing may be calculated; null otherwise. */
  readonly refusal: string | null;
}

const always = (): boolean => true;
/** A number as people read it: an exact fraction with its decimals, and long decimals shortened to 12 digits. */
function figure(result: ToolResult): string | null {
  const exact = text(result, 'result');
  if (exact === null) return null;
  const decimal = text(result, 'decimal');
  if (!exact.includes('/') || decimal === null) return shorter(exact);
  const short = shorter(decimal);
  return `${exact} (${short === decimal ? '' : 'about '}${short})`;
}
const shorter = (number: string): string => {
  const [, whole = '', part = ''] = /^(-?\d+)\.(\d+)$/.exec(number) ?? [];
  if (part.length <= 12) return number;
  const shown = Number(number).toPrecision(12);
  return /e/i.test(shown) || whole.replace('-', '').length > 11 ? number : String(Number(shown));
};

/** An expression in one spelling, for comparison. */
const signs = (expression: string): string =>
  expression
    .replace(/\s+/g, '')
    .replace(/[×⋅·]/g, '*')
    .replace(/÷/g, '/')
    .replace(/[−–]/g, '-')
    .replace(/\*\*/g, '^')
    .replace(/√/g, 'sqrt')
    .replace(/π/g, 'pi')
    .replace(/sqrt(\d+(?:\.\d+)?)/g, 'sqrt($1)');

/** The currency of all amounts of a question; empty if it names none or several. */
function currencyIn(question: string): string {
  const found = currencies.filter(([sign]) => new RegExp(sign.source, 'iu').test(question));
  return found.length === 1 ? ` ${found[0]![1]}` : '';
}
const withoutCurrency = (question: string): string =>
  currencyIn(question) === '' ? question : currencies.reduce((so, [sign]) => so.replace(sign, ' '), question);

function sum(question: string): Calculation | null {
  const expression = expressionIn(withoutCurrency(question), languageIn(question));
  return expression === null ? null : calculated(expression, currencyIn(question));
}
const calculated = (expression: string, currency = ''): Calculation => ({
  tool: 'calculate',
  args: { expression },
  about: expression,
  fits: (result) => text(result, 'interpreted') === null || signs(text(result, 'interpreted')!) === signs(expression),
  says: (result) => {
    const found = figure(result);
    return found === null ? null : `${expression} = ${found}${currency}`;
  },
});

function conversion(question: string): Calculation | null {
  const found = conversionIn(question);
  if (!found) return null;
  const { value, from_unit, to_unit } = found;
  return {
    tool: 'unit_convert',
    args: { ...found },
    about: `${value} ${from_unit} in ${to_unit}`,
    fits: (result) => text(result, 'from_unit') === from_unit && text(result, 'to_unit') === to_unit,
    says: (result) => {
      // A person wants decimals, not 91250/1143 yd.
      const decimal = text(result, 'decimal') ?? text(result, 'result');
      const converted = decimal === null ? null : `${shorter(decimal) === decimal ? '' : 'about '}${shorter(decimal)}`;
      const notes = Array.isArray(result['notes']) ? result['notes'].filter((note): note is string => typeof note === 'string') : [];
      return converted === null
        ? null
        : `${value} ${from_unit} = ${converted} ${to_unit}${notes.length > 0 ? ` (${notes.join(' ').replace(/\.$/, '')})` : ''}`;
    },
  };
}

function calendar(question: string): Calculation | null {
  const call = calendarIn(question);
  if (!call) return null;
  const language = languageIn(question);
  const named = (weekday: string | null): string => weekdays[language][weekdays.en.indexOf(weekday ?? '')] ?? weekday ?? '';
  const { args, says, fits = always } = calendarCall(call, language, named);
  return { tool: call.tool, args, says, fits, about: question.trim().replace(/[?.!]+$/, '') };
}

function listed(question: string): Calculation | null {
  const call = listedIn(question);
  if (!call) return null;
  const { tool, args, asks } = call;
  const currency = asks === 'amount' ? currencyIn(question) : '';
  const about = tool === 'calculate' ? String(args['expression']) : question.trim().replace(/[?.!]+$/, '');
  const fits =
    tool === 'calculate'
      ? calculated(about).fits
      : tool === 'prime_factorize'
        ? (result: ToolResult) => text(result, 'n') === args['n']
        : always;
  return { tool, args, about, fits, says: (result) => listedSays(call, result, currency, languageIn(question)) };
}

function listedSays({ tool, args, asks }: ListedCall, result: ToolResult, currency: string, language: Language): string | null {
  switch (tool) {
    case 'calculate': {
      const found = figure(result);
      return found === null ? null : `${String(args['expression'])} = ${found}${asks === 'percent' ? '%' : currency}`;
    }
    case 'decimal_finance': {
      const found = text(result, 'result');
      if (found === null) return null;
      const parts = Object.entries((result['parts'] ?? {}) as Record<string, string>).map(
        ([name, value]) => `${name.replaceAll('_', ' ')} ${value}`,
      );
      const more = parts.length > 0 ? ` (${parts.join(', ')})` : '';
      return asks === 'percent' ? `${found.replace(/\.00$/, '')}%` : `${found}${currency}${more}`;
    }
    case 'probability':
      return figure(result);
    case 'statistics_calc': {
      const results = Array.isArray(result['results']) ? (result['results'] as ToolResult[]) : [];
      const shown = results.map((one) => {
        const value = figure(one) ?? '';
        const operation = text(one, 'operation') ?? '';
        return results.length === 1
          ? `${asks}: ${value}`
          : operation.startsWith('population')
            ? `${value} (of the whole population)`
            : `${value} (of a sample)`;
      });
      return shown.length === 0
        ? null
        : results.length === 1
          ? shown[0]!
          : `${asks === 'stdev' ? 'standard deviation' : asks}: ${shown.join('; ')}`;
    }
    case 'gcd_lcm': {
      const found = text(result, asks);
      return found === null ? null : `${asks}(${String(args['a'])}, ${String(args['b'])}) = ${found}`;
    }
    case 'prime_factorize': {
      const is = result['is_prime'];
      if (typeof is !== 'boolean') return null;
      const factors = text(result, 'factorization');
      if (asks === 'factors') return `${String(args['n'])} = ${factors}`;
      return is ? `${yesNo[language][0]}: ${String(args['n'])} is prime` : `${yesNo[language][1]}: ${String(args['n'])} = ${factors}`;
    }
    case 'roman_numeral':
      return `${text(result, 'number')} = ${text(result, 'roman')}`;
    case 'text_analyze': {
      const many = text(result, 'occurrences');
      return many === null ? null : `“${String(args['find'])}” occurs ${many} times in “${String(args['text'])}”`;
    }
    case 'solve_equation': {
      const solutions = Array.isArray(result['solutions']) ? (result['solutions'] as ToolResult[]) : [];
      if (result['kind'] === 'no_solution') return `${String(args['equation'])} has no solution`;
      if (result['kind'] === 'every_value') return `${String(args['equation'])} holds for every ${asks}`;
      const values = solutions.flatMap((one) => {
        const value = text(one, 'value');
        const decimal = text(one, 'decimal');
        return value === null ? [] : [value === decimal || decimal === null ? value : `${value} (about ${shorter(decimal)})`];
      });
      return values.length === 0 ? null : `${asks} = ${values.join(` or ${asks} = `)}`;
    }
  }
}

const readers = [conversion, calendar, listed, sum] as const;

/** Greetings, thanks and similar sentences around a question. */
const courtesy =
  /^(?:hi|hello|hey|hallo|good (?:morning|day|evening|afternoon)|guten (?:tag|morgen|abend)|thanks|thank you|danke|please|bitte|merci|gracias|quick (?:question|one)|one more|ok(?:ay)?|great|cool|cheers|bonjour|salut|hola)[\s!.,a-zäöüßñéè]{0,20}$/iu;

function readOne(sentence: string): Calculation | null {
  for (const reader of readers) {
    const found = reader(sentence);
    if (found) return found;
  }
  return null;
}

/** Most calculations of one request. */
const most = 8;
const noRate =
  'An amount in another currency needs an exchange rate of a certain day. No tool here has one, so nothing was calculated. Ask with the rate instead: “150 * 0.92”.';

/**
 * What a request asks to be calculated; null if it asks for no calculation. Reads strictly: a question with a single word that occurs in
 * no form of calculation is left to the documents.
 */
export function askedIn(request: string): WantedCalculations | null {
  if (request.length > longestRequest) return null;
  const whole = readOne(request) ?? readOne(withoutTypos(request));
  if (whole) return { calculations: [whole], rest: null, refusal: null };
  // "5 + 7 and 6 * 3": two sums, each of them whole.
  const both = request.length > 200 ? [] : request.split(/\s+(?:and|und|et|y)\s+/iu).map(sum);
  if (both.length > 1 && both.every((one) => one !== null)) return { calculations: both, rest: null, refusal: null };
  if (needsRate(request) && request.length <= 200) return { calculations: [], rest: null, refusal: noRate };
  const sentences = askingSentences(request).filter((sentence) => !courtesy.test(sentence));
  if (sentences.length === 0 || sentences.length > most) return null;
  const read = sentences.map((sentence) => readOne(sentence) ?? readOne(withoutTypos(sentence)));
  const calculations = read.filter((one) => one !== null);
  const others = sentences.filter((_sentence, at) => read[at] === null);
  // A sentence that is not a question may explain the numbers of the next one.
  if (calculations.length === 0 || !others.every((sentence) => sentence.endsWith('?'))) return null;
  return { calculations, rest: others.length === 0 ? null : others.join(' '), refusal: null };
}

/** A numbered fact of a prompt, which may contain a tool's result. */
export interface Told {
  readonly n: number;
  readonly text: string;
  /** Title of its source. */
  readonly title: string;
}

/**
 * The answers with the numbers of their facts, one for each calculation; null if no result belongs to it. Results that do not repeat
 * their arguments are assigned in order, and only if the tool has as many results as calls.
 */
export function answersOf({ calculations }: WantedCalculations, facts: readonly Told[]): readonly (string | null)[] {
  const results = facts.flatMap((fact) => {
    const result = resultOf(fact);
    return result ? [{ ...fact, result }] : [];
  });
  const taken = new Set<number>();
  return calculations.map((calculation) => {
    const isOne = ({ title, result }: (typeof results)[number]): boolean =>
      isOfTool(title, calculation.tool, result) && calculation.fits(result);
    const same = calculations.filter(({ tool }) => tool === calculation.tool).length;
    if (calculation.fits === always && results.filter(({ title, result }) => isOfTool(title, calculation.tool, result)).length !== same)
      return null;
    const found = results.find((one) => !taken.has(one.n) && isOne(one)) ?? results.find(isOne);
    if (!found) return null;
    taken.add(found.n);
    const said = calculation.says(found.result);
    return said === null ? null : `${said} [${found.n}]`;
  });
}

/** Symbolic mathematics evaluates expressions too. */
const isOfTool = (title: string, tool: string, result: ToolResult): boolean =>
  title === tool || title.endsWith(`.${tool}`) || title.endsWith(`/${tool}`) || (tool === 'calculate' && result['symbolic'] === true);

/** The JSON of a tool, or `evaluate 17*23: 391 (decimal: 391.0)` of the symbolic mathematics. */
function resultOf({ text: said }: Told): ToolResult | null {
  const [open, end] = [said.indexOf('{'), said.lastIndexOf('}')];
  if (open >= 0 && end > open) {
    try {
      const value = JSON.parse(said.slice(open, end + 1)) as unknown;
      return typeof value === 'object' && value !== null ? (value as ToolResult) : null;
    } catch {
      // A sentence with braces.
      return null;
    }
  }
  const [, expression, result, decimal] = /^evaluate (.+): (-?[\d.,/ ]+?)(?:\s+\(decimal: ([^)]*)\))?$/.exec(said.trim()) ?? [];
  return expression && result ? { interpreted: expression, result: result.trim(), ...(decimal ? { decimal } : {}), symbolic: true } : null;
}
