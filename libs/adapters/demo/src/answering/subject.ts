import { namesOf, tokensOf, type TextToken } from '../language/tokens.js';
import { auxiliaries, personPronouns, possessivePronouns } from '../language/words.js';

const objectPronouns: ReadonlySet<string> = new Set(['him', 'it', 'them']);
const isPronoun = ({ lower }: TextToken): boolean =>
  personPronouns.has(lower) || possessivePronouns.has(lower) || objectPronouns.has(lower);

/** The pronoun for what a question is about; null without one. A question with a name of its own is self-contained. */
function pronounOf(question: string): { readonly pronoun: TextToken; readonly next: TextToken | undefined } | null {
  const tokens = tokensOf(question);
  const at = tokens.findIndex(isPronoun);
  const pronoun = tokens[at];
  return pronoun && namesOf(question, tokens).length === 0 ? { pronoun, next: tokens[at + 1] } : null;
}

/** The same pronoun in lower case. */
export const pronounIn = (question: string): string | null => pronounOf(question)?.pronoun.lower ?? null;

/** The question with this pronoun replaced by the subject. */
export function withSubject(question: string, subject: string): string {
  const found = pronounOf(question);
  if (!found) return question;
  const { pronoun, next } = found;
  // "her" before a noun is possessive; at the end or before an auxiliary it is the person.
  const owns = possessivePronouns.has(pronoun.lower) && next !== undefined && !auxiliaries.has(next.lower);
  return `${question.slice(0, pronoun.start)}${subject}${owns ? "'s" : ''}${question.slice(pronoun.end)}`;
}
