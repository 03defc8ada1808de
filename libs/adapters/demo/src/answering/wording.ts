import type { Chain } from './chain.js';
import type { Link } from './link.js';

/** Stands under every text that a person may read as an answer. */
export const demoLabel =
  '(This answer comes from the built-in demo model: it only finds and quotes sentences of the documents. Connect a real model for full answers.)';

/** The finding of an expert that was given no document; it stands in the ledger for the next reader. */
export const nothingFound = 'Nothing was found in documents.';

/** Tells the expert of a round that no other words are left to search with for an open question. */
export const lastSearch = (open: string): string => `no other search is left for “${open}”`;
/** The finding of an expert whose question stayed open after the last search for it. */
export const nothingMore = 'The documents do not say more.';

const german = /\b(?:hallo|moin|servus|grüß|guten|gute nacht|danke|dank|tschüss|bitte|wer|was|wie|kannst|bist|hilfe)\b/iu;
const thanks = /\b(?:thanks|thank you|danke|dank)\b/iu;

/** The answer to a greeting, to thanks, and to what nobody has looked up anything for: who speaks, and what it can do. */
export function aboutItself(said: string): string {
  if (german.test(said))
    return `${thanks.test(said) ? 'Gern geschehen!' : 'Hallo!'} Ich bin das eingebaute Demo-Modell von Conclave: Ich beantworte (englische) Fragen aus den Dokumenten, die hier durchsucht werden, und rechne mit einem Werkzeug. Von selbst weiß ich nichts.`;
  return `${thanks.test(said) ? 'You are welcome!' : 'Hello!'} I am the built-in demo model of Conclave: I answer questions from the documents that are searched here, and sums with a tool. By myself I know nothing.`;
}

/** The sentence of a link with its pronoun written out, without its full stop. */
export function quoted({ sentence }: Link): string {
  const text = sentence.text.replace(/[.!…]["”’]?$/, '').trim();
  const [subject] = sentence.subjects;
  const pronoun = subject && sentence.tokens[subject.at];
  if (!subject || !pronoun || pronoun.lower === 'the') return capital(text);
  return `${text.slice(0, pronoun.start)}${withArticle(subject.name.text, sentence, subject.at)}${subject.possessive ? "'s" : ''}${text.slice(pronoun.end)}`;
}

/** "the X" where the documents write the name so. */
function withArticle(name: string, { passage }: Link['sentence'], at: number): string {
  const written = passage.sentences.some(({ text }) => text.toLowerCase().includes(`the ${name.toLowerCase()}`));
  return written ? `${at === 0 ? 'The' : 'the'} ${name}` : name;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const cite = ({ sentence }: Link): string => (sentence.n > 0 ? ` [${sentence.n}]` : '');

/** The links as sentences with the numbers of their facts, each sentence once. */
export const statements = (chain: Chain): string => [...new Set(chain.links.map((link) => `${quoted(link)}${cite(link)}.`))].join(' ');

/** Answer in front, then what it rests on. */
export function answerText(chain: Chain): string {
  const last = chain.links.at(-1);
  if (!chain.complete || !last) return openText(chain);
  return chain.answer ? `${capital(chain.answer)}${cite(last)}. ${statements(chain)}` : statements(chain);
}

/** What is known and, plainly, what is not. */
function openText(chain: Chain): string {
  const open = chain.open ? `“${chain.open}”` : 'the question';
  if (chain.links.length === 0) return `The documents that were found say nothing that answers ${open}.`;
  return `${statements(chain)} The documents name ${chain.bridge ?? 'this'}, but nothing in them answers ${open}.`;
}
