import { areSynonyms, isFraming, isGrammar } from './lexicon.js';
import type { Language } from './reading.js';

function englishStem(word: string): string {
  let stem = word.replace(/ies$/u, 'y').replace(/(?<=s|x|z|ch|sh)es$/u, '');
  if (/[^sui]s$/u.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 5) stem = stem.replace(/(?:ing|ed)$/u, '').replace(/([b-df-hj-np-rtv-z])\1$/u, '$1');
  else if (stem.length > 4) stem = stem.replace(/ed$/u, '');
  return stem.length > 3 ? stem.replace(/e$/u, '') : stem;
}

function germanStem(word: string): string {
  let stem = word.replace(/ß/gu, 'ss');
  if (stem.length > 6) stem = stem.replace(/^ge(?=\p{L}{3,}(?:t|en)$)/u, '');
  if (stem.length > 5) stem = stem.replace(/(?:ten|tes|test|tet)$/u, 't').replace(/(?:ern|en|em|es)$/u, '');
  else if (stem.length > 4) stem = stem.replace(/(?:en|es)$/u, '');
  if (stem.length > 3) stem = stem.replace(/[ens]$/u, '');
  return stem.length > 4 ? stem.replace(/t[e]?$/u, '') : stem;
}

/** Coarse: what only ends differently is one word. Comparatives and superlatives keep their endings, for they ask something else. */
export const stemOf = (word: string, language: Language | null): string =>
  word.length < 4 || /\d/u.test(word) ? word : language === 'de' ? germanStem(word) : englishStem(word);

const prefixes = 'zurück|zusammen|heraus|hinaus|herunter|hinunter|weiter|wieder|nach|über|unter|ein|aus|auf|an|ab|um|vor|zu|mit|weg|los|fest|frei|hoch|bei|dar|her|hin'; // prettier-ignore
const separable = new RegExp(`^(${prefixes})(?:zu|ge)?(\\p{L}{3,})$`, 'u');
/** "zurücksetzen" -> ["zurück", "setzen"]; null for every other word. */
export const separated = (word: string): readonly [string, string] | null => {
  const match = separable.exec(word);
  return match ? [match[1]!, match[2]!] : null;
};

/** "einzufrieren" as "einfrieren". */
const joined = (word: string): string => {
  const parts = /zu/u.test(word) ? separated(word) : null;
  return parts ? parts.join('') : word;
};

const spelledOut = (word: string): string => word.replace(/ä/gu, 'ae').replace(/ö/gu, 'oe').replace(/ü/gu, 'ue').replace(/ß/gu, 'ss');

/** The same word in another form or another spelling, or one that may stand for it. */
export function matches(a: string, b: string, language: Language | null): boolean {
  if (a === b || areSynonyms(a, b)) return true;
  if (language === 'de' && joined(a) === joined(b)) return true;
  const [stemA, stemB] = [stemOf(a, language), stemOf(b, language)];
  return stemA === stemB || areSynonyms(stemA, stemB) || areSynonyms(a, stemB) || areSynonyms(stemA, b) || spelledOut(a) === spelledOut(b);
}

/** A German compound of which one part matches `part` and the other only frames: "Hauptstadt" no, "Städtename" and "Städte" yes. */
export function isCompoundOf(compound: string, part: string, language: Language | null): boolean {
  if (language !== 'de' || part.length < 3 || compound.length < part.length + 3) return false;
  const rest = compound.startsWith(part) ? compound.slice(part.length).replace(/^s(?=\p{L}{3})/u, '') : compound.endsWith(part) ? compound.slice(0, -part.length) : ''; // prettier-ignore
  return (
    rest !== '' &&
    (isFraming(rest) || isGrammar(rest, language) || ['verbindung', 'name', 'namen', 'wert', 'zahl', 'anzahl'].includes(rest))
  );
}
