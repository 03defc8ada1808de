import { countOf, phrases } from './phrases.js';

/** Someone or something named by its relation to something else: each is one step of looking up. */
const relations = phrases(
  '(?:co-?)?founders?', 'inventors?', 'discoverers?', 'authors?', 'writers?', 'directors?', 'composers?', 'painters?', 'architects?', 'designers?', 'creators?', 'owners?', 'ceo', 'chair(?:man|woman|person)', 'presidents?', 'prime ministers?', 'chancellors?', 'kings?', 'queens?', 'emperors?', 'mayors?', 'governors?', 'popes?', 'captains?', 'coach(?:es)?', 'leaders?', 'lead (?:singer|actor|actress)', 'winners?', 'successors?', 'predecessors?',
  '(?:grand|step)?(?:mother|father|son|daughter|parents|child(?:ren)?)', 'wife', 'husband', 'spouse', 'brother', 'sister', 'uncle', 'aunt', 'teacher', 'mentor', 'parent company', 'publisher', 'capital', 'birthplace', 'hometown', 'headquarters',
  '(?:mit)?gründer(?:in|s|innen)?', 'erfinder(?:in|s)?', 'entdecker(?:in|s)?', 'autor(?:in|s|en)?', 'verfasser(?:in|s)?', 'schriftsteller(?:in|s)?', 'regisseur(?:in|s)?', 'komponist(?:in|en)?', 'maler(?:in|s)?', 'architekt(?:in|en)?', 'schöpfer(?:in|s)?', 'besitzer(?:in|s)?', 'eigentümer(?:in|s)?', 'chef(?:in|s)?', 'vorsitzende[rn]?', 'präsident(?:in|en)?', 'ministerpräsident(?:in|en)?', 'kanzler(?:in|s)?', 'königs?', 'königin', 'kaisers?', 'bürgermeister(?:in|s)?', 'papst(?:es)?', 'kapitäns?', 'trainers?', 'siegers?', 'nachfolger(?:in|s)?', 'vorgänger(?:in|s)?', 'hauptdarsteller(?:in|s)?', 'sänger(?:in|s)?',
  '(?:groß|schwieger)?(?:mutter|vaters?|eltern)', 'söhne?', 'sohn(?:es)?', 'tochter', 'töchter', '(?:ehe)?frau', '(?:ehe)?mann(?:es)?', 'bruders?', 'schwester', 'onkels?', 'tante', 'lehrer(?:in|s)?', 'mutterkonzerns?', 'verlags?', 'hauptstadt', 'geburtsort(?:s|es)?', 'geburtsland(?:s|es)?', 'heimatstadt', 'firmensitz(?:es)?',
); // prettier-ignore

/** What is asked about whatever the relations lead to. */
const attributes = phrases(
  'born', 'did .{1,60} die', 'died', 'buried', 'grow up', 'grew up', 'stud(?:y|ied)', 'graduate[ds]?', 'located', 'situated', 'population', 'inhabitants', 'currency', 'anthem', 'nationality', 'birthday', 'how (?:old|tall|high|long|big|large)', 'area', 'height', 'profession', 'married to', 'elevation',
  'geboren', 'gestorben', 'starb', 'begraben', 'aufgewachsen', 'studierte?', 'studiert', 'liegt', 'gelegen', 'einwohner(?:zahl)?', 'währung', 'nationalhymne', 'staatsangehörigkeit', 'wie (?:alt|hoch|groß|lang)', 'fläche', 'beruf', 'verheiratet', 'gegründet',
); // prettier-ignore

/** A thing described by what it did or what happened there: "the country that won …", "des Landes, in dem …". */
const describedThing =
  /(?<![\p{L}\p{N}])(?:the|a)\s+(?:\p{L}+\s+){1,3}(?:that|who|which|whose|where|in which)\s+\p{L}+|(?<=\p{L}),\s+(?:in|an|auf|aus|von|mit|zu|über)?\s*(?:der|die|das|dem|den|deren|dessen|denen)\s+\p{L}+/giu;

const questionOpener = phrases(
  'who', 'whom', 'whose', 'where', 'when', 'which', 'what', 'how (?:old|tall|high|long|many|big|large|far)', 'in which', 'in what', 'wer', 'wen', 'wem', 'wessen', 'wo', 'wann', 'welche[rnsm]?', 'was', 'wie (?:alt|hoch|groß|lang|viele|heißt|hieß)', 'name', 'nenne', 'find out',
); // prettier-ignore

