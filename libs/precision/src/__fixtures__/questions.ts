export type Question = readonly [question: string, tool: string, args: Record<string, unknown>, answer: Record<string, unknown>];

const calculated = (question: string, expression: string, result: string): Question => [question, 'calculate', { expression }, { result }];
const converted = (value: number | string, from_unit: string, to_unit: string, result: string): Question => [
  `${value} ${from_unit} in ${to_unit}`,
  'unit_convert',
  { value, from_unit, to_unit },
  { result },
];

/** Each with what its answer holds. Answers come from another programming language's fractions, calendar and address libraries, and from published tables. */
export const questions: readonly Question[] = [
  calculated('a tenth and two tenths', '0.1 + 0.2', '0.3'),
  calculated('17.5 % of 2,340', '17.5 % of 2,340', '409.5'),
  calculated('2 to the 200th', '2^200', '1606938044258990275541962092341162602522202993782792835301376'),
  calculated('25 factorial', '25!', '15511210043330985984000000'),
  calculated('7 to the 77th', '7**77', '118181386580595879976868414312001964434038548836769923458287039207'),
  calculated('a sum of fractions', '1/3 + 1/6 + 1/7', '9/14'),
  calculated('a product of nine digits', '987654321 * 123456789', '121932631112635269'),
  calculated('a cube', '123456789^3', '1881676371789154860897069'),
  calculated('root of two', 'sqrt(2)', '1.41421356237309504880168872421'),
  calculated('root of ten', 'sqrt(10)', '3.16227766016837933199889354443'),
  calculated('golden ratio', '(1 + sqrt(5)) / 2', '1.61803398874989484820458683437'),
  calculated('1.1 to the tenth', '1.1^10', '2.5937424601'),
  calculated('7 % of 1,234.56', '7% of 1,234.56', '86.4192'),
  calculated('two large primes', '1000003 * 999983', '999985999949'),
  calculated('poker hands', 'ncr(52, 5)', '2598960'),
  calculated('lottery draws', 'ncr(49, 6)', '13983816'),
  calculated('a leading minus', '-2^2', '-4'),
  calculated('powers from the right', '2^3^2', '512'),
  calculated('a tower of parentheses', '((2 + 3) * (7 - 4))^2 / 5', '45'),
  calculated('a remainder', '1000 mod 37', '1'),
  calculated('a remainder of a negative number', '-7 mod 3', '2'),
  calculated('grouped thousands', '1,000,000 - 1', '999999'),
  calculated('German notation', '1.234,56 * 2', '2469.12'),
  calculated('a root that is whole', 'sqrt(144) + cbrt(27)', '15'),
  calculated('rounding half away from zero', 'round(2.675, 2)', '2.68'),
  calculated('a logarithm that is whole', 'log2(1024) + log10(0.001)', '7'),

  calculated('printed signs', '3 × 4 ÷ 2 − 1', '5'),
  calculated('a raised exponent', '5² + 2³', '33'),
  calculated('the sign of a root', '√1764', '42'),
  calculated('a root and a letter', '√16 + π', '7.14159265358979323846264338328'),
  calculated('Swiss thousands', '1’000’000 / 8', '125000'),

  ['days to Christmas', 'date_diff', { date1: '2024-02-29', date2: '2024-12-25' }, { days: 300 }],
  ['days of the 20th century', 'date_diff', { date1: '1900-01-01', date2: '2000-01-01' }, { days: 36_524, years: 100, months: 0 }],
  ['age in days', 'date_diff', { date1: '23.05.1949', date2: '26.09.2026' }, { days: 28_250, years: 77, months: 4, days_after_months: 3 }],
  ['a lifetime', 'date_diff', { date1: '1815-12-10', date2: '1852-11-27' }, { years: 36, months: 11, days_after_months: 17 }],
  ['work days of March 2024', 'date_diff', { date1: '2024-03-01', date2: '2024-04-01', business_days: true }, { business_days: 21 }],
  ['1000 days on', 'date_add', { base_date: '2024-01-01', days: 1000 }, { date: '2026-09-27' }],
  ['90 days back', 'date_add', { base_date: '2023-03-15', days: -90 }, { date: '2022-12-15' }],
  ['a month after 31 January', 'date_add', { base_date: '2023-01-31', months: 1 }, { date: '2023-02-28', clamped: true }],
  ['a year after a leap day', 'date_add', { base_date: '2024-02-29', years: 1 }, { date: '2025-02-28', clamped: true }],
  ['ten work days from a Friday', 'date_add', { base_date: '2024-03-01', business_days: 10 }, { date: '2024-03-15', clamped: false }],
  ['the moon landing', 'day_of_week', { date_str: '1969-07-20' }, { weekday: 'Sunday', iso_week: '1969-W29', day_of_year: 201 }],
  ['the fall of the wall', 'day_of_week', { date_str: '09.11.1989' }, { weekday: 'Thursday', iso_week: '1989-W45' }],
  ['a century leap day', 'day_of_week', { date_str: '2000-02-29' }, { weekday: 'Tuesday' }],
  ['Waterloo', 'day_of_week', { date_str: '1815-06-18' }, { weekday: 'Sunday' }],
  ['after a century without leap day', 'day_of_week', { date_str: '2100-03-01' }, { weekday: 'Monday', day_of_year: 60 }],
  ['1 January in the old ISO year', 'day_of_week', { date_str: '2021-01-01' }, { weekday: 'Friday', iso_week: '2020-W53' }],
  ['the first Gregorian day', 'day_of_week', { date_str: '1582-10-15' }, { weekday: 'Friday' }],
  ['Easter 2024', 'calendar_facts', { year: 2024 }, { easter_sunday: '2024-03-31', leap_year: true, iso_weeks_in_year: 52 }],
  ['Easter 2038, the latest', 'calendar_facts', { year: 2038 }, { easter_sunday: '2038-04-25', leap_year: false }],
  ['a year of 53 weeks', 'calendar_facts', { year: 2020 }, { iso_weeks_in_year: 53, first_weekday: 'Wednesday' }],
  ['a meeting overseas', 'timezone_convert', { datetime: '2024-07-04T09:00', from_timezone: 'America/New_York', to_timezone: 'Europe/Berlin' }, { to: '2024-07-04T15:00:00+02:00' }], // prettier-ignore
  ['between the changes of clocks', 'timezone_convert', { datetime: '2024-03-20T09:00', from_timezone: 'America/New_York', to_timezone: 'Europe/Berlin' }, { to: '2024-03-20T14:00:00+01:00', difference: '+05:00' }], // prettier-ignore
  ['over the date line', 'timezone_convert', { datetime: '2024-01-15T20:00', from_timezone: 'America/Los_Angeles', to_timezone: 'Asia/Tokyo' }, { to: '2024-01-16T13:00:00+09:00', day_change: 1 }], // prettier-ignore

  converted(26.21875, 'mi', 'km', '42.194988'),
  converted('98.6', '°F', '°C', '37'),
  converted(-40, '°C', 'K', '233.15'),
  converted(2, 'm²', 'ft²', '3125000/145161'),
  converted(-40, 'fahrenheit', 'celsius', '-40'),
  converted(0, 'K', '°C', '-273.15'),
  converted(5, 'gallons', 'liters', '18.92705892'),
  converted(3, 'GiB', 'MB', '3221.225472'),
  converted(100, 'Mbit/s', 'MB/s', '12.5'),
  converted(150, 'lb', 'kg', '68.0388555'),
  converted(100_000, 'Pa', 'atm', '4000/4053'),
  converted(72, 'km/h', 'm/s', '20'),
  converted(6, 'ft', 'cm', '182.88'),
  converted(1, 'acre', 'm^2', '4046.8564224'),
  converted('2.5', 'kWh', 'MJ', '9'),
  converted(1, 'nmi', 'm', '1852'),
  converted(90, 'min', 'h', '1.5'),
  converted(180, 'deg', 'rad', '3.14159265358979323846264338328'),

  ['a /20', 'subnet_calc', { cidr: '172.20.37.200/20' }, { network: '172.20.32.0', broadcast: '172.20.47.255', usable_hosts: '4094', netmask: '255.255.240.0', wildcard: '0.0.15.255' }], // prettier-ignore
  ['a /27', 'subnet_calc', { cidr: '10.11.12.13/27' }, { cidr: '10.11.12.0/27', first_host: '10.11.12.1', last_host: '10.11.12.30' }],
  ['a /25 by its mask', 'subnet_calc', { cidr: '192.168.100.130/255.255.255.128' }, { network: '192.168.100.128', broadcast: '192.168.100.255', usable_hosts: '126' }], // prettier-ignore
  ['a /8', 'subnet_calc', { cidr: '10.0.0.0/8' }, { addresses: '16777216', usable_hosts: '16777214' }],
  ['a /31', 'subnet_calc', { cidr: '192.0.2.0/31' }, { usable_hosts: '2', first_host: '192.0.2.0' }],
  ['an IPv6 /60', 'subnet_calc', { cidr: '2001:db8:abcd:12::/60' }, { cidr: '2001:db8:abcd:10::/60', last_address: '2001:db8:abcd:1f:ffff:ffff:ffff:ffff', addresses: '295147905179352825856' }], // prettier-ignore
  ['an IPv6 /64', 'subnet_calc', { cidr: 'fe80::1/64' }, { addresses: '18446744073709551616', kind: 'link-local' }],
  ['an address within', 'subnet_calc', { cidr: '10.1.0.0/16', contains: '10.1.255.254' }, { contains: true }],
  ['an address beside', 'subnet_calc', { cidr: '10.1.0.0/16', contains: '10.2.0.0' }, { contains: false }],

  ['compound interest by month', 'decimal_finance', { operation: 'compound_interest', amount: 10_000, rate_percent: '4.5', periods: 120, periods_per_year: 12 }, { result: '15669.93' }], // prettier-ignore
  ['a loan of 25 years', 'decimal_finance', { operation: 'annuity_payment', amount: 250_000, rate_percent: 3.75, periods: 300, periods_per_year: 12 }, { result: '1285.33' }], // prettier-ignore
  ['a present value', 'decimal_finance', { operation: 'present_value', amount: 1500, rate_percent: 7, periods: 5 }, { result: '1069.48' }],
  ['a net present value', 'decimal_finance', { operation: 'net_present_value', cash_flows: [-1000, 300, 400, 500], rate_percent: 10 }, { result: '-21.04' }], // prettier-ignore
  ['a discount', 'decimal_finance', { operation: 'discount', amount: 2499, rate_percent: 15 }, { result: '2124.15', parts: { saved: '374.85' } }], // prettier-ignore
  ['net of a gross price', 'decimal_finance', { operation: 'remove_tax', amount: '49.99', rate_percent: 19 }, { result: '42.01', parts: { tax: '7.98' } }], // prettier-ignore
  ['bankers’ rounding', 'decimal_finance', { operation: 'round', amount: '2.665', rounding: 'half_even' }, { result: '2.66' }],

  ['a binomial tail', 'probability', { operation: 'binomial', n: 20, k: 5, p: '0.3', comparison: 'at_most' }, { decimal: '0.41637082944748138372' }], // prettier-ignore
  ['two aces of five cards', 'probability', { operation: 'hypergeometric', population: 52, successes: 4, draws: 5, k: 2 }, { result: '2162/54145' }], // prettier-ignore
  ['a six in four throws', 'probability', { operation: 'at_least_one', n: 4, p: '1/6' }, { result: '671/1296' }],
  ['seven with two dice', 'probability', { operation: 'dice_sum', dice: 2, sides: 6, k: 7 }, { result: '1/6' }],
  ['a positive test', 'probability', { operation: 'bayes', prior: '1%', p: '99%', p_if_not: '5%' }, { result: '1/6' }],

  ['a Mersenne prime', 'prime_factorize', { n: '2305843009213693951' }, { is_prime: true, certain: true }],
  ['the fifth Fermat number', 'prime_factorize', { n: 4294967297 }, { factorization: '641 * 6700417' }],
  ['the sixth Fermat number', 'prime_factorize', { n: '18446744073709551617' }, { factorization: '274177 * 67280421310721' }],
  ['divisor of two numbers', 'gcd_lcm', { a: 1071, b: 462 }, { gcd: '21', lcm: '23562' }],
  ['a year in Roman', 'roman_numeral', { value: 1994 }, { roman: 'MCMXCIV' }],
  ['the largest numeral', 'roman_numeral', { value: 'MMMCMXCIX' }, { number: 3999 }],
  ['a linear equation', 'solve_equation', { equation: '3*x + 5 = 20' }, { solutions: [{ value: '5' }] }],
  ['sentences in German quotation marks', 'text_analyze', { text: 'Er sagte: „Ja.“ Dann ging er… Und kam.' }, { sentences: 2 }],
]; // prettier-ignore
