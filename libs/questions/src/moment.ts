import { phrases } from './complexity/phrases.js';

const english = phrases(
  'today*',
  'tonight*',
  'tomorrow*',
  'yesterday*',
  'now(?:adays)?',
  'current(?:ly)?',
  'presently',
  'at (?:the moment|present)',
  'latest',
  'newest',
  'recent(?:ly)?',
  'upcoming',
  'so far',
  'ago',
  'yet',
  'still',
  '(?:this|next|last|past|coming|previous) (?:morning|afternoon|evening|night|week(?:end)?|month|quarter|year|decade|season|spring|summer|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)',
  '(?:next|last|past|coming) (?:few|couple of|\\d+|two|three|four|five|six|seven|ten) (?:hours|days|weeks|months|years)',
  'in (?:\\d+|an?|two|three|four|five|six|seven|ten) (?:hours?|days?|weeks?|months?|years?)',
  'what (?:time|day|date|month|year) is it',
  'how old (?:is|are)',
);
const german = phrases(
  'heut*',
  '(?:vor)?gestern',
  '(?:über)?morgen',
  'jetzt',
  'derzeit*',
  'zurzeit',
  'aktuell*',
  'momentan*',
  'gegenwärtig*',
  'im moment',
  'neu(?:e)?ste[rsnm]?',
  'kürzlich',
  'neulich',
  'bisher',
  'noch',
  'vor (?:\\d+|eine[rmn]?|zwei|drei|vier|fünf|sechs|sieben|zehn) (?:stunden?|tage?n?|wochen?|monate?n?|jahre?n?)',
  'in (?:\\d+|eine[rmn]?|zwei|drei|vier|fünf|sechs|sieben|zehn) (?:stunden?|tage?n?|wochen?|monate?n?|jahre?n?)',
  '(?:diese|nächste|letzte|vorige|kommende|vergangene)[rsnm]? (?:nacht|woche|wochenende|monat|quartal|jahr|jahrzehnt|saison|frühling|sommer|herbst|winter|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)',
  'wie spät',
  'welche[rsn]? (?:tag|datum|jahr|monat) (?:ist|haben wir)',
  'wie alt (?:ist|sind)',
);

/**
 * Whether the answer depends on the day on which the question is asked: "tomorrow", "the latest", "how old is she". Errs on the side of
 * yes: an answer that is found again too rarely costs a run, an outdated one is wrong. English and German.
 */
export const asksAboutToday = (text: string): boolean => english.test(text) || german.test(text);
