import * as z from 'zod';
import { exactText, fixedDecimal, roundedDecimal } from '../numbers/decimal-text.js';
import { numberArgument, readNumber } from '../numbers/read-number.js';
import { Rational } from '../numbers/rational.js';
import { roundings, roundTo } from '../numbers/rounding.js';
import { invalid } from '../refusal.js';
import { defineTool } from '../tool.js';

const operations = [
  'round',
  'percent_of',
  'percent_change',
  'add_tax',
  'remove_tax',
  'discount',
  'simple_interest',
  'compound_interest',
  'present_value',
  'annuity_payment',
  'net_present_value',
] as const;
type Operation = (typeof operations)[number];

const mostPeriods = 1_200;
const hundred = Rational.of(100);

/** The arguments of an operation, read on demand: a missing one is reported with the operation that needs it. */
interface Given {
  amount(): Rational;
  rate(): Rational;
  second(): Rational;
  periods(): number;
  perYear(): Rational;
  flows(): Rational[];
}

interface Answer {
  value: Rational;
  formula: string;
  /** Further figures, rounded like the result. */
  parts?: Record<string, Rational>;
}

const grown = (rate: Rational, periods: number): Rational => Rational.one.add(rate).power(BigInt(periods));

const compute: Record<Operation, (given: Given) => Answer> = {
  round: (given) => ({ value: given.amount(), formula: 'amount' }),
  percent_of: (given) => ({ value: given.amount().multiply(given.rate()), formula: 'amount * rate' }),
  percent_change(given) {
    const [from, to] = [given.amount(), given.second()];
    if (from.sign === 0) throw invalid('A change from 0 has no percentage.');
    return { value: to.subtract(from).divide(from.abs()).multiply(hundred), formula: '(second_amount - amount) / |amount| * 100' };
  },
  add_tax(given) {
    const tax = given.amount().multiply(given.rate());
    return { value: given.amount().add(tax), formula: 'amount * (1 + rate)', parts: { tax } };
  },
  remove_tax(given) {
    const net = given.amount().divide(Rational.one.add(given.rate()));
    return { value: net, formula: 'amount / (1 + rate)', parts: { tax: given.amount().subtract(net) } };
  },
  discount(given) {
    const saved = given.amount().multiply(given.rate());
    return { value: given.amount().subtract(saved), formula: 'amount * (1 - rate)', parts: { saved } };
  },
  simple_interest(given) {
    const interest = given.amount().multiply(given.rate()).multiply(Rational.of(given.periods())).divide(given.perYear());
    return { value: given.amount().add(interest), formula: 'amount * (1 + rate * periods / periods_per_year)', parts: { interest } };
  },
  compound_interest(given) {
    const value = given.amount().multiply(grown(given.rate().divide(given.perYear()), given.periods()));
    return { value, formula: 'amount * (1 + rate / periods_per_year)^periods', parts: { interest: value.subtract(given.amount()) } };
  },
  present_value(given) {
    const value = given.amount().divide(grown(given.rate().divide(given.perYear()), given.periods()));
    return { value, formula: 'amount / (1 + rate / periods_per_year)^periods' };
  },
  annuity_payment(given) {
    const [rate, periods] = [given.rate().divide(given.perYear()), given.periods()];
    if (periods === 0) throw invalid('periods must be 1 or more.');
    const value =
      rate.sign === 0
        ? given.amount().divide(Rational.of(periods))
        : given
            .amount()
            .multiply(rate)
            .divide(Rational.one.subtract(Rational.one.divide(grown(rate, periods))));
    const total = value.multiply(Rational.of(periods));
    return {
      value,
      formula: 'amount * i / (1 - (1 + i)^-periods) with i = rate / periods_per_year, paid at the end of each period',
      parts: { total_paid: total, total_interest: total.subtract(given.amount()) },
    };
  },
  net_present_value(given) {
    const growth = Rational.one.add(given.rate().divide(given.perYear()));
    // Horner from the last flow, so that no power is computed twice.
    const value = given.flows().reduceRight((later, flow) => later.divide(growth).add(flow), Rational.zero);
    return { value, formula: 'sum of cash_flows[t] / (1 + rate / periods_per_year)^t, t from 0' };
  },
};

