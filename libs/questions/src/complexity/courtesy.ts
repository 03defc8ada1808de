import words from '../assets/courtesy.json' with { type: 'json' };
import { phrases } from './phrases.js';

/** Greetings and thanks say nothing about the question beside them. */
const courtesies = new RegExp(phrases(...words.courtesies).source, 'giu');

/** The text without courtesies, so that "Hello! What is …?" is one question and "how are you today?" asks nothing about today. */
export const withoutCourtesy = (text: string): string =>
  text
    .replace(courtesies, ' ')
    .replace(/^[\s,.!?;:–-]+/u, '')
    .trim();

/** Questions about whom they speak to and what it can do, which no document answers. */
const aboutTheAssistant = new RegExp(`^(?:${phrases(...words.aboutTheAssistant).source})[\\s.!?]*$`, 'iu');

/** Whether a message is courtesy alone, or asks who answers and what it can do. English and German. */
export function asksNothing(text: string): boolean {
  if (text.length > longestCourtesy) return false;
  const asked = withoutCourtesy(text.normalize('NFC')).replace(/[\s,.!?;:–-]+$/u, '');
  return asked === '' || aboutTheAssistant.test(asked);
}
const longestCourtesy = 200;

/** Texts that people quote are not what they ask for: "What does "analyse" mean?" asks for no analysis. */
export const withoutQuotes = (text: string): string =>
  text.replace(/"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|»[^«\n]{1,400}«/gu, ' "" ');
