import { languageIn, plainNumbers } from './numerals.js';

/** A call of one of the tools for lists, whole numbers, chance, equations and money. */
export interface ListedCall {
  readonly tool:
    | 'statistics_calc'
    | 'gcd_lcm'
    | 'prime_factorize'
    | 'roman_numeral'
    | 'probability'
    | 'solve_equation'
    | 'decimal_finance'
    | 'calculate'
    | 'text_analyze';
  readonly args: Readonly<Record<string, unknown>>;
  /** Which part of the result is asked for. */
  readonly asks: string;
}

const n = String.raw`-?\d+(?:\.\d+)?`;
const separator = String.raw`(?:\s*[;,]\s*(?:and |und |et |y )?|\s+(?:and|und|et|y)\s+|\s+)`;
const list = `(${n}(?:${separator}${n})+)`;
const leads =
  "please |can you |could you |tell me |hi |hello |what(?:'?s| is| are| was) |find |calculate |compute |determine |give me |was ist |wie lautet |berechne |bestimme |quelle? est |calcule[rz]? |cuál es |calcula ";
// No alternative is part of another one, and none contains a repetition: otherwise matching a long text would take forever.
const asked = String.raw`(?:${leads})*(?:the |der |die |das |den |la |le |el |l['’])?`;
const of = String.raw`(?: value)?(?: of| for| from| in| von| der| aus| de| des| entre)?(?: (?:these|the|this|following|numbers?|values?|data|set|list|zahlen|werte|folgenden|nombres|números|los|les|die|der))*\s*:?\s*[[({]?`;
const form = (pattern: string): RegExp => new RegExp(`^${pattern}[\\s\\])}?.!]*$`, 'iu');

const statistics: readonly (readonly [asks: string, operations: readonly string[], words: string])[] = [
  ['mean', ['mean'], '(?:arithmetic )?(?:mean|average)|durchschnitt|mittelwert|moyenne|media|promedio'],
  ['median', ['median'], 'median(?:e|wert)?|médiane|mediana'],
  ['mode', ['mode'], 'mode|modus|moda'],
  ['range', ['range'], 'range|spannweite'],
  ['population stdev', ['population_stdev'], 'population standard deviation'],
  ['sample stdev', ['stdev'], 'sample standard deviation'],
  ['stdev', ['population_stdev', 'stdev'], 'standard deviation|standardabweichung|écart[- ]type|desviación estándar'],
  ['population variance', ['population_variance'], 'population variance'],
  ['sample variance', ['variance'], 'sample variance'],
  ['variance', ['population_variance', 'variance'], 'variance|varianz|varianza'],
  ['max', ['max'], 'maximum|largest(?: number)?|biggest(?: number)?|greatest(?: number)?|highest(?: number)?'],
  ['min', ['min'], 'minimum|smallest(?: number)?|lowest(?: number)?'],
];
const ofLists = statistics.map(([asks, operations, words]) => ({ asks, operations, pattern: form(`${asked}(?:${words})${of}${list}`) }));

const gcd =
  '(?:greatest|highest|largest) common (?:divisor|factor|denominator)|gcd|hcf|ggt|größter gemeinsamer teiler|größten gemeinsamen teiler|plus grand commun diviseur|pgcd|máximo común divisor|mcd';
const lcm =
  '(?:least|lowest|smallest) common (?:multiple|denominator)|lcm|kgv|kleinstes gemeinsames vielfaches|kleinste gemeinsame vielfache|plus petit commun multiple|ppcm|mínimo común múltiplo|mcm';

const money = String.raw`(\d+(?:\.\d+)?)`;
const percent = String.raw`(\d+(?:\.\d+)?) ?(?:%|per ?cent|prozent)`;
/** Signs and names of currencies. The only one in a question is that of its amounts; two would need an exchange rate. */
export const currencies: readonly (readonly [RegExp, string])[] = [
  [/€|\beuros?\b|\bEUR\b/giu, '€'],
  [/\$|\b(?:us )?dollars?\b|\bUSD\b|\bbucks\b/giu, '$'],
  [/£|\bGBP\b|\bpounds sterling\b|\bquid\b/giu, '£'],
  [/¥|\byens?\b|\bJPY\b/giu, '¥'],
  [/\bCHF\b|\bfrancs?\b|\bfranken\b/giu, 'CHF'],
  [/\brupees?\b|\bINR\b|₹/giu, '₹'],
];

