import { phrases } from '../complexity/phrases.js';
import type { ComparedText } from './reading.js';

/** Kind of answer wanted; `any` for an order ("explain …") and for texts without a recognisable kind. */
export type QuestionType =
  'time' | 'place' | 'person' | 'reason' | 'count' | 'amount' | 'duration' | 'measure' | 'manner' | 'thing' | 'yes-no' | 'any';

const whatIs = "(?:what|which)(?:'s| is| was| are| were)(?: the| an?)?";
const wasIst = '(?:was|wie|welche[rmns]?) (?:ist|war|sind|waren|hat|hatte)(?: der| die| das| ein| eine)?';

/** The kind found first in a text applies; at the same position the earlier line wins. */
const types: readonly (readonly [QuestionType, RegExp])[] = [
  ['thing', phrases('how do (?:you|i|we) say', 'wie (?:heißt|heißen|hieß|lautet|lauten|nennt|sagt)')],
  [
    'duration',
    phrases(
      'how long (?:does|do|did|should|must|will|can)',
      'how many (?:seconds|minutes|hours|days|weeks|months)',
      'wie lange',
      'wie viele (?:sekunden|minuten|stunden|tage|wochen|monate)',
      `${wasIst} dauer`,
    ),
  ],
  [
    'count',
    phrases(
      'how many',
      `${whatIs} (?:number|count|population(?! density))`,
      'wie ?viele',
      `${wasIst} (?:anzahl|einwohnerzahl|bevölkerung)`,
    ),
  ],
  [
    'amount',
    phrases('how (?:much|expensive)', `${whatIs} (?:price|cost)`, 'wie ?viel', 'was kostet', 'was kosten', `${wasIst} preis`, 'wie teuer'),
  ],
  [
    'measure',
    phrases(
      'how (?:tall|high|old|far|big|large|deep|wide|heavy|fast|hot|cold|long|often)',
      `${whatIs} (?:height|age|distance|size|depth|width|weight|speed|length|temperature|frequency)`,
      'wie (?:hoch|alt|weit|groß|tief|breit|schwer|schnell|heiß|warm|kalt|lang|oft)',
      `(?:${wasIst}|welche[smr]?) (?:höhe|größe|tiefe|breite|geschwindigkeit|länge|entfernung|alter|gewicht|temperatur)`,
    ),
  ],
  [
    'reason',
    phrases(
      'why',
      'how come',
      'for what reason',
      `${whatIs} (?:main )?(?:reasons?|causes?)`,
      'what causes?',
      'what caused',
      'what makes',
      'warum',
      'wieso',
      'weshalb',
      'wodurch',
      'woran liegt',
      `${wasIst} (?:ursachen?|gründe|grund)`,
      'aus welchem grund',
    ),
  ],
  [
    'time',
    phrases(
      'when',
      '(?:what|which) (?:year|date|day|month|time|century)',
      `${whatIs} (?:.{1,40} )?(?:date|year|day|time)`,
      'wann',
      'welche[smnr]? (?:jahr|datum|tag|monat|uhrzeit|jahrhundert)',
      'seit wann',
      `${wasIst} .{0,30}zeit`,
      `${wasIst} (?:geburtsdatum|geburtsjahr|geburtstag|todesdatum|datum|jahr)`,
    ),
  ],
  [
    'place',
    phrases(
      'where',
      '(?:what|which) (?:city|cities|country|countries|towns?|places?|states?|regions?|location|continents?)',
      `${whatIs} (?:location|place|birthplace)`,
      'wo',
      'woher',
      'wohin',
      'welche[rmns]? (?:stadt|städten?|land|ländern?|länder|orte?n?|staate?n?|regione?n?|kontinente?n?)',
      `${wasIst} (?:geburtsort|ort)`,
    ),
  ],
  [
    'person',
    phrases(
      'who',
      'whom',
      'whose',
      '(?:what|which) (?:person|people|man|woman|author|president|scientist|actor|actress|singer|player|writer|king|queen|politician)',
      'wer',
      'wen',
      'wem',
      'wessen',
      'welche[rns]? (?:person|mensch|schauspieler(?:in)?|sänger(?:in)?|spieler(?:in)?|autor(?:in)?|könig|politiker(?:in)?)',
    ),
  ],
  [
    'manner',
    phrases(
      `${whatIs} (?:best |easiest |fastest |right )?(?:way|steps|method|procedure|process|recipe)`,
      'what should i do',
      `${whatIs} .{1,60} like`,
      'auf welche weise',
      'how',
      'wie',
    ),
  ],
  ['thing', phrases('what', 'which', 'was', 'welche[rmns]?', 'wofür', 'worin', 'worauf', 'womit')],
];

const startsPolar =
  /^(?:is|are|were|am|do|does|did|can|could|may|must|should|would|will|has|have|had|isn't|aren't|don't|doesn't|ist|sind|war|waren|bin|hat|haben|hatte|kann|können|darf|dürfen|muss|müssen|soll|sollte|sollten|wird|werden|wurde|gibt)(?![\p{L}])/u;
