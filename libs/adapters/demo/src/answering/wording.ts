import type { Chain } from './chain.js';
import type { Link } from './link.js';

/** Appended to every text that a person may read as an answer. */
export const demoLabel =
  '(This answer comes from the built-in demo model: it only finds and quotes sentences of the documents. Connect a real model for full answers.)';

/** The finding of an expert without documents; later steps read it in the ledger. */
export const nothingFound = 'Nothing was found in documents.';

const greeting =
  /^[\s"'(]*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|moin|servus|grüß|guten (?:morgen|tag|abend)|gute nacht)(?!\p{L})/iu;
const thanks = /^[\s"'(]*(?:many |vielen |besten )?(?:thanks|thank you|danke|dank)(?!\p{L})/iu;
/** Matches questions about the assistant itself or what it can do. */
const toItself = /(?<!\p{L})(?:you|your|help|du|dich|dein|sie|hilfe)(?!\p{L})/iu;

/** Words of grammar that the other language does not have. */
const grammar = {
  de: /(?<!\p{L})(?:ich|du|dir|mir|mich|der|das|dem|den|des|ein|eine[nmrs]?|ist|sind|und|oder|nicht|wer|wie|wo|wann|warum|welche[nmrs]?|über|für|mit|auf|aus|von|zu|zum|zur|im|kannst|bist|bitte|hallo|moin|servus|grüß|guten?|danke|dank|tschüss|hilfe)(?!\p{L})/giu,
  en: /(?<!\p{L})(?:i|you|your|me|my|the|a|an|is|are|of|and|or|not|who|what|how|where|when|why|which|about|for|with|on|to|do|does|can|into|please|hello|hi|good|thanks|thank|help)(?!\p{L})/giu,
};
const isGerman = (said: string): boolean => (said.match(grammar.de)?.length ?? 0) > (said.match(grammar.en)?.length ?? 0);

/** The answer to greetings, thanks, and questions no document covers: what the demo model is, what it can do, how to get more. */
export function aboutItself(said: string): string {
  const isDe = isGerman(said);
  const opening = thanks.test(said)
    ? ['You are welcome! ', 'Gern geschehen! ']
    : greeting.test(said)
      ? ['Hello! ', 'Hallo! ']
      : toItself.test(said)
        ? ['', '']
        : ['No document that is searched here is about this. ', 'Kein Dokument, das hier durchsucht wird, handelt davon. '];
  if (isDe)
    return `${opening[1]}Ich bin das eingebaute Demo-Modell von Conclave: Ich beantworte (englische) Fragen aus den Dokumenten, die hier durchsucht werden, und rechne mit Werkzeugen (Zahlen, Daten, Einheiten). Sonst weiß ich nichts. Für alles andere: ein richtiges Modell verbinden, etwa Ollama starten oder OPENAI_BASE_URL setzen, und Conclave neu starten.`;
  return `${opening[0]}I am the built-in demo model of Conclave: I answer questions from the documents that are searched here, and calculations with tools (numbers, dates, units). I have no other knowledge. For anything else, connect a real model: start Ollama or set OPENAI_BASE_URL, and start Conclave again.`;
}

/** The sentence of a link with its pronoun written out, without its full stop. */
export function quoted({ sentence }: Pick<Link, 'sentence'>): string {
  const text = sentence.text.replace(/(?<!\b[ap]\.m)[.!…]["”’]?$/, '').trim();
  const [subject] = sentence.subjects;
  const pronoun = subject && sentence.tokens[subject.at];
  if (!subject || !pronoun || pronoun.lower === 'the') return capital(text);
  return `${text.slice(0, pronoun.start)}${withArticle(subject.name.text, sentence, subject.at)}${subject.possessive ? "'s" : ''}${text.slice(pronoun.end)}`;
}

/** "the X" if the documents write the name that way. */
function withArticle(name: string, { passage }: Link['sentence'], at: number): string {
  const written = passage.sentences.some(({ text }) => text.toLowerCase().includes(`the ${name.toLowerCase()}`));
  return written ? `${at === 0 ? 'The' : 'the'} ${name}` : name;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const cite = ({ sentence }: Pick<Link, 'sentence'>): string => (sentence.n > 0 ? ` [${sentence.n}]` : '');

/** The links as sentences with the numbers of their facts, each sentence once. */
export const statements = (links: readonly Link[]): string => [...new Set(links.map((link) => `${quoted(link)}${cite(link)}.`))].join(' ');

/** The answer first, then its evidence. */
export function answerText(chain: Chain): string {
  const last = chain.links.at(-1);
  if (!chain.complete || !last) return openText(chain);
  return chain.answer ? `${capital(chain.answer)}${cite(last)}. ${statements(chain.links)}` : statements(chain.links);
}

/** The answers to all questions of a request, a paragraph each. */
export const answersText = (chains: readonly Chain[]): string => [...new Set(chains.map(answerText))].join('\n\n');

/** States what is known and what is not. */
function openText(chain: Chain): string {
  const open = chain.open ? `“${chain.open}”` : 'the question';
  if (chain.links.length === 0) {
    const near = chain.nearest.map((sentence) => `${quoted({ sentence })}${cite({ sentence })}.`).join(' ');
    return `The documents that were found say nothing that answers “${chain.asked}”${near === '' ? '.' : ` in so many words. Nearest to it: ${near}`}`;
  }
  return `${statements(chain.links)} The documents name ${chain.bridge ?? 'this'}, but nothing in them answers ${open}.`;
}
