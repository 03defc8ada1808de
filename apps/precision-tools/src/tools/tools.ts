import { calculate } from './arithmetic/calculate.js';
import { probability } from './chance/probability.js';
import { calendarFacts } from './dates/calendar-facts.js';
import { dateAdd } from './dates/date-add.js';
import { dateDiff } from './dates/date-diff.js';
import { dayOfWeek } from './dates/day-of-week.js';
import { timezoneConvert } from './dates/timezone-convert.js';
import { solveEquation } from './equations/solve-equation.js';
import { gcdLcm } from './integers/gcd-lcm.js';
import { primeFactorize } from './integers/prime-factorize.js';
import { romanNumeral } from './integers/roman-numeral.js';
import { decimalFinance } from './money/decimal-finance.js';
import { subnetCalc } from './networks/subnet-calc.js';
import { statisticsCalc } from './statistics/statistics-calc.js';
import { base64Codec } from './text/base64-codec.js';
import { hashText } from './text/hash-text.js';
import { jsonQuery } from './text/json-query.js';
import { regexExtract } from './text/regex-extract.js';
import { textAnalyze } from './text/text-analyze.js';
import type { Tool } from './tool.js';
import { unitConvert } from './units/unit-convert.js';

/** Every tool that computes from its arguments alone. */
export const computingTools: readonly Tool[] = [
  calculate,
  solveEquation,
  dateDiff,
  dateAdd,
  dayOfWeek,
  calendarFacts,
  timezoneConvert,
  unitConvert,
  statisticsCalc,
  decimalFinance,
  probability,
  hashText,
  base64Codec,
  regexExtract,
  textAnalyze,
  jsonQuery,
  subnetCalc,
  primeFactorize,
  gcdLcm,
  romanNumeral,
];
