import english from '../assets/english-words.json' with { type: 'json' };
import german from '../assets/german-words.json' with { type: 'json' };

const split = (words: string): readonly string[] => words.split(/\s+/).filter(Boolean);
const setOf = (words: readonly string[]): ReadonlySet<string> => new Set(words);

/** Purely grammatical words. The languages share few enough of them to detect a text's language. */
export const grammarOf = { en: setOf(english.grammar), de: setOf(german.grammar) } as const;
/** Words that frame a question: "could you tell me the best way to …". */
const framing = { en: setOf(english.framing), de: setOf(german.framing) } as const;
/** "man" and "die" are grammar in one language and content in the other. */
export const isGrammar = (word: string, language: 'en' | 'de' | null): boolean =>
  language === null ? grammarOf.en.has(word) || grammarOf.de.has(word) : grammarOf[language].has(word);
/** "kind" is framing in English and means child in German. */
export const isFraming = (word: string, language: 'en' | 'de' | null): boolean =>
  language === null ? framing.en.has(word) || framing.de.has(word) : framing[language].has(word);

const indexed = (groups: readonly string[]): ReadonlyMap<string, readonly number[]> => {
  const index = new Map<string, number[]>();
  groups.forEach((group, position) => {
    for (const word of split(group)) index.set(word, [...(index.get(word) ?? []), position]);
  });
  return index;
};
/** Words of a group are interchangeable. Lower case, as written. */
const synonyms = indexed([...english.synonyms, ...german.synonyms, ...english.verbForms]);
export const areSynonyms = (a: string, b: string): boolean => {
  const others = synonyms.get(b);
  return others !== undefined && (synonyms.get(a)?.some((group) => others.includes(group)) ?? false);
};

/** For each family of mutually exclusive words: word -> number of its member. */
const oppositeFamilies: readonly ReadonlyMap<string, number>[] = [...english.opposites, ...german.opposites].map(
  (family) => new Map(family.split('|').flatMap((member, position) => split(member).map((word) => [word, position] as const))),
);
const familiesByWord = new Map<string, number[]>();
oppositeFamilies.forEach((family, position) => {
  for (const word of family.keys()) familiesByWord.set(word, [...(familiesByWord.get(word) ?? []), position]);
});
/** Only the families with one of the words, so that a comparison does not visit all of them. */
export const oppositeFamiliesOf = (words: readonly string[]): readonly ReadonlyMap<string, number>[] =>
  [...new Set(words.flatMap((word) => familiesByWord.get(word) ?? []))].map((position) => oppositeFamilies[position]!);
