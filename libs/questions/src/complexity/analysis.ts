import words from '../assets/analysis.json' with { type: 'json' };
import { phrases } from './phrases.js';

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

/** A question about a large work instead of a request for one: "What is a roadmap?" */
const asksAbout =
  /^["'(\s]*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|wer|wen|welche[rnsm]?|wann|wo|warum|wie|ist|sind|gibt)(?!\p{L})/iu;
/** Works that always consist of many parts. */
const largeWork = phrases(...words.largeWork);
const bothSides = phrases(...words.bothSides);

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

/** Number of parts after a request's first: further questions and sentences. */
export function partsOf(text: string): number {
  const questions = Math.max(0, (text.match(/\?/g)?.length ?? 0) - 1);
  const sentences = text.split(/[.!?]+(?=\s|$)|\n+/u).filter((sentence) => /\p{L}{2}/u.test(sentence)).length - 1;
  return Math.max(questions, sentences, 0);
}

/** The signs that a request wants an analysis or several aspects at once. `isComplex`: they make the request complex. */
export function analysisIn(text: string): { readonly isComplex: boolean; readonly signals: readonly string[] } {
  const complex = [
    ...(headedAnalysis.test(text) && !smallObject.test(text) ? ['analysis:asked'] : []),
    ...(largeWork.test(text) && !asksAbout.test(text) ? ['analysis:work'] : []),
    ...(bothSides.test(text) ? ['analysis:both-sides'] : []),
  ];
  const items = itemsOf(text);
  return { isComplex: complex.length > 0 || items >= 4, signals: [...complex, ...(items >= 3 ? ['aspects:enumerated'] : [])] };
}
