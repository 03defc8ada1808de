import words from '../assets/courtesy.json' with { type: 'json' };
import { phrases } from './phrases.js';

/** Greetings and thanks, which say nothing about the question beside them. */
const courtesies = new RegExp(phrases(...words.courtesies).source, 'giu');

/** The text without courtesies, so that "Hello! What is …?" is one question and "how are you today?" does not ask about today. */
export const withoutCourtesy = (text: string): string =>
  text
    .replace(courtesies, ' ')
    .replace(/^[\s,.!?;:–¿¡，。！？،؟।-]+/u, '')
    .trim();

/** Questions about the assistant and its abilities, which no document answers. */
const aboutTheAssistant = new RegExp(`^(?:${phrases(...words.aboutTheAssistant).source})[\\s.!?]*$`, 'iu');

/** Whether a message is only courtesy, or only asks who the assistant is and what it can do. In about thirty languages. */
export function asksNothing(text: string): boolean {
  if (text.length > longestCourtesy) return false;
  const asked = withoutCourtesy(text.normalize('NFC')).replace(/[\s,.!?;:–，。！？،؟।-]+$/u, '');
  return asked === '' || aboutTheAssistant.test(asked);
}
const longestCourtesy = 200;

/** The text without quotations, which are not requests: "What does "analyse" mean?" asks for no analysis. */
export const withoutQuotes = (text: string): string =>
  text.replace(/"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|»[^«\n]{1,400}«/gu, ' "" ');