const rates: readonly (readonly [RegExp, (found: RegExpExecArray) => ListedCall])[] = [
  [
    form(
      String.raw`(?:${asked})?${money} (?:is|are|ist|sind) (?:what|how many|wie ?viel|wieviel) (?:${'percent|per cent|percentage|%|prozent'}) (?:of|von) ${money}`,
    ),
    ([, part, whole]) => share(part!, whole!),
  ],
  [
    form(
      String.raw`(?:what|how many|wie ?viel) (?:percent|per cent|percentage|%|prozent) (?:of|von) ${money} (?:is|are|ist|sind) ${money}`,
    ),
    ([, whole, part]) => share(part!, whole!),
  ],
  [
    form(
      String.raw`(?:what|how many|wie ?viel) (?:percent|per cent|percentage|%|prozent) (?:is|are|ist|sind) ${money} (?:of|von) ${money}`,
    ),
    ([, part, whole]) => share(part!, whole!),
  ],
  [
    form(
      String.raw`(?:what(?:'?s| is| was) the )?(?:percent(?:age)?|%) (?:change|increase|decrease|growth|rise|drop) (?:from|between) ${money} (?:to|and) ${money}`,
    ),
    ([, from, to]) => change(from!, to!),
  ],
  [
    form(
      String.raw`(?:if |when )?(?:an? |the |my )?(?:\p{L}+ )?(?:rises|rose|increases|increased|grows|grew|goes up|went up|falls|fell|drops|dropped|decreases|decreased|goes down|went down|goes|went|changes|changed) from ${money} to ${money},? (?:(?:what|how much|by what|by how much|by how many) (?:is|was|percent|per cent|percentage|the|in|is that|does|did|it|change|increase|decrease|rise|fall|drop|of|as|a| )+)`,
    ),
    ([, from, to]) => change(from!, to!),
  ],
  [
    form(String.raw`from ${money} to ${money} is what (?:percent(?:age)?|%)(?: change| increase| decrease| rise| drop)?`),
    ([, from, to]) => change(from!, to!),
  ],
  [
    form(
      String.raw`${asked}(?:an? )?${percent} (?:tip|sales tax|tax|vat|gst|commission) (?:on|for|of) (?:an? )?(?:bill of |a bill of )?${money}`,
    ),
    ([, rate, amount]) => ({ tool: 'decimal_finance', args: { operation: 'percent_of', amount, rate_percent: rate }, asks: 'amount' }),
  ],
  [
    form(
      String.raw`${asked}(?:price of )?${percent} (?:off|discount on|discount off|reduction on|rabatt auf) (?:an? )?(?:\p{L}+ (?:of|for) )?${money}`,
    ),
    ([, rate, amount]) => discount(amount!, rate!),
  ],
  [
    form(
      String.raw`(?:if )?(?:an? |the )?(?:\p{L}+ )?(?:costs?|priced at|for|of)? ?${money},? (?:and )?(?:is |it is |gets |was |there is |there's |has |with |you get |i get )?(?:(?:reduced|discounted|marked down|on sale)(?: by| for| at)? ${percent}(?: off)?|(?:an? )?${percent} (?:off|discount|reduction))[.,?]* ?(?:(?:what|how much) (?:does|do|is|will|would|it|its|i|the|new|sale|final|reduced|discounted|price|cost|pay|now|be|then| )+)?`,
    ),
    ([, amount, rate, other]) => discount(amount!, (rate ?? other)!),
  ],
  [
    form(
      String.raw`${asked}(?:net|price without (?:vat|tax)|net price|net amount|amount without tax)(?: price| amount)? (?:of |if the gross price is |for )?${money} (?:gross )?(?:including|incl\.?|with|inclusive of|at) ${percent} (?:vat|tax|sales tax|gst)`,
    ),
    ([, amount, rate]) => ({ tool: 'decimal_finance', args: { operation: 'remove_tax', amount, rate_percent: rate }, asks: 'amount' }),
  ],
  [
    form(
      String.raw`(?:what is |add |how much is )?${money} (?:plus|with|and|including) ${percent} (?:vat|tax|sales tax|gst|mehrwertsteuer|mwst)(?: added)?`,
    ),
    ([, amount, rate]) => ({ tool: 'decimal_finance', args: { operation: 'add_tax', amount, rate_percent: rate }, asks: 'amount' }),
  ],
  [
    form(
      String.raw`(?:if )?(?:i |we |you |someone )?(?:invest|put|deposit|save|what (?:is|are|will) )? ?${money} (?:at|for|with) ${percent}(?: interest| per year| a year| annual interest| annually)*,? (?:compounded )(annually|yearly|monthly|quarterly),? (?:for|over|after) (\d+) years?[.,?]* ?(?:(?:how much|what|worth)(?: |is|will|would|do|it|i|we|be|have|grow|to|worth|the|final|amount|there|money)*)?`,
    ),
    ([, amount, rate, how, years]) => {
      const each = /^m/i.test(how!) ? 12 : /^q/i.test(how!) ? 4 : 1;
      return {
        tool: 'decimal_finance',
        args: { operation: 'compound_interest', amount, rate_percent: rate, periods: Number(years) * each, periods_per_year: each },
        asks: 'amount',
      };
    },
  ],
  [
    form(
      String.raw`(?:split|divide|share) (?:an? |the )?(?:\p{L}+ (?:of |for ))?${money},? (?:equally |evenly )?(?:among|between|by|for|across) (\d+)(?: \p{L}+)?(?: equally| evenly)?`,
    ),
    ([, amount, by]) => ({ tool: 'calculate', args: { expression: `${amount} / ${by}` }, asks: 'amount' }),
  ],
];
const share = (part: string, whole: string): ListedCall => ({
  tool: 'calculate',
  args: { expression: `${part} / ${whole} * 100` },
  asks: 'percent',
});
const change = (amount: string, second: string): ListedCall => ({
  tool: 'decimal_finance',
  args: { operation: 'percent_change', amount, second_amount: second },
  asks: 'percent',
});
const discount = (amount: string, rate: string): ListedCall => ({
  tool: 'decimal_finance',
  args: { operation: 'discount', amount, rate_percent: rate },
  asks: 'amount',
});

