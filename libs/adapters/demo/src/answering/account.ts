import { namesOf, sharesMeaning, tokensOf, type TextToken } from '../language/tokens.js';
import { isStopWord, questionWords } from '../language/words.js';
import type { ParsedPassage, Sentence } from '../reading/passages.js';

/** Words that ask to be told about a subject and say nothing about it. */
const telling: ReadonlySet<string> = new Set(
  (
    'tell describe explain outline summarise summarize summary overview information info details detail anything something everything more ' +
    'know learn find give show list say says compare comparison difference differences document documents file files article page text need want like please'
  ).split(' '),
);

/** Most subjects of a request, and sentences about one, or about each of several. */
const mostSubjects = 3;
const sentencesOfOne = 3;
const sentencesOfEach = 2;

/**
 * What documents say first about the subjects of a request that asks nothing else: "tell me about X", "what is X?", "compare X and Y". A
 * subject is the title of a document, or a name in it. Empty for any other request.
 */
export function accountOf(asking: string, passages: readonly ParsedPassage[]): readonly Sentence[] {
  const tokens = tokensOf(asking);
  const content = tokens.filter(({ lower }) => !isStopWord(lower) && !questionWords.has(lower) && !telling.has(lower));
  const names = namesOf(asking, tokens).map(({ from, to }) => contentOf(tokens.slice(from, to + 1)));
  if (content.length === 0) return [];
  const titles = [...new Set(passages.map(({ title }) => title))];
  const subjects = titles.flatMap((title) => {
    const words = contentOf(tokensOf(title));
    const isNamed = words.length > 0 && (words.every(isIn(content)) || names.some((name) => name.length > 0 && name.every(isIn(words))));
    return isNamed ? [{ title, words }] : [];
  });
  const isAll = content.every((word) => subjects.some(({ words }) => isIn(words)(word)));
  if (!isAll || subjects.length > mostSubjects) return [];
  const most = subjects.length === 1 ? sentencesOfOne : sentencesOfEach;
  return subjects.flatMap(({ title }) =>
    passages
      .filter((passage) => passage.title === title)
      .flatMap(({ sentences }) => sentences)
      .slice(0, most),
  );
}

const contentOf = (tokens: readonly TextToken[]): readonly TextToken[] => tokens.filter(({ lower }) => !isStopWord(lower));
const isIn =
  (words: readonly TextToken[]) =>
  (word: TextToken): boolean =>
    words.some((other) => sharesMeaning(other, word));
