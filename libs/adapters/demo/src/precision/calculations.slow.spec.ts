import { describe, expect, it } from '@jest/globals';
import { leastProcessorMs } from '@conclave/test-support';
import { answersOf, askedIn } from './calculations.js';

const calls = (question: string): unknown => {
  const asked = askedIn(question);
  return asked?.rest === null ? asked.calculations.map(({ tool, args }) => ({ tool, args })) : asked;
};
const sum = (expression: string): unknown => [{ tool: 'calculate', args: { expression } }];
const unit = (value: string, from_unit: string, to_unit: string): unknown => [
  { tool: 'unit_convert', args: { value, from_unit, to_unit } },
];

/** Written by the project, in the manner of different people. */
describe('what a question asks to be calculated', () => {
  it.each<[string, string]>([
    ['What is eighteen times forty-two?', '18 * 42'],
    ['two hundred and six minus fifty-nine', '206 - 59'],
    ['Was ist dreiundzwanzig mal vier?', '23 * 4'],
    ['Wie viel ist zweihundertfünfzig geteilt durch zehn?', '250 / 10'],
    ['Combien font quatre-vingt-dix moins douze ?', '90 - 12'],
    ['¿Cuánto es treinta y cinco por dos?', '35 * 2'],
    ['3.250,75 + 1,25', '3250.75 + 1.25'],
    ['3,250.75 + 1.25', '3250.75 + 1.25'],
    ['Was sind 19 % von 1.500 €?', '19% of 1500'],
    ['What is 4.5 million divided by 9?', '4500000 / 9'],
    ["What's the product of 6, 7 and 8?", '6 * 7 * 8'],
    ['subtract 17 from 90', '90 - 17'],
    ['difference between 12 and 80', '80 - 12'],
    ['three quarters of 60', '3 / 4 * 60'],
    ['Take 9 times 4, then subtract 6', '(9 * 4) - 6'],
    ['What is the remainder when 250 is divided by 9?', '250 mod 9'],
    ['7 factorial', '7!'],
    ['what is 6 + 6!', '6 + 6'],
    ['wht is 6 * 9', '6 * 9'],
    ['48 is what percent of 320?', '48 / 320 * 100'],
    ['How many ways are there to choose 4 cards from 9?', 'ncr(9, 4)'],
    ['Split a bill of 96.60 between 4 friends', '96.60 / 4'],
    ['How much are 4 apples at $1.25 each and 2 pears at $2?', '4 * 1.25 + 2 * 2'],
  ])('reads a sum: %s', (question, expression) => {
    expect(calls(question)).toEqual(sum(expression));
  });

  it.each<[string, string, string, string]>([
    ['How many centimetres are 3.5 inches?', '3.5', 'in', 'cm'],
    ['6 ft 1 in in cm', '73', 'in', 'cm'],
    ['6\'1" in cm', '73', 'in', 'cm'],
    ['Wie viele Gramm sind 2,5 Unzen?', '2.5', 'oz', 'g'],
    ['-10 C to F', '-10', '°C', '°F'],
    ['how many minutes in a week', '1', 'week', 'min'],
    ['two and a half miles in km', '2.5', 'mi', 'km'],
    ['¿Cuántos litros son 5 galones?', '5', 'gal', 'l'],
    ['55 miles per hour in km/h', '55', 'mph', 'km/h'],
  ])('reads a conversion: %s', (question, value, from, to) => {
    expect(calls(question)).toEqual(unit(value, from, to));
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['Which weekday was 9 March 1987?', 'day_of_week', { date_str: '9 March 1987' }],
    ['Auf welchen Tag fällt der 1.5.2030?', 'day_of_week', { date_str: '1.5.2030' }],
    ['How many days are there between 2021-02-10 and 2021-03-10?', 'date_diff', { date1: '2021-02-10', date2: '2021-03-10' }],
    ['what is the date 30 days before March 15, 2023', 'date_add', { base_date: 'March 15, 2023', days: -30 }],
    ['Is 2200 a leap year?', 'calendar_facts', { year: 2200 }],
    ['How many days did February 1996 have?', 'calendar_facts', { year: 1996 }],
    [
      'If it is 9 pm in Rome on 2 May 2025, what time is it in New York?',
      'timezone_convert',
      { datetime: '2025-05-02T21:00', from_timezone: 'Europe/Rome', to_timezone: 'America/New_York' },
    ],
    ['median of 3, 9, 4 and 10', 'statistics_calc', { data: '3; 9; 4; 10', operations: ['median'] }],
    ['standard deviation of 1, 2, 3', 'statistics_calc', { operations: ['population_stdev', 'stdev'] }],
    ['solve 3x + 4 = 19', 'solve_equation', { equation: '3x + 4 = 19', variable: 'x' }],
    ['Is 97 a prime number?', 'prime_factorize', { n: '97' }],
    ['A coat costs 120 euros and is reduced by 15%. What does it cost?', 'decimal_finance', { operation: 'discount', amount: '120' }],
  ])('reads a question for another tool: %s', (question, tool, args) => {
    expect(calls(question)).toMatchObject([{ tool, args }]);
  });

  it.each([
    'What happened in 1871-1918?',
    'What is 9/11?',
    'What is 24/7?',
    'What is 4-3-3?',
    'What is 555-0142?',
    'What is 2023-04-05?',
    'What is 10.0.0.1/8?',
    'Who lives at 5/7 Mill Street?',
    'Who won 4-1?',
    'How many rooms have 2 beds?',
    'How many days are in 3 weeks of leave?',
    'How many days from 03/04/2020 to 05/06/2020?',
    'What was decided on 9 March 1987?',
    'The room costs 80 euros. What is included?',
    'What is a furlong?',
  ])('leaves everything else to the documents: %s', (question) => {
    expect(askedIn(question)).toBeNull();
  });

  it.each([
    'Two friends sell 6 mugs at $3 each and 8 plates at $2 each and split what they earn. How much does each get?',
    'A train covers 60 miles per hour for 5 hours, a bus 30 miles per hour for 8 hours. How much farther does the train go?',
    'She paid for 4 sweets at $1.50 each and had $15. How much was she left with?',
    'The rope was 10 metres and ended at 8, how much did it cost?',
    'He buys 4 bars that cost $2 each.',
  ])('reads no total where more or less is asked for: %s', (story) => expect(askedIn(story)?.calculations ?? []).toEqual([]));

  it('reads each question of a message by itself, and keeps those for the documents', () => {
    expect(calls('1) 3 + 4\n2) 5 * 6')).toEqual([...(sum('3 + 4') as []), ...(sum('5 * 6') as [])]);
    expect(calls('Hi! What is 12 * 4? And how many km are 5 miles? Thanks!')).toEqual([
      ...(sum('12 * 4') as []),
      ...(unit('5', 'mi', 'km') as []),
    ]);
    expect(askedIn('Who founded the mill? What is 3 * 4?')).toMatchObject({
      rest: 'Who founded the mill?',
      calculations: [{ tool: 'calculate' }],
    });
  });

  it('calculates nothing that needs a rate', () => {
    expect(askedIn('How much are 250 dollars in euros?')).toMatchObject({
      calculations: [],
      refusal: expect.stringContaining('exchange rate'),
    });
  });
});

