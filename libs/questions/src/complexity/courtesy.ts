import { phrases } from './phrases.js';

/** Greetings and thanks say nothing about the question beside them. */
const courtesies = new RegExp(
  phrases(
    '(?:hi|hello|hey)(?: there)?',
    'dear all',
    'good (?:morning|afternoon|evening|day)',
    'how are you(?: doing)?(?: today)?',
    "how's it going(?: today)?",
    'thanks(?: a lot| so much)?',
    'thank you(?: so| very)?(?: much)?',
    'please',
    'pls',
    'kindly',
    'nice to meet you',
    'have a nice day',
    'bye',
    'goodbye',
    'see you(?: later| soon| tomorrow)?',
    'ok(?:ay)?',
    'great',
    'perfect',
    'cool',
    'hallo',
    'moin',
    'servus',
    'grüß (?:dich|gott)',
    'guten (?:morgen|tag|abend)',
    'gute nacht',
    "wie geht(?: es|s|’s|'s)? (?:dir|ihnen|euch)(?: heute)?",
    'na,? wie geht(?:s| es)',
    'danke(?: dir| ihnen| schön| sehr)?',
    'vielen dank',
    'besten dank',
    'bitte',
    'tschüss',
    'bis (?:bald|später)',
    'schönen tag(?: noch)?',
    'super',
    'prima',
    'alles klar',
  ).source,
  'giu',
);

/** The text without courtesies, so that "Hello! What is …?" is one question and "how are you today?" asks nothing about today. */
export const withoutCourtesy = (text: string): string =>
  text
    .replace(courtesies, ' ')
    .replace(/^[\s,.!?;:–-]+/u, '')
    .trim();

/** Questions about whom they speak to and what it can do, which no document answers. */
const aboutTheAssistant = new RegExp(
  `^(?:${
    phrases(
      'who are you',
      'what are you',
      'what is your name',
      "what's your name",
      'what can you do(?: for me)?',
      'how can you help(?: me)?',
      'what can i ask(?: you)?',
      'what do you know',
      'are you (?:an? )?(?:ai|bot|robot|human|person|real|there)',
      'help(?: me)?',
      'test',
      'ping',
      'wer bist du',
      'was bist du',
      'wie heißt du',
      'was kannst du(?: für mich)?(?: tun| machen)?',
      'wie kannst du(?: mir)? helfen',
      'was weißt du',
      'hilfe',
      'wer sind sie',
      'was können sie(?: tun)?',
    ).source
  })[\\s.!?]*$`,
  'iu',
);

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
