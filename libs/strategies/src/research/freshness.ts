/** How fast search results become outdated. */
export interface Freshness {
  readonly kind: 'current' | 'lasting';
  /** Milliseconds for which results may be reused. */
  readonly ttlMs: number;
}

const minute = 60_000;
export const freshness = {
  current: { kind: 'current', ttlMs: 30 * minute },
  lasting: { kind: 'lasting', ttlMs: 24 * 60 * minute },
} as const satisfies Record<Freshness['kind'], Freshness>;

/** Words of questions about current facts, English and German. */
const english =
  'today|tonight|now|nowadays|currently|current|latest|newest|recent|recently|live|breaking|news|headlines?|weather|forecast|' +
  'this (?:week|month|morning|evening|weekend|season)|yesterday|tomorrow|up[- ]to[- ]date|price|prices|exchange rates?|stock quotes?|share prices?|' +
  'interest rates?|scores?|standings|opening hours|traffic|outages?|at the moment|right now|so far this year|who is (?:the )?(?:president|chancellor|ceo)';
const german =
  'heute|heutige[nrsm]?|jetzt|derzeit|derzeitige[nrsm]?|momentan|momentane[nrsm]?|gegenwärtig|aktuell|aktuelle[nrsm]?|aktuellste[nrsm]?|' +
  'neueste[nrsm]?|neuste[nrsm]?|jüngste[nrsm]?|kürzlich|gerade|live|eilmeldung(?:en)?|nachrichten|schlagzeilen?|wetter|wettervorhersage|' +
  'diese (?:woche|saison)|dieser (?:woche|saison)|diesen monat|diesem monat|gestern|morgen|preis|preise|preisen|\\p{L}{0,30}kurs|\\p{L}{0,30}kurse|' +
  '\\p{L}{0,30}preise|\\p{L}{0,30}zinsen|leitzins|tabellenstand|spielstand|öffnungszeiten|verkehrslage|zurzeit|zur zeit|im moment';
const aboutNow = new RegExp(`(?<![\\p{L}\\p{N}])(?:${english}|${german})(?![\\p{L}\\p{N}])`, 'iu');

/**
 * Whether a query asks for current facts (results last 30 minutes) or lasting ones (24 hours). Pure. Mistaking lasting for current
 * costs a search, the reverse an outdated answer, so doubtful words count as current.
 */
export const freshnessOf = (query: string): Freshness =>
  aboutNow.test(query.normalize('NFC').replace(/\s+/g, ' ').slice(0, 2_000)) ? freshness.current : freshness.lasting;

/** A query without differences in case, spaces, look-alike characters and closing marks. Keeps operators such as quotes. */
export const normalisedQuery = (query: string): string =>
  query
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’‚]/g, "'")
    .replace(/[“”„]/g, '"')
    .replace(/\s+/g, ' ')
    .replace(/(?<![\s?!.])[\s?!.]+$/, '')
    .trim();
