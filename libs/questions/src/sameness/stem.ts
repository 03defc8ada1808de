export type Language = 'en' | 'de';

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
  return stem.length > 4 ? stem.replace(/e?te?$/u, '') : stem;
}

/**
 * Coarse stem: different endings make no difference. Comparatives and superlatives keep their endings, because they change the question.
 */
export const stemOf = (word: string, language: Language | null): string =>
  word.length < 4 || /\d/u.test(word) ? word : language === 'de' ? germanStem(word) : englishStem(word);
