import * as z from 'zod';

/** What kind of research a question needs. */
export const QuestionClass = z.enum(['factual', 'exploratory', 'deep_dive', 'comparative']);
export type QuestionClass = z.infer<typeof QuestionClass>;

/** A class read from the words of a question; `sure` if no sign points to another class. */
export interface ReadClass {
  readonly class: QuestionClass;
  readonly sure: boolean;
}

const words = (...parts: readonly string[]): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})(?![\\p{L}\\p{N}])`, 'iu');

/** A comparative form, German or English, without the many words that only look like one. */
const more =
  '(?!(?:over|under|after|other|another|either|neither|whether|never|ever|over|number|order|per|her|for|or)\\b)\\p{L}{3,}er(?:e[nrsm]?)?';

/** Signs that things are compared with each other, or put in order. */
const comparative = words(
  // One thing that has more of something than another.
  'than',
  'between [^?]+ and',
  'zwischen [^?]+ und',
  `${more}[^?]* als`,
  '(?:mehr|weniger) [^?]*als',
  'in common',
  'gemein(?:sam)?',
  'resembles?',
  'ähnel(?:n|t)',
  'ähnlich(?:keit(?:en)?)?',
  'apart from',
  'heb(?:t|en)\\b[^?]* ab',
  'weich(?:t|en)\\b[^?]* ab',
  'weigh(?:s|ed|ing)?(?: up)?',
  'wäge?',
  'abzuwägen',
  'from \\p{L}+est to',
  'von \\p{L}+ nach \\p{L}+(?=[.:]|$)',
  'top (?:two|three|five|ten|\\d+)',
  '(?:best|highest|largest|oldest|lowest|first|most \\p{L}+) first',
  'welche[rs]? (?:der|von den|dieser) (?:beiden|zwei|drei|vier|fünf)',
  'which of the',
  'compar(?:e[ds]?|ing|ison|isons|ative(?:ly)?)',
  'contrast(?:s|ed|ing)?',
  'versus',
  'vs\\.?',
  'differ(?:s|ed)?',
  'differences?',
  'distinguish(?:es)?',
  'rank(?:s|ed|ing)?',
  'trade-?offs?',
  'pros and cons',
  'alike',
  'similarit(?:y|ies)',
  'side by side',
  'relative to',
  'as opposed to',
  'rather than',
  'instead of',
  'better',
  'worse',
  'cheaper',
  '(?:more|less|fewer) [\\p{L}-]+ than',
  `${more} than`,
  'prefer(?:able)?',
  'stack up',
  'in (?:ascending|descending) order',
  'from (?:best|highest|lowest|oldest|largest|smallest|cheapest|most) to',
  'which (?:of|one|is|are|has|have|was|were|had|offers?|uses?|needs?|gives?|costs?)\\b[^?]*\\bor',
  '(?:or|between) [^?]{3,80}\\band\\b[^?]{3,80}\\bwhich',
  'vergleich(?:e|en|t|st|s|bar)?',
  'verglichen',
  'gegenüber(?:stellung|gestellt|stellen|zustellen)?',
  'unterschied(?:e|en|lich)?',
  'unterscheide[nt]?',
  'abwägen',
  'vor- und nachteile[n]?',
  'rangliste',
  'rangfolge',
  'reihenfolge',
  'ordne',
  'sortiere',
  'gemeinsamkeit(?:en)?',
  'im gegensatz',
  'lieber',
  'besser',
  'schlechter',
  'statt(?:dessen)?',
  'anstatt',
  'eher',
  `${more} als`,
  '(?:mehr|weniger|seltener|häufiger) [^?]{0,40}als',
  'was (?:ist|war|kostet)[^?]*\\boder\\b',
  'welche[rs]?\\b[^?]*\\boder\\b',
  'wer\\b[^?]*\\boder\\b',
);

/** Two things to choose from, if a question names them: elsewhere the word joins any two things ("the given movie or series"). */
const choice = words('or(?! not\\b)', 'oder(?! nicht\\b)');
const isQuestion =
  /\?\W*$|^(?:who|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|can|could|will|would|should|wer|was|welche[rnsm]?|wann|wo|warum|wie|ist|sind|war|hat|haben|kann|soll(?:te)?)(?!\p{L})/iu;
const asksForChoice = (text: string): boolean => sentencesOf(text).some((sentence) => isQuestion.test(sentence) && choice.test(sentence));

/** Signs that one document or subject must be read as a whole. */
const deepDive = words(
  // Actions on one text that is read as a whole.
  'read',
  'study',
  'take [^?]* apart',
  'break [^?]* down',
  'break down',
  'lay out',
  'go (?:deep|deeper|through)',
  'reasoning (?:of|behind)',
  'conclusions?',
  '(?:word|minute|page|point|sentence) by (?:word|minute|page|point|sentence)',
  'lies',
  'lest',
  'studiere',
  'nimm [^?]* auseinander',
  'verfolge',
  'geh(?:e|en)?\\b[^?]* (?:in die tiefe|durch)',
  'stelle\\b[^?]* (?:dar|zusammen)',
  'schlüssle',
  'erläutere',
  'schlüsse[n]?',
  'begründet',
  'begründung',
  '(?:wort|minute|seite|satz|zeile|klausel) für (?:wort|minute|seite|satz|zeile|klausel)',
  'in (?:great |full |more |some )?(?:detail|depth)',
  'detailed',
  'in-depth',
  'thorough(?:ly)?',
  'comprehensive(?:ly)?',
  'exhaustive(?:ly)?',
  'step by step',
  'deep dive',
  'from (?:start|beginning) to (?:finish|end)',
  'clause by clause',
  'line by line',
  'section by section',
  'chapter by chapter',
  'walk me through',
  'everything',
  'summari[sz](?:e|es|ing)',
  'summary',
  'the whole',
  'the entire',
  'the full',
  'full (?:text|account|story)',
  'every (?:step|clause|section|detail|argument|point|requirement|provision)',
  'all (?:the )?(?:provisions|requirements|steps|clauses|details|arguments)',
  'according to (?:the|this|that|our)',
  'what does (?:the|this|our) [^?]* (?:say|state|require|prescribe|conclude|argue)',
  '(?:section|chapter|article|paragraph|annex|appendix|page|clause) (?:\\d+|[ivx]+|[a-z])',
  'analy[sz]e',
  'dissect',
  'go through',
  'close(?:ly)? read(?:ing)?',
  'reconstruct',
  'trace',
  'im (?:detail|einzelnen|ganzen)',
  'detailliert(?:e[nrsm]?)?',
  'ausführlich(?:e[nrsm]?)?',
  'gründlich(?:e[nrsm]?)?',
  'umfassend(?:e[nrsm]?)?',
  'eingehend(?:e[nrsm]?)?',
  'schritt für schritt',
  'punkt für punkt',
  'kapitel für kapitel',
  'von anfang bis ende',
  'fasse',
  'zusammenfassung',
  'zusammen(?:fassen|zufassen)',
  'lückenlos(?:e[nrsm]?)?',
  'vollständig(?:e[nrsm]?)?',
  'in allen einzelheiten',
  'laut (?:de[mr]|diese[mr]|unsere[mr])',
  'nach (?:dem|der) (?:bericht|gutachten|satzung|vertrag|handbuch|richtlinie|protokoll)',
  'was (?:steht|sagt|schreibt|regelt|verlangt) [^?]*(?:bericht|gutachten|satzung|vertrag|handbuch|richtlinie|protokoll|studie|gesetz|verordnung|ordnung|anleitung|dokument)',
  '(?:abschnitt|kapitel|artikel|absatz|anhang|seite|paragraf|paragraph|klausel) (?:\\d+|[ivx]+|[a-z])',
  'analysiere',
  'alles',
  'jede[nrs]? (?:schritt|klausel|abschnitt|punkt|einzelheit)',
  'nachvollziehen',
  'zeichne',
  'arbeite',
);

/** Signs that a whole field is of interest. */
const exploratory = words(
  // Open questions: what may happen, what is happening, how something is done.
  '^how (?:do|does|are|is|can|could|might|would|should|will)',
  '^wie (?!viele?|hoch|alt|lange?|weit|tief|schnell|schwer|groß|oft|breit|heiß(?:t|en)|hieß|lautet|nennt|teuer|spät)\\p{L}+',
  '(?:what|who|which)\\b[^?]* (?:might|could|may)',
  'was\\b[^?]* (?:könnte[n]?|kann alles|mag)',
  'suggest',
  'schlag(?:e)?\\b[^?]* vor',
  'vorschläge',
  'what (?:kinds?|sorts?|types?) of',
  'was für',
  'happening',
  'going on',
  'heading',
  'lately',
  'tut sich',
  'bewegt sich',
  'entwickel(?:t|n) sich',
  'wohin (?:geht|steuert|führt)',
  'get into',
  'new to',
  'overview',
  'landscape',
  'explore',
  'brainstorm',
  'ideas?',
  'trends?',
  'developments?',
  'state of (?:the art|research|knowledge|play)',
  'what is (?:already )?known',
  "what(?:'s| is) (?:new|happening|going on)",
  'current thinking',
  'perspectives?',
  'debates?',
  'schools of thought',
  'how (?:might|could|can|would|do|does|are|is) (?:people|one|we|cities|firms|companies|farmers|towns|communities|[\\p{L}]+s)\\b',
  '(?:what|which|some|any)(?: (?:are|were|kinds?|sorts?|types?|of|the|main|other|possible|different|new|recent|promising|common|typical|various|biggest))* (?:ways?|options|approaches|methods|strategies|factors|reasons|causes|challenges|obstacles|implications|consequences|effects|opportunities|risks|directions|questions|aspects|themes|applications|uses|alternatives|solutions|possibilities|influences|theories|explanations|movements|problems)',
  'introduc(?:e|tion) (?:me )?to',
  'tell me about',
  'learn about',
  'get started',
  'looking into',
  'interested in',
  'what should i (?:know|read|look)',
  'why (?:do|does|did|are|is|has|have) [^?]{12,}',
  'überblick',
  'übersicht',
  'landschaft',
  'erkunde[n]?',
  'ideen',
  'anregungen',
  'trends?',
  'entwicklung(?:en)?',
  'strömungen',
  'stand der (?:forschung|technik|dinge|diskussion)',
  'was (?:ist|weiß man|wissen wir)[^?]*(?:bekannt|über|neues)',
  'perspektiven',
  'debatten?',
  'einführung',
  'einstieg',
  'erzähl(?:e)?',
  'wie (?:könnte[n]?|kann man|lässt sich|lassen sich|gehen|wirken?|verändern?|verändert)',
  '(?:welche|was für|was sind)(?: (?:die|neuen?|wichtigsten|möglichen?|anderen?|arten?|von|es|gibt|typischen?|verschiedenen?|größten))* (?:möglichkeiten|wege|ansätze|methoden|strategien|faktoren|gründe|ursachen|herausforderungen|hürden|folgen|auswirkungen|chancen|risiken|richtungen|fragen|aspekte|themen|anwendungen|alternativen|lösungen|theorien|erklärungen|einflüsse|probleme)',
  'warum [^?]{18,}',
  'womit beschäftigt',
  'wofür interessier',
);

/** Signs that one value, name, date or place is requested. */
const factual = new RegExp(
  "^(?:(?:and|so|please|und|also|bitte|hey|ok)[, ]+)?(?:(?:do you know|can you tell me|could you tell me|tell me|i need to know|weißt du|kannst du mir sagen|sag mir),? )?(?:who(?:se|m)?\\b|when\\b|where\\b|how (?:many|much|old|tall|long|far|high|deep|fast|heavy|big|large|often|wide)\\b|what (?:year|time|date|day|colou?r|country|city|town|language|currency|percentage|temperature|unit|name|number)\\b|what (?:is|was|are|were|'s) (?:the|a|an|its|his|her)\\b|what's\\b|which (?:year|country|city|town|river|planet|element|person|language|company|team|author|day|month|king|queen|president|bridge|mountain|ship|metal|state|sea|lake|island|port|street)\\b|in (?:which|what)\\b|on (?:which|what)\\b|at (?:which|what)\\b|by whom\\b|(?:is|are|was|were|did|does|do|has|have|can) (?!you\\b)|" +
    'wer\\b|wem\\b|wen\\b|wessen\\b|wann\\b|wo\\b|woher\\b|wohin\\b|wie (?:viele?|hoch|alt|lang|lange|weit|tief|schnell|schwer|groß|oft|breit|heißt|heißen|hieß|lautet|nennt)\\b|welche[rsnm]? (?:jahr|land|stadt|fluss|planet|element|sprache|währung|farbe|tag|monat|firma|könig|königin|autor|autorin|berg|brücke|metall|meer|see|insel|hafen|straße|bundesland|temperatur|einheit|nummer)\\b|in welche[rmn]\\b|an welche[rmn]\\b|auf welche[rmn]\\b|seit wann\\b|was (?:ist|war|sind|bedeutet|kostet|heißt) |(?:ist|sind|war|waren|hat|haben|gibt|liegt|kann) (?!du\\b|man\\b))',
  'iu',
);

/** Number of words above which a question seldom asks for a single value. */
const longFactual = 22;

/** Number of words above which a text is more than a question: its signs may belong to what it tells or quotes. */
const longQuestion = 40;

/**
 * Derives the class of a question from its words, English and German, without a model. Signs of a comparison take precedence over signs of
 * deep reading, and those over signs of a whole field. Pure.
 */
export function readClass(question: string): ReadClass {
  const text = question.normalize('NFC').replace(/\s+/g, ' ').trim().slice(0, 2_000);
  const read = (said: string): readonly boolean[] => [
    comparative.test(said) || asksForChoice(said),
    deepDive.test(said),
    exploratory.test(said),
  ];
  const signs = read(text);
  const count = signs.filter(Boolean).length;
  const isFactual = factual.test(text) && text.split(' ').length <= longFactual;
  if (count === 0) return { class: 'factual', sure: isFactual };
  const named = signs[0] ? 'comparative' : signs[1] ? 'deep_dive' : 'exploratory';
  const isAsked = text.split(' ').length <= longQuestion && read(askingPart(text)).some(Boolean);
  return { class: named, sure: isAsked && count === 1 && (named === 'comparative' || !isFactual) };
}

const sentencesOf = (text: string): readonly string[] => (text.match(/[^.!?]+[.!?]*/gu) ?? []).map((sentence) => sentence.trim());

/** The sentences that ask; the whole text if none has a question mark. */
function askingPart(text: string): string {
  const asking = sentencesOf(text).filter((sentence) => sentence.endsWith('?'));
  return asking.length > 0 ? asking.join(' ').trim() : text;
}
