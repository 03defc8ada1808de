import words from '../assets/words.json' with { type: 'json' };

const setOf = (list: readonly string[]): ReadonlySet<string> => new Set(list);

/** Words that do not matter for what is asked. */
const stopWords = setOf(words.stopWords);

export const auxiliaries = setOf(words.auxiliaries);
export const prepositions = setOf(words.prepositions);
export const determiners = setOf(words.determiners);
export const relatives = setOf(words.relatives);
export const questionWords = setOf(words.questionWords);
export const personPronouns = setOf(words.personPronouns);
export const thingPronouns = setOf(words.thingPronouns);
export const possessivePronouns = setOf(words.possessivePronouns);
/** Nouns for a person that say nothing about them. */
export const genericPeople = setOf(words.genericPeople);
/** Nouns that ask for a number. */
export const measures = setOf(words.measures);
/** Nouns beside a name that only state its kind, and nouns that a question asks for. */
const kindNouns = setOf(words.kindNouns);
const placeKinds = setOf(words.placeKinds);
const timeKinds = setOf(words.timeKinds);
export const months = setOf(words.months);
const honorifics = setOf(words.honorifics);
/** Small words inside a name. */
export const connectors = setOf(words.connectors);
/** Words before a noun that pick one of several. */
export const ordering = setOf(words.ordering);
/** Words unsuitable for a title or as a key word. */
export const untitled = setOf(words.untitled);

export const isStopWord = (word: string): boolean => stopWords.has(word);
export const isHonorific = (word: string): boolean => honorifics.has(word.replace(/\.$/, ''));
export const isPlaceKind = (word: string): boolean => placeKinds.has(singular(word));
export const isTimeKind = (word: string): boolean => timeKinds.has(singular(word));
export const isKindNoun = (word: string): boolean => kindNouns.has(word) || kindNouns.has(singular(word));

const singular = (word: string): string => (word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, ''));

const irregular: ReadonlyMap<string, string> = new Map(Object.entries(words.irregular));

/** Longer ones are no words: numbers, hashes, code. */
const longestWord = 60;

/** Light stemming: removes endings of number, tense and agent nouns. Only for comparison, not for display. */
export function stem(word: string): string {
  if (word.length > longestWord) return word;
  let stemmed = irregular.get(word) ?? word;
  for (;;) {
    const shorter = stemmed
      .replace(/(ers|ors|ing|ed|er|or|ions|ion|es|s|e|y|i)$/, (ending) => (stemmed.length - ending.length >= 3 ? '' : ending))
      .replace(/([^aeiou])\1$/, '$1');
    if (shorter === stemmed) return stemmed;
    stemmed = shorter;
  }
}

/** Relations of everyday English words; the first word of each entry in `words.relations` names the relation. */
const relationsOf = new Map<string, string[]>();
for (const relation of words.relations) {
  const [name, ...others] = relation.split(' ');
  for (const word of new Set([name!, ...others].map(stem))) relationsOf.set(word, [...(relationsOf.get(word) ?? []), `=${name}`]);
}
/** The relations a word may express ("run": lead, flow), else its stem. Words that share one may mean the same. */
export const meaningsOf = (word: string): readonly string[] => relationsOf.get(stem(word)) ?? [stem(word)];

/** Relations whose subject is before the word: "A's cousin B was born in C" says nothing about A. */
export const ofItsSubject: ReadonlySet<string> = new Set(['birth', 'death', 'study', 'live', 'work', 'speak'].map((name) => `=${name}`));

/** Stems of relations that hold both ways: if B is the partner of A, A is the partner of B. */
export const mutual: ReadonlySet<string> = new Set(
  'ally brother colleague companion cousin friend neighbor neighbour opponent partner rival sibling sister spouse twin'
    .split(' ')
    .map(stem),
);

/** Relations of mere location. */
export const ofPlaces: ReadonlySet<string> = new Set(['=locate', '=flow']);

const agentNouns = setOf(words.agentNouns);
/** Whether a noun names a person by occupation or relationship. */
export const isAgentNoun = (word: string): boolean => /(er|or|ist|ian|ect|ress|man|woman)$/.test(word) || agentNouns.has(word);

/** Made things whose maker follows "by": "a novel by A", "an opera by B"; each with its relation. */
export const madeBy: ReadonlyMap<string, string> = new Map(Object.entries(words.madeBy));