const others: readonly (readonly [RegExp, (found: RegExpExecArray) => ListedCall])[] = [
  [form(`${asked}(?:${gcd})${of}(\\d+)${separator}(\\d+)`), ([, a, b]) => ({ tool: 'gcd_lcm', args: { a, b }, asks: 'gcd' })],
  [form(`${asked}(?:${lcm})${of}(\\d+)${separator}(\\d+)`), ([, a, b]) => ({ tool: 'gcd_lcm', args: { a, b }, asks: 'lcm' })],
  [
    form(
      String.raw`(?:is|ist|est-ce que) (\d+) (?:est )?(?:an? |eine? )?(?:prime(?: number)?|primzahl|premier|nombre premier)(?: or not)?`,
    ),
    ([, value]) => ({ tool: 'prime_factorize', args: { n: value }, asks: 'prime' }),
  ],
  [
    form(String.raw`¿?es (?:el )?(\d+) (?:un )?(?:número )?primo`),
    ([, value]) => ({ tool: 'prime_factorize', args: { n: value }, asks: 'prime' }),
  ],
  [
    form(
      String.raw`${asked}(?:prime fact(?:ors|ori[sz]ation)|primfaktor(?:en|zerlegung)|factor(?:i[sz]e)?)(?: of| von| der)? (\d+)(?: into primes| into prime factors)?`,
    ),
    ([, value]) => ({ tool: 'prime_factorize', args: { n: value }, asks: 'factors' }),
  ],
  [
    form(
      String.raw`(?:${leads}|the |write |convert |express |how do you write |schreibe )*(\d{1,4}) (?:in|as|to|into|als|en) (?:an? )?(?:roman(?: numerals?| numbers?)?|römische[rn]? (?:zahlen|ziffern|zahl)|chiffres romains|números romanos)`,
    ),
    ([, value]) => ({ tool: 'roman_numeral', args: { value }, asks: 'roman' }),
  ],
  [
    form(
      String.raw`(?:${leads}|convert |which number is |what number is )*(?:the )?(?:roman numeral )?([MDCLXVI]{2,}) (?:in|as|to|into) (?:an? )?(?:arabic(?: numerals?| numbers?)?|decimal|number|numbers|digits|a number)`,
    ),
    ([, value]) => ({ tool: 'roman_numeral', args: { value: value!.toUpperCase() }, asks: 'number' }),
  ],
  [
    form(
      String.raw`(?:in )?how many (?:different )?ways (?:are there |is it possible |can (?:you|i|we) |could you |exist )?(?:to )?(?:choose|pick|select|draw) (\d+) (?:\p{L}+ )?(?:from|out of|of) (?:a (?:group|set|pool) of )?(?:an? )?(\d+)(?: \p{L}+)?`,
    ),
    ([, k, of]) => ({ tool: 'calculate', args: { expression: `ncr(${of}, ${k})` }, asks: 'number' }),
  ],
  [
    form(
      String.raw`(?:in )?how many (?:different )?(?:ways|orders) (?:can|could|are there to|may) (?:you |we |i )?(?:arrange |order |line up )?(?:the )?(\d+) (?:different |distinct )?\p{L}+(?: be)?(?: arranged| ordered| lined up| line up| stand| sit)?(?: (?:on|in) (?:an? )?(?:\p{L}+))?`,
    ),
    ([, k]) => ({ tool: 'calculate', args: { expression: `${k}!` }, asks: 'number' }),
  ],
  [
    form(
      String.raw`(?:what(?:'?s| is) the )?(?:probability|chance|odds) (?:of|to get|of getting|of rolling|that you get) at least (?:one|1|a) (?:six|6|[1-6])(?: when rolling| when throwing| in| with| rolling| if you roll)* (\d+) (?:rolls?|throws?|dice|times|dice rolls|rolls of a (?:fair )?die|throws of a (?:fair )?die)(?: of a (?:fair )?die)?`,
    ),
    ([, rolls]) => ({ tool: 'probability', args: { operation: 'at_least_one', n: Number(rolls), p: '1/6' }, asks: 'number' }),
  ],
  [
    form(
      String.raw`(?:${asked})?(?:sum of |add up |add )(?:all )?(?:the )?(?:whole |natural )?(?:numbers|integers) (?:from )?(\d+) (?:to|through|until|bis) (\d+)`,
    ),
    ([, from, to]) => ({ tool: 'calculate', args: { expression: `(${from} + ${to}) * (${to} - ${from} + 1) / 2` }, asks: 'number' }),
  ],
  [
    form(String.raw`(?:what(?:'?s| is) the )?area of a circle (?:with|of) (?:an? )?radius (?:of )?(\d+(?:\.\d+)?)`),
    ([, r]) => ({ tool: 'calculate', args: { expression: `pi * ${r}^2` }, asks: 'number' }),
  ],
  [
    form(String.raw`(?:what(?:'?s| is) the )?circumference of a circle (?:with|of) (?:an? )?radius (?:of )?(\d+(?:\.\d+)?)`),
    ([, r]) => ({ tool: 'calculate', args: { expression: `2 * pi * ${r}` }, asks: 'number' }),
  ],
  [
    form(
      String.raw`how (?:many|often does) (?:times does )?(?:the )?(?:letters? )?["“'‘]?(\p{L})["”'’]?(?:['’]?s)?(?: letters?)? (?:are there |are |is |does |appear |occur |appears |there )*(?:in )(?:the )?(?:word )?["“'‘]?(\p{L}{2,40})["”'’]?(?: have)?`,
    ),
    ([, find, text]) => ({ tool: 'text_analyze', args: { text: text!.toLowerCase(), find: find!.toLowerCase() }, asks: 'occurrences' }),
  ],
];

