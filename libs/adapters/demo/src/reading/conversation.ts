import { promptMarks as marks } from '@conclave/contracts';
import type { CallMessage } from '@conclave/ports';
import { readQuestion } from '../answering/question.js';
import { withSubject } from '../answering/subject.js';
import { namesOf, tokensOf } from '../language/tokens.js';
import { auxiliaries, questionWords } from '../language/words.js';
import { askedIn } from '../precision/calculations.js';
import { conversionIn, furtherUnit } from '../precision/units.js';
import { section } from '../prompt-reader.js';

interface Turn {
  readonly role: string;
  readonly content: string;
}

/** The question of a prompt, with pronouns resolved from the last answer of the conversation in the prompt. */
export function questionIn(prompt: string, messages: readonly CallMessage[]): string {
  const question = section(prompt, marks.question) ?? '';
  return inFullWords(question, turnsOf(prompt, messages));
}

/** Earlier turns: quoted lines in the prompt, or the messages before the last one. */
function turnsOf(prompt: string, messages: readonly CallMessage[]): readonly Turn[] {
  const quoted = section(prompt, marks.conversation);
  if (quoted === null) return messages.filter(({ role }) => role !== 'system').slice(0, -1);
  return quoted.split('\n').flatMap((line) => {
    const [, role, content] = /^(user|assistant): (.*)$/s.exec(line) ?? [];
    return role === undefined || content === undefined ? [] : [{ role, content }];
  });
}

/**
 * Makes a follow-up question self-contained: a pronoun becomes the subject of the previous answer, and "and when?" asks the previous
 * question with another question word. Returns the question unchanged if it depends on nothing, or if there is no previous turn.
 */
function inFullWords(question: string, turns: readonly Turn[]): string {
  const before = turns.findLastIndex(({ role }) => role === 'user');
  const asked = turns[before]?.content;
  if (asked === undefined) return question;
  const full = inFullWords(asked, turns.slice(0, before));
  const further = furtherCalculation(question, full, turns[turns.length - 1]?.role === 'assistant' ? turns[turns.length - 1]!.content : '');
  if (further !== null) return further;
  const alone = /^(?:and|und|but)?[\s,]*(\p{L}+)\s*\?*$/iu.exec(question.trim())?.[1]?.toLowerCase();
  if (alone !== undefined && questionWords.has(alone)) return withOtherAsking(full, alone) ?? question;
  const answer = turns.slice(before + 1).findLast(({ role }) => role === 'assistant')?.content ?? '';
  const subject = subjectOf(full, answer);
  return subject === null ? question : withSubject(question, subject);
}

const moreOf =
  /^(?:and |und |then |now |ok(?:ay)?,? |so )*(?:what(?:'s| is) that )?(plus|minus|times|divided by|multiplied by|mal|durch|geteilt durch|[-+*/×÷]|add|subtract|multiply (?:it |that )?by|divide (?:it |that )?by)\s*(-?\d[\d.,]*%?)[\s?.!]*$/iu;
const signOf: Readonly<Record<string, string>> = {
  plus: '+',
  add: '+',
  minus: '-',
  subtract: '-',
  times: '*',
  mal: '*',
  durch: '/',
  '×': '*',
  '÷': '/',
};

/** The full question for one that continues a calculation: "and in feet?", "times 3?", "and 2024?"; null for any other. */
function furtherCalculation(question: string, before: string, answer: string): string | null {
  if (question.length > 80 || askedIn(question) !== null) return null;
  const unit = furtherUnit(question);
  const converted = conversionIn(before);
  if (unit !== null && converted) return `${converted.value} ${converted.from_unit} in ${unit}`;
  const [, word, number] = moreOf.exec(question.trim()) ?? [];
  const result = /= (-?\d+(?:\.\d+)?)(?![\d/])[^=]*$/s.exec(answer.split('\n')[0] ?? '')?.[1];
  if (word && number && result) {
    const sign = signOf[word.toLowerCase()] ?? (/^multipl/i.test(word) ? '*' : /^divide|geteilt/i.test(word) ? '/' : word);
    return `${result} ${sign} ${number}`;
  }
  const other =
    /^(?:and|und|what about|how about|was ist mit|und was ist mit|et|y)\s+(?:for |of |with |für |von )?(-?\d[\d.,]*)[^\d?]{0,20}\??$/iu.exec(
      question.trim(),
    )?.[1];
  const numbers = before.match(/\d[\d.,]*\d|\d/g) ?? [];
  if (other === undefined || numbers.length !== 1) return null;
  const again = before.replace(numbers[0]!, other);
  return askedIn(again) === null ? null : again;
}

/** Asks "In which town was X born?" with another question word: replaces everything before the first auxiliary verb. */
function withOtherAsking(question: string, word: string): string | null {
  const verb = tokensOf(question).find(({ lower }) => auxiliaries.has(lower));
  return verb ? `${word.charAt(0).toUpperCase()}${word.slice(1)} ${question.slice(verb.start)}` : null;
}

/**
 * The subject of an answer: the person it names if the question asked for a person, else the first name of its last sentence of evidence.
 */
function subjectOf(question: string, answer: string): string | null {
  const body = answer.split(/\s*(?:\(This answer comes from|\bSources:)/)[0]!.replace(/\s*\[\d+\]/g, '');
  const sentences = body.split(/(?<=[.!?])\s+(?=\p{Lu})/u).filter((sentence) => sentence.trim() !== '');
  const firstName = (text: string | undefined): string | null => (text ? (namesOf(text, tokensOf(text))[0]?.text ?? null) : null);
  const told = readQuestion(question).kind === 'person' ? firstName(sentences[0]) : firstName(sentences.slice(1).at(-1));
  return told ?? readQuestion(question).names.at(-1)?.text ?? null;
}
