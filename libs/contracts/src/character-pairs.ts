/** Scripts that are written without spaces between words, as members of a character class. */
export const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
/** Runs of these scripts, and of Hangul, whose words carry particles. */
const paired = `${unspacedScripts}\\p{Script=Hangul}ー々〆`;
const unspaced = new RegExp(`[${paired}]+`, 'gu');
const contentPair = new RegExp(`^(?!.*\\p{Script=Hiragana})[${paired}\\p{M}]{2,}$`, 'u');

/**
 * The text with each run of such a script as overlapping pairs of characters, between spaces: 北光時計 becomes 北光 光時 時計. Comparing pairs
 * finds words in these scripts without a dictionary, as the CJK analyzers of Lucene do. Other text stays as it is. It is applied to texts and
 * to queries alike.
 */
export const withPairs = (text: string): string => text.normalize('NFC').replace(unspaced, (run) => ` ${pairsOf(run).join(' ')} `);

function pairsOf(run: string): readonly string[] {
  // Marks of vowels and tones belong to the letter before them.
  const letters = run.match(/\P{M}\p{M}*/gu) ?? [run];
  return letters.length < 2 ? [run] : letters.slice(1).map((letter, at) => letters[at]! + letter);
}

/** Whether a word is a pair that says something about the subject: in Japanese, Hiragana is mostly endings and particles. */
export const isContentPair = (word: string): boolean => contentPair.test(word);
