import words from '../assets/analysis.json' with { type: 'json' };
import { countOf, phrases } from './phrases.js';

/** Words that ask for an analysis at the head of a request ("Analyse …", "please assess …", "… und bewerte …"). */
const analyse =
  'analy[sz]e|assess|evaluate|examine|investigate|critique|critically \\p{L}+|interpret|scrutini[sz]e|appraise|weigh(?: up)?|debate|discuss|argue|make (?:a|the) case|derive|work out|elaborate|conceptuali[sz]e|strategi[sz]e|review|audit|' +
  'analysiere?n?|bewerte?n?|beurteile?n?|untersuche?n?|prüfe?n?|erörtere?n?|erörtern|diskutiere?n?|interpretiere?n?|argumentiere?n?|trage? .{0,30}argumente|hinterfrage?n?|wäge?n?|erarbeite?n?|evaluiere?n?|leite? .{1,80} her(?!\\p{L})|setze? dich .{0,40}auseinander|nimm stellung';
const head =
  '(?:^|[.!?:;,–\\n]|(?<![\\p{L}])(?:and|then|please|you|to|us|und|dann|bitte|sie|du|wir|ich|kritisch|ausführlich))[\\s"]*(?:critically|carefully|thoroughly|briefly|kritisch|gründlich|ausführlich)?\\s*';
const headedAnalysis = new RegExp(`${head}(?:${analyse})(?![\\p{L}\\p{N}])`, 'iu');
/** A word, a sentence or a sum is too small an object to count as analysis. */
const smallObject = new RegExp(
  `(?:${analyse})\\s+(?:(?:this|the|that|my|following|expression|den|das|die|diesen|diese|dieses|folgenden|ob|if|whether)\\s+)*(?:(?:word|sentence|expression|spelling|grammar|term|sum|wort|satz|satzbau|ausdruck|term|rechtschreibung|zahl|number)(?![\\p{L}])|[-(]*\\d|\\d+ ?[-+*/]|[a-z]\\s*[-+*/=^]|"")`,
  'iu',
);

const create = phrases(...words.create);
/** Works that always consist of many parts. */
const largeWork = phrases(...words.largeWork);
const bothSides = phrases(...words.bothSides);
const consequences = phrases(...words.consequences);
const comparison = phrases('compare', 'contrast', 'comparison', 'vergleiche?', 'vergleich(?:en)?', 'vs\\.?', 'versus');

/** Maximum characters of one item of an enumeration. */
const longestItem = 52;
const betweenLast = /^\s*\S.{0,50}?\s(?:and|or|und|oder|sowie)\s+\p{L}/iu;
const beforeLast = /^\s*(?:and|or|und|oder|sowie)\s+\p{L}/iu;

/**
 * Length of the longest enumeration of three or more items, such as "privacy, banks, crime and older people"; 0 if there is none. Visits
 * every character a fixed number of times: a single pattern would double its time with every comma.
 */
export function itemsOf(text: string): number {
  let most = 0;
  for (const clause of text.split(/[.;:?!\n]/u)) {
    const parts = clause.split(',');
    let first = 0;
    for (let at = 1; at < parts.length; at += 1) {
      const part = parts[at]!.slice(0, longestItem * 2);
      const isLast = beforeLast.test(part) ? at - first >= 2 : betweenLast.test(part);
      if (isLast) most = Math.max(most, at - first + 2);
      if (part.length > longestItem || part.trim() === '') first = at;
    }
  }
  return most;
}

const further =
  'tell|suggest|explain|give|show|list|name|write|recommend|justify|propose|translate|summari[sz]e|calculate|compare|describe|find|add|sort|format|make|create|check|fix|rank|point out|assess|discuss|convert|say|how|why|what|when|where|who|which|whether|is|are|do|does|can|should|' +
  'sag|sage|nenne|erkläre?|gib|zeige?|schreibe?|empfiehl|begründe|schlage?|übersetze|fasse|berechne|vergleiche|beschreibe|finde|sortiere|mache?|erstelle|prüfe|ordne|bewerte|diskutiere|löscht?|ohne|wie|warum|wieso|was|wann|wo|wer|welche[rnsm]?|ob|ist|sind|kann|soll(?:te)?|darf|muss';
const furtherPart = new RegExp(
  `(?:[,;]\\s*|\\s)(?:and|then|also|und|dann|außerdem|sowie)\\s+(?:then |also |dann |auch )?(?:${further})(?![\\p{L}\\p{N}])`,
  'giu',
);

/** Phrases that introduce a list of requested aspects. */
const listHead = phrases(
  'with',
  'on',
  'in',
  'covering',
  'for',
  'using',
  'of',
  'regarding',
  'challenges',
  'mit',
  'samt',
  'inklusive',
  'für',
  'bei',
  'auf',
  'bezüglich',
);

/** Number of parts after a request's first: further questions, orders and sentences. */
export function partsOf(text: string): number {
  const questions = Math.max(0, (text.match(/\?/g)?.length ?? 0) - 1);
  const sentences = text.split(/[.!?]+(?=\s|$)|\n+/u).filter((sentence) => /\p{L}{2}/u.test(sentence)).length - 1;
  return Math.max(questions, sentences, 0) + countOf(text, furtherPart);
}

export interface AnalysisSigns {
  readonly score: number;
  readonly signals: readonly string[];
}

/** Points for analysis and for several aspects; `complexFrom` of them make a request complex. */
export const complexFrom = 3;
/** A single point may be a figure of speech ("recommend a book"). */
export const moderateFrom = 2;
export function analysisIn(text: string): AnalysisSigns {
  const signals: string[] = [];
  let score = 0;
  const add = (found: boolean, points: number, signal: string): void => {
    if (!found) return;
    score += points;
    signals.push(signal);
  };
  const small = smallObject.test(text);
  add(!small && headedAnalysis.test(text), 3, 'analysis:asked');
  add(create.test(text) && largeWork.test(text), 3, 'analysis:work');
  add(bothSides.test(text), 3, 'analysis:both-sides');
  const items = itemsOf(text);
  add(items >= 3, items >= 4 ? 2 : 1, 'aspects:enumerated');
  add(items >= 3 && listHead.test(text), 1, 'aspects:named');
  const hasConsequences = consequences.test(text);
  add(hasConsequences, 1, 'analysis:consequences');
  add(hasConsequences && items >= 3, 1, 'aspects:consequences');
  add(comparison.test(text), 1, 'analysis:comparison');
  return { score, signals };
}