const equation =
  /^(?:please |can you )?(?:solve|löse|résous|résoudre|resuelve|find [a-z] (?:if|in|when|such that)|what is [a-z] if|for (?:what|which) [a-z] is)(?: the equation| die gleichung| l['’]équation| la ecuación)?(?: for ([a-z]))?\s*:?\s*([^=]*[a-z][^=]*=[^=]+?|[^=]+=[^=]*[a-z][^=]*?)(?: for ([a-z])| nach ([a-z])(?: auf)?| auf)?[\s?.!]*$/iu;

/** Longest question that is read, in characters: lists of numbers are long. */
const longest = 300;

/** The call that a question asks for; null for any other question. */
export function listedIn(question: string): ListedCall | null {
  if (question.length > longest) return null;
  const solved = equationIn(question);
  if (solved) return solved;
  let text = plainNumbers(question, languageIn(question)).replace(/[¿¡]/gu, '');
  for (const [sign] of currencies) text = text.replace(sign, ' ');
  text = text
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.?!])/g, '')
    .trim();
  for (const { asks, operations, pattern } of ofLists) {
    const data = pattern.exec(text)?.[1];
    if (data !== undefined)
      return { tool: 'statistics_calc', args: { data: data.match(new RegExp(n, 'g'))!.join('; '), operations: [...operations] }, asks };
  }
  for (const [pattern, call] of [...rates, ...others]) {
    const found = pattern.exec(text);
    if (found) return call(found);
  }
  return bought(text);
}