/** Not who the founder is but something about the founder: "Which university did the inventor of X attend?" */
const asksBeyond =
  /(?<!\p{L})(?:where|when|how (?:old|tall|long|many)|(?:in |at |on )?(?:which|what) \p{L}+ (?:did|does|do|was|were|is|has|had)|wo|wann|wie (?:alt|lange|viele)|(?:in|an|auf|aus) welche[rmn]? \p{L}+)\s.{0,60}(?:\p{L}+(?:er|or|ors|ers|eur|ist|in|ent|t|e)\s+(?:of|von|des|der)\s|['’]s\s)/iu;
/** A second fact that fixes the first: "… when the wall fell", "…, als der Film erschien". */
const sideClause = /\S\s(?:when|while|as|at the time)\s+(?:the\s+)?\p{L}+.{1,60}\p{L}|,\s*(?:als|während)\s+\p{L}/iu;

const asksForItself =
  /^(?:name|nenne|list|tell me|sag)(?!\p{L})|^(?:who|what|wer|was|wie)(?:'s| is| are| was| were| do you call| ist| sind| war| waren| nennt| heißt)(?!\p{L})/iu;

/** Steps of looking up that a question asks for: relations, descriptions and the asked attribute. 0 when it is no question of facts. */
export function hopsOf(text: string): number {
  if (!questionOpener.test(text)) return 0;
  const described = countOf(text, describedThing);
  // "Who is the man that …" asks for the thing itself, "Who directed the film that …" for something about it.
  const steps = countOf(text, relations) + described + (described > 0 && !asksForItself.test(text) ? 1 : 0);
  return steps === 0 ? 0 : steps + (attributes.test(text) || asksBeyond.test(text) ? 1 : 0) + (sideClause.test(text) ? 1 : 0);
}

const comparative = phrases(
  'older', 'younger', 'taller', 'shorter', 'bigger', 'larger', 'smaller', 'longer', 'higher', 'lower', 'deeper', 'faster', 'slower', 'heavier', 'lighter', 'richer', 'cheaper', 'hotter', 'colder', 'earlier', 'later', 'first', 'more', 'fewer', 'less', 'better', 'stronger', 'closer',
  'älter', 'jünger', 'größer', 'kleiner', 'länger', 'kürzer', 'höher', 'tiefer', 'schneller', 'langsamer', 'schwerer', 'leichter', 'reicher', 'teurer', 'billiger', 'günstiger', 'wärmer', 'kälter', 'früher', 'später', 'zuerst', 'mehr', 'weniger', 'besser', 'stärker', 'näher',
); // prettier-ignore

const alternatives = phrases('or', 'oder', 'than', 'als');

/** "Who is older, A or B?": both have to be looked up. */
export const comparesTwo = (text: string): boolean =>
  comparative.test(text) && alternatives.test(text) && /\?|^(?:which|who|what|wer|was|welche)/iu.test(text); // prettier-ignore

/** What changes with time is not in a model. */
export const asksForNow = phrases(
  'today(?:\'s)?', 'tonight', 'tomorrow', 'yesterday', 'right now', 'currently', 'current', 'at the moment', 'at present', 'nowadays', 'latest', 'newest', 'most recent', 'recently', 'this (?:week|month|year|season|weekend)', 'last (?:week|month|night)', 'next (?:week|month)', 'news', 'weather', 'forecast for', 'exchange rate', 'stock price', 'share price', 'opening hours', 'up-to-date',
  'heute', 'heutige[nrs]?', 'gestern', 'jetzt gerade', 'zurzeit', 'zur zeit', 'derzeit*', 'momentan*', 'aktuell*', 'gegenwärtig*', '(?:ist|hat|sind|läuft|gibt es) (?:eigentlich )?gerade', 'neuest*', 'letzte[nr]? (?:woche|nacht)', 'nächste[nr]? (?:woche)', 'diese[nrs]? (?:woche|monat|jahr|saison|wochenende)', 'nachrichten', 'wetter', 'wechselkurs', 'aktienkurs', 'öffnungszeiten', 'wird es morgen', 'ist morgen',
); // prettier-ignore

/** A page or a document the asker points at. */
export const pointsAtSource = new RegExp(
  `https?://\\S+|${phrases('attached', 'attachment', 'the (?:document|file|handbook|manual|report|pdf|policy)', 'our (?:document|handbook|manual|policy|wiki|contract)s?', 'im anhang', 'angehängt*', 'anbei', '(?:das|dem|im|unser(?:em|en|e)?) (?:dokument|handbuch|bericht|pdf|richtlinie|wiki)', 'die datei', 'der datei').source}`,
  'iu',
);