describe('the answers of tools', () => {
  const told = (n: number, title: string, value: object) => ({ n, title, text: JSON.stringify(value) });
  const asked = askedIn('What is 10 / 4?')!;

  it('are those of their own calls, whatever other results were remembered', () => {
    const other = told(1, 'precision.calculate', { result: '0.234', interpreted: '2.34 % of 10' });
    expect(answersOf(asked, [other])).toEqual([null]);
    expect(answersOf(asked, [other, told(2, 'precision.calculate', { result: '2.5', interpreted: '10 / 4' })])).toEqual([
      '10 / 4 = 2.5 [2]',
    ]);
    expect(answersOf(asked, [{ n: 3, title: 'SymPy 1.14.0', text: 'evaluate 10 / 4: 5/2 (decimal: 2.5)' }])).toEqual([
      '10 / 4 = 5/2 (2.5) [3]',
    ]);
  });

  it('do not count if results do not name their call and there are more results than calls', () => {
    const means = askedIn('mean of 1, 2 and 6')!;
    const result = (n: number, mean: string) => told(n, 'precision.statistics_calc', { results: [{ operation: 'mean', result: mean }] });
    expect(answersOf(means, [result(1, '3')])).toEqual(['mean: 3 [1]']);
    expect(answersOf(means, [result(1, '3'), result(2, '7')])).toEqual([null]);
  });

  it.each<[string, string, object, string]>([
    ['Welcher Wochentag war der 9.3.1987?', 'day_of_week', { date: '1987-03-09', weekday: 'Monday' }, '1987-03-09: Montag [1]'],
    ['Is 2200 a leap year?', 'calendar_facts', { year: 2200, leap_year: false }, 'No: 2200 is not a leap year [1]'],
    [
      'How many working days are there between 2024-02-05 and 2024-02-09 inclusive?',
      'date_diff',
      { date1: '2024-02-05', date2: '2024-02-09', business_days: 4, weekday2: 'Friday' },
      '2024-02-05 – 2024-02-09: 5 work days (Monday to Friday) [1]',
    ],
    [
      '73 m in yd',
      'unit_convert',
      { result: '91250/1143', decimal: '79.8337707786526684164479440069', from_unit: 'm', to_unit: 'yd' },
      '73 m = about 79.8337707787 yd [1]',
    ],
    ['6 ft in cm', 'unit_convert', { result: '182.88', from_unit: 'ft', to_unit: 'cm', notes: [] }, '6 ft = 182.88 cm [1]'],
    ['solve x^2 = 9', 'solve_equation', { kind: 'solutions', solutions: [{ value: '-3' }, { value: '3' }] }, 'x = -3 or x = 3 [1]'],
  ])('are put into words: %s', (question, tool, result, answer) => {
    expect(answersOf(askedIn(question)!, [told(1, `precision.${tool}`, result)])).toEqual([answer]);
  });
});

describe('a text made to take long', () => {
  it.each([
    'what is ',
    'day ',
    'the day of ',
    '1 ',
    '1 plus ',
    '5% of ',
    '(',
    '1+(',
    'x+',
    '9',
    'a',
    'how many ',
    'how old is ',
    'what is 1+1? ',
    '1 May 2020 ',
    'in London ',
    '3 big red cats at 5 and ',
    'twenty two hundred and five thousand ',
    'mean of 1, ',
    'is it ',
    ' ',
  ])('is read at once: %j', (part) => {
    const read = (): void => {
      for (const length of [120, 159, 249, 299, 1_990])
        for (const [before, behind] of [
          ['', ''],
          ['how many ', '?'],
          ['What date is ', ' 2020'],
        ] as const)
          askedIn(`${before}${part.repeat(Math.ceil(length / part.length))}`.slice(0, length) + behind);
    };
    // Exponential matching would take hours.
    expect(leastProcessorMs(2_000, read)).toBeLessThan(2_000);
  });
});
