import stopWords from './assets/embedder/stop-words.json' with { type: 'json' };

const english: ReadonlySet<string> = new Set(stopWords.english);
const german: ReadonlySet<string> = new Set(stopWords.german);
/** Further words without a subject in either language, such as the phrasing of questions and requests. */
const others: ReadonlySet<string> = new Set(stopWords.others);

const longestText = 100_000;
const longestWord = 64;

/** Words of a text in lower case, in order. Reads the first 100,000 characters; cuts words at 64 characters. */
export function wordsOf(text: string): readonly string[] {
  const words =
    text
      .slice(0, longestText)
      .normalize('NFKC')
      .toLowerCase()
      .replace(/['’]s(?![\p{L}\p{N}])/gu, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.map((word) => word.slice(0, longestWord));
}

export const isStopWord = (word: string): boolean => english.has(word) || german.has(word) || others.has(word);
export const isEnglishStopWord = (word: string): boolean => english.has(word);
export const isGermanStopWord = (word: string): boolean => german.has(word);

/** The word without its most common endings, English or German; use it only to compare words. */
export function stemOf(word: string): string {
  if (word.length < 5) return word.replace(/s$/, '');
  return word.replace(/(ingly|edly|ings|ing|ied|ies|ed|es|ern|en|er|em|e|s|n|ly)$/, (ending) =>
    ending === 'ied' || ending === 'ies' ? 'y' : '',
  );
}
