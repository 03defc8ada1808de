import { namesOf, tokensOf, type TextToken } from '../language/tokens.js';
import { auxiliaries, personPronouns, possessivePronouns } from '../language/words.js';

const objectPronouns: ReadonlySet<string> = new Set(['him', 'it', 'them']);
const isPronoun = ({ lower }: TextToken): boolean =>
  personPronouns.has(lower) || possessivePronouns.has(lower) || objectPronouns.has(lower);

/** The first pronoun of a question, in lower case; null without one. */
export const pronounIn = (question: string): string | null => tokensOf(question).find(isPronoun)?.lower ?? null;

/** The question with its first pronoun replaced by the subject; unchanged if it has a name of its own. */
export function withSubject(question: string, subject: string): string {
  const tokens = tokensOf(question);
  const at = tokens.findIndex(isPronoun);
  const pronoun = tokens[at];
  // A question with a name of its own is self-contained.
  if (!pronoun || namesOf(question, tokens).length > 0) return question;
  const next = tokens[at + 1];
  // "her" before a noun is possessive; at the end or before an auxiliary it is the person.
  const owns = possessivePronouns.has(pronoun.lower) && next !== undefined && !auxiliaries.has(next.lower);
  return `${question.slice(0, pronoun.start)}${subject}${owns ? "'s" : ''}${question.slice(pronoun.end)}`;
}