const wrappers =
  /^(?:(?:hi|hello|hey|hallo|please|bitte|and|und|so|ok)[\s,!.]+)*(?:(?:can|could|would|will) you (?:please )?(?:tell|explain|show|give|say|help)(?: to)?(?: me| us)?,?|do you know,?|i (?:want|would like|need|'d like) to know,?|i'd like to know,?|tell me,?|kannst du (?:mir |uns )?(?:bitte )?(?:sagen|erklären|zeigen),?|könntest du (?:mir |uns )?(?:bitte )?(?:sagen|erklären|zeigen),?|weißt du,?|sag mir,?|ich (?:möchte|will|würde gern|würde gerne) wissen,?)?\s*/u;

export function questionTypeOf({ prose, language }: ComparedText): QuestionType {
  const asked = prose.slice(0, 300).replace(wrappers, '');
  // "was" means "what" in German.
  if (language !== 'de' && /^was\s/u.test(asked)) return 'yes-no';
  if (startsPolar.test(asked) && !asked.startsWith('gibt es')) return 'yes-no';
  let kind: QuestionType = 'any';
  let first = Number.POSITIVE_INFINITY;
  for (const [type, pattern] of types) {
    const at = pattern.exec(asked)?.index ?? Number.POSITIVE_INFINITY;
    if (at < first) [kind, first] = [type, at];
  }
  return kind;
}

/** Words that only express the kind of answer; they may be missing if both texts want that kind. */
const dress: Readonly<Partial<Record<QuestionType, ReadonlySet<string>>>> = {
  count: new Set(
    'number count total population people live lives living inhabitants residents anzahl zahl einwohner einwohnerzahl bevölkerung menschen leben lebt wohnen'.split(
      ' ',
    ),
  ),
  reason: new Set(
    'come reason reasons cause causes caused happen happens occur occurs ursache ursachen grund gründe entstehen entsteht wodurch liegt passiert passieren kommt'.split(
      ' ',
    ),
  ),
  'yes-no': new Set('true wahr stimmt safe ok okay fine allowed possible able permitted erlaubt möglich zulässig okay'.split(' ')),
  time: new Set('year date day month jahr datum tag'.split(' ')),
  duration: new Set('long time take takes duration lange dauer dauert zeit minutes hours days minuten stunden tage'.split(' ')),
  amount: new Set('price cost costs preis kosten kostet teuer'.split(' ')),
  place: new Set(
    'country countries city cities town place places region land länder ländern stadt städte städten region steht located location situated lie lies place liegt befindet gelegen ort'.split(
      ' ',
    ),
  ),
  person: new Set('person name people man woman actor actress singer player writer schauspieler schauspielerin sänger spieler'.split(' ')),
};
export const isDress = (type: QuestionType, word: string): boolean => dress[type]?.has(word) ?? false;

const families: readonly (readonly QuestionType[])[] = [
  ['time', 'place', 'person', 'reason', 'thing', 'count', 'manner', 'yes-no'],
  ['duration', 'place', 'person', 'reason', 'time', 'count', 'thing'],
  ['measure', 'place', 'person', 'reason', 'time', 'count', 'manner', 'yes-no', 'thing'],
  ['amount', 'place', 'person', 'reason', 'time', 'yes-no', 'count', 'thing', 'manner'],
];
const nouns = (words: string): ReadonlySet<string> => new Set(words.split(' '));
/** Kinds that may ask the same, if the second has the noun: "How do I get there?", "What is the best route?". */
const compatible: readonly (readonly [QuestionType, ReadonlySet<string>])[] = [
  [
    'manner',
    nouns(
      'way ways method methods steps procedure process recipe route differ difference differences unterschied unterschiede unterscheiden connection connections directions instructions weg weise methode schritte rezept verbindung zugverbindung anleitung',
    ),
  ],
  ['person', nouns('name names called heißt heißen hieß')],
  ['duration', nouns('duration dauer')],
  [
    'measure',
    nouns(
      'height age distance size depth width weight speed length temperature frequency high old far big large deep wide heavy fast hot cold long höhe größe tiefe breite geschwindigkeit länge entfernung alter gewicht temperatur',
    ),
  ],
  ['amount', nouns('price prices cost costs expensive amount fee fees preis kosten betrag gebühr')],
];

type Types = readonly [QuestionType, QuestionType];

/** Whether the word is a noun by which questions of these two kinds may ask the same. */
export const wantsNoun = ([a, b]: Types, word: string): boolean =>
  compatible.some(([type, words]) => (a === type) !== (b === type) && words.has(word));

/** Whether the two kinds exclude each other. `loose` are the words that the texts do not share, of each text. */
export function typesConflict([a, b]: Types, loose: readonly [ReadonlySet<string>, ReadonlySet<string>]): boolean {
  if (a === b || a === 'any' || b === 'any') return false;
  const isReworded = compatible.some(([type, words]) => {
    const ofThing = a === type && b === 'thing' ? loose[1] : b === type && a === 'thing' ? loose[0] : null;
    return ofThing !== null && [...words].some((word) => ofThing.has(word));
  });
  return !isReworded && families.some((family) => family.includes(a) && family.includes(b));
}
