import { personPronouns, possessivePronouns, questionWords } from '../language/words.js';
import type { ParsedPassage } from '../reading/passages.js';
import { follow, type Chain } from './chain.js';
import { askingSentences, isLone, longestRequest, readQuestion } from './question.js';
import { pronounIn, withSubject } from './subject.js';

/** Most questions of one request that are answered one by one. */
const mostQuestions = 4;

/** Least words and names of a question that a lone word behind it asks about: "can you tell me where and when?" is about something else. */
const leastSaid = 2;

interface PartOfRequest {
  readonly text: string;
  /** It asks one more thing about what the question before it is about, and is found with it. */
  readonly adds: boolean;
}

/** "When, and who built the mill?" for "and when?" behind "Who built the mill?". */
function written(lone: string, full: string): string {
  const { names, tokens } = readQuestion(full);
  const isName = names.some(({ from }) => from === 0) || tokens[0]?.lower === 'i';
  const word = lone.replace(/(?:\s+exactly)?\s*\?$/i, '');
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}, and ${isName ? full : full.charAt(0).toLowerCase() + full.slice(1)}`;
}

function partsOf(request: string): readonly PartOfRequest[] {
  if (request.length > longestRequest) return [{ text: request, adds: false }];
  const asking: PartOfRequest[] = [];
  let full: string | null = null;
  for (const sentence of askingSentences(request)) {
    if (!sentence.endsWith('?')) continue;
    if (isLone(sentence)) {
      if (full !== null) asking.push({ text: written(sentence, full), adds: true });
      continue;
    }
    const { tokens, names, content } = readQuestion(sentence);
    if (!tokens.some(({ lower }) => questionWords.has(lower)) || names.length + content.length === 0) continue;
    asking.push({ text: sentence, adds: false });
    const said = content.length + (pronounIn(sentence) === null ? 0 : 1);
    full = names.length > 0 || said >= leastSaid ? sentence : null;
  }
  return asking.length > 1 && asking.length <= mostQuestions ? asking : [{ text: request, adds: false }];
}

/** The questions of a request in order; the request itself if it does not ask several things. */
export const questionsIn = (request: string): readonly string[] => partsOf(request).map(({ text }) => text);

/** The questions that name what they are about: the others ask about the question before, or about its answer. */
export const namedQuestions = (request: string): readonly string[] =>
  partsOf(request)
    .filter(({ text, adds }, at) => at === 0 || (!adds && pronounIn(text) === null))
    .map(({ text }) => text);

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
