import { areSynonyms, isFraming, isGrammar } from './lexicon.js';
import type { Language } from './language.js';

const prefixes =
  'zurück|zusammen|heraus|hinaus|herunter|hinunter|weiter|wieder|nach|über|unter|ein|aus|auf|an|ab|um|vor|zu|mit|weg|los|fest|frei|hoch|bei|dar|her|hin';
const separable = new RegExp(`^(${prefixes})(?:zu|ge)?(\\p{L}{3,})$`, 'u');
/** "zurücksetzen" -> ["zurück", "setzen"]; null for other words. */
export const separated = (word: string): readonly [string, string] | null => {
  const match = separable.exec(word);
  return match ? [match[1]!, match[2]!] : null;
};

/** "einzufrieren" becomes "einfrieren". */
const joined = (word: string): string => {
  const parts = /zu/u.test(word) ? separated(word) : null;
  return parts ? parts.join('') : word;
};

/** Removes endings that form a noun or a verb: "summary" and "summarise", "impfen" and "Impfung", but not comparative endings. */
const rootOf = (word: string, language: Language | null): string =>
  language === 'de'
    ? word.replace(/(?:ungen|ung|en|heit|keit|st|t|e)$/u, '')
    : word.replace(/(?:[iy][sz]ation|[iy][sz]ed?|[iy][sz]ing|ar(?:y|ies)|ations?|ions?|ments?|ing|ed|es?|y|s)$/u, '');

/** Whether the words are the same in another form, or synonyms. */
export function matches(a: string, b: string, language: Language | null): boolean {
  if (a === b || areSynonyms(a, b)) return true;
  if (language === 'de' && joined(a) === joined(b)) return true;
  const [rootA, rootB] = [rootOf(a, language), rootOf(b, language)];
  return rootA === rootB && rootA.length >= 4;
}

/** A German compound of which one part matches `part` and the other is only framing: "Hauptstadt" no, "Städtename" and "Städte" yes. */
export function isCompoundOf(compound: string, part: string, language: Language | null): boolean {
  if (language !== 'de' || part.length < 3 || compound.length < part.length + 3) return false;
  const rest = compound.startsWith(part)
    ? compound.slice(part.length).replace(/^s(?=\p{L}{3})/u, '')
    : compound.endsWith(part)
      ? compound.slice(0, -part.length)
      : '';
  return (
    rest !== '' &&
    (isFraming(rest, language) || isGrammar(rest, language) || ['verbindung', 'name', 'namen', 'wert', 'zahl', 'anzahl'].includes(rest))
  );
}