export const decimalFinance = defineTool({
  name: 'decimal_finance',
  title: 'Money in decimals',
  description:
    'Money calculations in exact decimals with stated rounding: percentages, tax, discounts, simple and compound interest, present value, loan payments (annuity), net present value. Use it for every amount of money.',
  input: {
    operation: z.enum(operations),
    amount: numberArgument('the amount: price, principal, loan, or future amount').optional(),
    second_amount: numberArgument('the new amount of percent_change').optional(),
    rate_percent: numberArgument('the rate in per cent, per year for interest: 4.5 means 4.5 %').optional(),
    periods: z.int().min(0).max(mostPeriods).optional().describe('number of periods (payments, compoundings)'),
    periods_per_year: z.int().min(1).max(366).default(1).describe('12 for months'),
    cash_flows: z
      .array(z.union([z.number(), z.string()]))
      .max(mostPeriods)
      .optional()
      .describe('of net_present_value; the first is at time 0'),
    decimals: z.int().min(0).max(12).default(2).describe('decimal places of the result'),
    rounding: z.enum(roundings).default('half_up').describe('half_up: ties away from zero; half_even: bankers’ rounding'),
  },
  output: {
    result: z.string().describe('rounded once, at the end'),
    unrounded: z.string().describe('exact, or to 30 significant digits'),
    parts: z
      .record(z.string(), z.string())
      .describe(
        'further figures such as tax or interest; tax, saved and interest add up with the rounded result, totals are of the unrounded payment',
      ),
    formula: z.string(),
    rounding: z.enum(roundings),
    decimals: z.int(),
  },
  run({ operation, rate_percent, amount, second_amount, periods, periods_per_year, cash_flows, decimals, rounding }) {
    const needed = <Value>(value: Value | undefined, name: string): Value => {
      if (value === undefined) throw invalid(`${operation} needs "${name}".`);
      return value;
    };
    const given: Given = {
      amount: () => readNumber(needed(amount, 'amount'), 'amount'),
      second: () => readNumber(needed(second_amount, 'second_amount'), 'second_amount'),
      rate() {
        const written = needed(rate_percent, 'rate_percent');
        const read = readNumber(written, 'rate_percent');
        const rate = typeof written === 'string' && written.trim().endsWith('%') ? read : read.divide(hundred);
        if (rate.compare(Rational.of(-1)) <= 0) throw invalid('rate_percent must be above -100.');
        return rate;
      },
      periods: () => needed(periods, 'periods'),
      perYear: () => Rational.of(periods_per_year),
      flows: () => needed(cash_flows, 'cash_flows').map((flow, i) => readNumber(flow, `cash_flows[${i}]`)),
    };
    const { value, formula, parts = {} } = compute[operation](given);
    const rounded = (figure: Rational): Rational => roundTo(figure, decimals, rounding);
    const exact = exactText(value);
    const shown = Object.entries(parts).map(([name, figure]) => {
      const settled = adjusted(operation, name, figure, rounded(value), given);
      return [name, fixedDecimal(settled, decimals, rounding)] as const;
    });
    return {
      result: fixedDecimal(value, decimals, rounding),
      unrounded: exact.length <= 60 && !exact.includes('/') ? exact : roundedDecimal(value),
      parts: Object.fromEntries(shown),
      formula,
      rounding,
      decimals,
    };
  },
});

/** Parts are the difference of rounded figures, so that net and tax add up to gross; totals are based on the unrounded payment. */
function adjusted(operation: Operation, name: string, figure: Rational, result: Rational, given: Given): Rational {
  if (operation === 'annuity_payment') return figure;
  const difference = result.subtract(given.amount());
  return name === 'tax' || name === 'saved' ? difference.abs() : difference;
}
