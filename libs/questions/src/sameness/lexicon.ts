import { englishOpposites, englishSynonyms, englishWords } from './english-words.js';
import { germanOpposites, germanSynonyms, germanWords } from './german-words.js';
import { stemOf } from './stem.js';
import { verbForms } from './verb-forms.js';

/** The words of one language that the comparison has to know; everything else is content. */
export interface LanguageWords {
  /** Words that carry grammar only. Disjoint enough between the languages to tell which one a text is in. */
  readonly grammar: string;
  /** Words a question may be dressed in: "could you tell me the best way to …". */
  readonly framing: string;
}

const split = (words: string): readonly string[] => words.split(/\s+/).filter(Boolean);
const setOf = (words: string): ReadonlySet<string> => new Set(split(words));

export const grammarOf = { en: setOf(englishWords.grammar), de: setOf(germanWords.grammar) } as const;
const framing = { en: setOf(englishWords.framing), de: setOf(germanWords.framing) } as const;
/** "man" and "die" are grammar in one language and content in the other. */
export const isGrammar = (word: string, language: 'en' | 'de' | null): boolean =>
  language === null ? grammarOf.en.has(word) || grammarOf.de.has(word) : grammarOf[language].has(word);
const stemsOf = (language: 'en' | 'de'): ReadonlySet<string> => new Set([...framing[language]].map((word) => stemOf(word, language)));
const framingStems = { en: stemsOf('en'), de: stemsOf('de') } as const;
/** "kind" frames in English and is a child in German. */
export const isFraming = (word: string, language: 'en' | 'de' | null): boolean =>
  language === null
    ? framing.en.has(word) || framing.de.has(word)
    : framing[language].has(word) || (word.length > 4 && framingStems[language].has(stemOf(word, language)));

const indexed = (groups: readonly string[]): ReadonlyMap<string, readonly number[]> => {
  const index = new Map<string, number[]>();
  groups.forEach((group, position) => {
    for (const word of split(group)) index.set(word, [...(index.get(word) ?? []), position]);
  });
  return index;
};
const synonyms = indexed([...englishSynonyms, ...germanSynonyms, ...verbForms]);
export const areSynonyms = (a: string, b: string): boolean => {
  const others = synonyms.get(b);
  return others !== undefined && (synonyms.get(a)?.some((group) => others.includes(group)) ?? false);
};

/** For each family of words that exclude one another: word -> number of its member. */
const oppositeFamilies: readonly ReadonlyMap<string, number>[] = [...englishOpposites, ...germanOpposites].map(
  (family) => new Map(family.split('|').flatMap((member, position) => split(member).map((word) => [word, position] as const))),
);
const familiesByWord = new Map<string, number[]>();
oppositeFamilies.forEach((family, position) => {
  for (const word of family.keys()) familiesByWord.set(word, [...(familiesByWord.get(word) ?? []), position]);
});
/** Only the families that hold one of the words, so that a comparison does not walk through all of them. */
export const oppositeFamiliesOf = (words: readonly string[]): readonly ReadonlyMap<string, number>[] =>
  [...new Set(words.flatMap((word) => familiesByWord.get(word) ?? []))].map((position) => oppositeFamilies[position]!);
