import { phrases } from './phrases.js';

const units =
  '(?:km|kilomet(?:er|re)s?|m|met(?:er|re)s?|cm|zentimeter|mm|miles?|meilen?|feet|foot|ft|fuß|inch(?:es)?|zoll|yards?|nautical miles?|seemeilen?|light ?years?|lichtjahre?|kg|kilos?|kilogramm?s?|g|gramm?s?|pounds?|lbs?|pfund|ounces?|oz|unzen?|stones?|tons?|tonnen?|lit(?:er|re)s?|gallons?|gallonen|pints?|cups?|tassen?|ml|celsius|fahrenheit|kelvin|° ?[cf]|mph|km/h|kmh|knots?|knoten|joules?|kwh|calories|kalorien|kcal|watts?|ps|hp|bytes?|[kmgt]i?b|bits?|seconds?|sekunden?|minutes?|minuten?|hours?|stunden?|days?|tage?n?|weeks?|wochen?|acres?|hectares?|hektar|psi|bar|pascal)';
const months =
  '(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?)';
const number = '[-+]?\\d[\\d.,]{0,30}';

/** What a deterministic tool answers exactly and a model may get wrong: knowledge-and-tools.md, Precision tools. */
export const precisionQuestions: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  // Not inside dates (2025-01-31), times around the clock (24/7) or version numbers.
  { name: 'calculation', pattern: /(?<![\d.,/-]|\d\s)\d[\d.,]*\s*(?:[+*×÷^·]|\*\*|(?<=\s)[-–−/](?=\s)|(?<!24)\/(?!7\b))\s*[(]?-?\d[\d.,]*(?![\d/-])/u },
  { name: 'calculation', pattern: /(?<![\p{L}\d.,-])\(?\d+\s*[-−]\s*\d+\)?\s*(?:[=?]|[-+*/×÷]\s*\d)/u },
  { name: 'percentage', pattern: /\d\s*(?:%|‰)|(?<!\p{L})(?:prozent|percent(?:age)?)(?!\p{L}).{1,60}\d.{1,30}\d/iu },
  { name: 'percentage', pattern: phrases(`${number} (?:percent|per cent|prozent)`) },
  {
    name: 'calculation',
    pattern: phrases(
      `(?:${number}|[a-zäöü]{3,12}) (?:plus|minus|times|multiplied by|divided by|geteilt durch|multipliziert mit|dividiert durch) (?:${number}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|[a-zäöü]{3,10}ty|[a-zäöü]{3,10}zig)`,
      `${number} (?:mal|hoch|modulo|mod) ${number}`,
      `(?:square|cube)d? root of ${number}`, `(?:quadrat|kubik)?wurzel (?:aus|von) ${number}`, `${number} (?:squared|cubed|factorial|fakultät)`, `fa(?:c|k)(?:torial|ultät) (?:of|von) ${number}`, `(?:sum|product|quotient|summe|produkt|quotient) (?:of|von|aus) ${number}`,
      'calculate', 'compute', 'berechne', 'rechne', 'ausrechnen',
      `(?:add|subtract|multiply|divide|addiere|subtrahiere|multipliziere|dividiere) ${number}`,
    ),
  },
  { name: 'calculation', pattern: /(?:sqrt|log|ln|sin|cos|tan|exp)\s*\(|\d!/u },
  { name: 'finance', pattern: phrases('compound interest', 'zinseszins*', 'mortgage (?:rate|payment)s?', 'annuit(?:y|ät)', 'kreditrate', 'vat', 'mehrwertsteuer', 'mwst', 'net present value', 'kapitalwert') },
  { name: 'number', pattern: phrases('prime (?:number|factor)s?', 'primzahl*', 'primfaktor*', 'gcd', 'lcm', 'ggt', 'kgv', 'greatest common (?:divisor|factor)', 'least common multiple', 'größte[rn]? gemeinsame[rn]? teiler', 'roman numerals?', 'arabic numerals?', '[mdclxvi]{4,12} (?:to|as|in|into|als|in) (?:a |eine )?(?:number|arabic|zahl)*', 'römische[rns]? (?:zahl|ziffer)*', 'in (?:binary|hexadecimal|octal)', '(?:binär|hexadezimal|dual)zahl', 'is \\d+ (?:a )?prime') },
  // A numeral in capitals, and no word that is spelled with its letters ("Mill", "civil").
  { name: 'number', pattern: /(?<![\p{L}\p{N}])(?=[MDCLXVI]{4})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![\p{L}\p{N}])/u },
  { name: 'statistics', pattern: phrases(`(?:mean|median|average|standard deviation|variance|mittelwert|median|durchschnitt|standardabweichung|varianz) (?:of|von|aus|der zahlen)(?: the numbers)? ${number}`) },
  { name: 'probability', pattern: phrases('probabilit(?:y|ies)', 'wahrscheinlichkeit', 'odds of', 'dice', 'würfel(?:n|wurf|t)?', 'coin (?:toss|flip)(?:es|s)?', 'how many (?:permutations|combinations)') },
  { name: 'date', pattern: phrases(
    `how many (?:days|weeks|months|years|hours|minutes) (?:(?:are|is|were) (?:there )?)?(?:between|until|till|since|from|to|left|passed|lie)`, `wie viele (?:tage|wochen|monate|jahre|stunden|minuten) (?:sind|liegen|ist|vergehen|noch|seit|zwischen|bis)`,
    '(?:days?|weeks?|tage|wochen) (?:between|until|till|bis|zwischen)', 'day of the week', 'what day (?:is|was|will)', 'which (?:week)?day (?:is|was|will)', 'weekday', 'wochentag', 'welcher tag (?:ist|war)', 'leap year', 'schaltjahr*', 'calendar week', 'kalenderwoche',
    `${number} (?:days?|weeks?|months?|years?|tagen?|wochen?|monaten?|jahren?) (?:after|before|from|ago|later|nach|vor|ab|später)`, `in ${number} (?:days|weeks|months|tagen|wochen|monaten)`, `how old (?:is|am|would|will) (?:.{1,40} )?born`, `was born (?:on|in) \\d.{0,40} how old`, `easter|ostersonntag|ostern \\d{4}`,
  ) },
  { name: 'date', pattern: new RegExp(`(?:\\d{1,2}\\.?\\s*${months}|${months}\\s*\\d{1,2}(?:st|nd|rd|th)?|\\d{4}-\\d\\d-\\d\\d|\\d{1,2}\\.\\d{1,2}\\.\\d{4}).{1,40}(?:and|to|until|und|bis|plus|minus).{1,20}\\d`, 'iu') },
  { name: 'timezone', pattern: phrases('what time is it in', 'wie spät ist es in', 'time ?zones?', 'zeitzone*', 'wie viel uhr ist es in', 'utc', 'gmt', '(?:time|zeit)(?: |verschiebung|unterschied|-)?(?: difference)? (?:between|zwischen)', 'zeitverschiebung') },
  { name: 'unit', pattern: phrases(`${number} ?${units} (?:in|to|into|zu|nach|auf|sind|are|is) (?:how many |wie viele? )?${units}`, `how many ${units} (?:are |is |make |does |do )?(?:there )?(?:in|per|to|an?) .{0,20}`, `wie ?viele?(?: wiegt| ist| sind)? ${number} ${units}`, `${number} ${units} .{1,20} in ${units}`, `wie ?viele? ${units} (?:sind|hat|ist|ergeben|passen)`, `convert .{0,40}${units}`, `rechne .{0,60} um`, `(?:wandle|konvertiere) .{0,40}${units} .{0,12}um`, `umrechn*`) },
  { name: 'hash', pattern: phrases('sha-?(?:1|2|224|256|384|512)', 'md5', 'crc32', 'base64', 'hash (?:of|for|value|von)', 'hashwert', 'url-?encod*', 'uuid', 'checksum', 'prüfsumme') },
  { name: 'subnet', pattern: /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}(?!\d)/u },
  { name: 'subnet', pattern: phrases('subnet mask', 'usable hosts', 'netzmaske', 'broadcast address', 'broadcast-adresse', 'wildcard mask', 'network address', 'netzadresse') },
  { name: 'regex', pattern: phrases('regex(?:es|p)?', 'regular expressions?', 'reguläre[rns]? ausdr(?:uck|ücke)*') },
  { name: 'text', pattern: phrases('how many (?:letters|words|characters|vowels|consonants|syllables|[a-z](?:\'?s)?(?: are| is)?(?: there)? in|times (?:does|is) (?:the )?(?:letter|word)|.{1,3}\'?s are (?:there )?in)', 'count the (?:letters|words|characters|vowels)', 'wie viele (?:[a-zäöü](?:s)? (?:sind|hat|stecken|kommen)|buchstaben|wörter|zeichen|vokale|silben)', 'zähle die', 'wie oft (?:kommt|steht) (?:der|das) (?:buchstabe|wort)', 'backwards', 'reverse the (?:word|string|text)', 'rückwärts') },
  { name: 'json', pattern: phrases('jmespath', 'jsonpath', 'json') },
]; // prettier-ignore