/** Words of a story in which more than a total is asked for. */
const notTotal =
  /(?<!\p{L})(?:more|less|fewer|farther|further|longer|faster|left|remain\p{L}*|change|profit|loss|difference|save\p{L}*|discount\p{L}*|off|tax|tip|average|if|half|twice|thrice|than|divid\p{L}*|split\p{L}*|shar\p{L}*|resell\p{L}*|every)(?!\p{L})/iu;

/** The total of "3 coffees at 3.75 and 2 cakes at 4.20"; null for any other text. */
function bought(text: string): ListedCall | null {
  if (!/(?:how (?:much|many)|what (?:do|does|will|is|are|would)|total|altogether)/iu.test(text) || notTotal.test(text)) return null;
  const items = [
    ...text.matchAll(
      /(?<![\d.])(\d+) (?:(?!and |then |or )\p{L}+ ){1,3}(?:at|for|costing|priced at|that cost|which cost|@) (\d+(?:\.\d+)?)(?! times?)(?: each| apiece| per \p{L}+)?/giu,
    ),
  ];
  const numbers = text.match(/\d+(?:\.\d+)?/g) ?? [];
  if (items.length === 0 || numbers.length !== items.length * 2) return null;
  // "3 coffees for 9" may be the price of all three.
  if (items.some(([all]) => / for /i.test(all) && !/each|apiece|per /i.test(all))) return null;
  return { tool: 'calculate', args: { expression: items.map(([, many, price]) => `${many} * ${price}`).join(' + ') }, asks: 'amount' };
}

function equationIn(question: string): ListedCall | null {
  const text = question.trim().replace(/²/g, '^2').replace(/³/g, '^3').replace(/[×·]/g, '*').replace(/[−–]/g, '-');
  const bare = /^([\d\s.,+\-*/^()a-z]*[a-z][\d\s.,+\-*/^()a-z]*=[\d\s.,+\-*/^()a-z]+)[?.]?$/iu.exec(text)?.[1];
  if (text.length > 200) return null;
  const found = equation.exec(text);
  const written = found?.[2] ?? bare;
  if (!written || (written.match(/\p{L}{2,}/gu) ?? []).length > 0) return null;
  const letters = new Set(written.toLowerCase().match(/[a-z]/g) ?? []);
  const variable = found?.[1] ?? found?.[3] ?? found?.[4] ?? [...letters][0];
  // Between digits a comma is a decimal comma here: an equation has no lists.
  const plain = written.replace(/(?<=\d),(?=\d)/g, '.').trim();
  return letters.size === 1 && variable
    ? { tool: 'solve_equation', args: { equation: plain, variable: variable.toLowerCase() }, asks: variable.toLowerCase() }
    : null;
}

/** Whether the question asks to convert an amount into another currency. No tool has exchange rates. */
export function needsRate(question: string): boolean {
  const found = currencies.filter(([sign]) => new RegExp(sign.source, 'iu').test(question));
  return (
    found.length === 2 &&
    /\d/.test(question) &&
    /(?:\bin\b|\bto\b|\binto\b|\ben\b|\bnach\b|convert|worth|exchange|umrechnen|wechsel)/iu.test(question)
  );
}
