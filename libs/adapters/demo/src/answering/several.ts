import { personPronouns, possessivePronouns, questionWords } from '../language/words.js';
import type { ParsedPassage } from '../reading/passages.js';
import { follow, type Chain } from './chain.js';
import { askingSentences, longestRequest, readQuestion } from './question.js';
import { pronounIn, withSubject } from './subject.js';

/** Most questions of one request that are answered one by one. */
const mostQuestions = 4;

/** The questions of a request in order; the request itself if it does not ask several things. */
export function questionsIn(request: string): readonly string[] {
  if (request.length > longestRequest) return [request];
  const asking = askingSentences(request).filter((sentence) => {
    const { tokens, names, content } = readQuestion(sentence);
    return sentence.endsWith('?') && tokens.some(({ lower }) => questionWords.has(lower)) && names.length + content.length > 0;
  });
  return asking.length > 1 && asking.length <= mostQuestions ? asking : [request];
}

/** The questions that name what they are about: the others ask about the answer to the one before. */
export const namedQuestions = (request: string): readonly string[] =>
  questionsIn(request).filter((question, at) => at === 0 || pronounIn(question) === null);

/** How far the facts lead towards an answer of each question of a request. */
export function followEach(request: string, passages: readonly ParsedPassage[]): readonly Chain[] {
  const chains: Chain[] = [];
  for (const question of questionsIn(request)) {
    const before = chains.at(-1);
    chains.push(follow(before ? referring(question, before) : question, passages));
  }
  return chains;
}

/** The question with its pronoun written out, if it is about the answer to the one before. */
function referring(question: string, { asked, answer, bridge }: Chain): string {
  const pronoun = pronounIn(question);
  if (pronoun === null) return question;
  const { kind, names } = readQuestion(asked);
  const isPerson = personPronouns.has(pronoun) || possessivePronouns.has(pronoun);
  const named = names.at(-1)?.text ?? null;
  const subject = isPerson && kind !== 'person' ? (bridge ?? named ?? answer) : isPerson ? (answer ?? bridge) : (named ?? answer);
  return subject === null ? question : withSubject(question, subject);
}
