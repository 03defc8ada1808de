import type { ChatMessage, QuotedDocument } from '@conclave/contracts';
import { joinedTexts } from '../attachments/content-parts.js';
import { addedContext, listedFiles } from './front-end-context.js';
import { joined, mostDocuments, quotedBySystem, quotedDocuments, quotedPart, type Quoting } from './quoted-documents.js';

/** A message of the client. */
export interface SaidMessage {
  readonly role: ChatMessage['role'];
  readonly text: string;
  /** The same text in its parts. */
  readonly texts: readonly string[];
}

/** The messages of a client without what its front end quoted in them. */
export interface TakenApart {
  readonly goal: string;
  readonly documents: readonly QuotedDocument[];
  /** Documents of earlier turns, the newest first, without those of this one. */
  readonly earlier: readonly QuotedDocument[];
  readonly system: readonly string[];
  /** What was typed in each message before the question, with a mark in place of each file; empty if nothing was. */
  readonly typed: readonly string[];
}

const isSystem = ({ role }: SaidMessage): boolean => role === 'system' || role === 'developer';

/** Takes the messages apart; `last`: the index of the question. Takes time in proportion to their length. */
export function takenApart(messages: readonly SaidMessage[], last: number): TakenApart {
  const own = ownWords(messages[last]!);
  const listed = listedFiles(own.question);
  // A message of the user that another one follows was not answered: a program put it there.
  const turns = messages.slice(0, last).map((message, at) => (message.role === 'user' ? turnOf(message, messages[at + 1]!) : null));
  const answered = messages.slice(0, last).findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const before = turns.flatMap((turn, at) => (turn && at > answered ? [turn] : []));
  const system = messages.filter(isSystem).map(({ text }) => ({ text, quoting: quotedBySystem(text) }));
  const documents = numbered([own, ...system.map(({ quoting }) => quoting), ...before.map(({ quoting }) => quoting)]);
  const known = new Set(documents.map(({ text }) => text));
  const earlier = numbered([
    { documents },
    ...turns
      .slice(0, answered + 1)
      .reverse()
      .map((turn) => turn?.quoting ?? null),
  ]);
  return {
    goal: listed?.words ?? own.question,
    documents,
    earlier: earlier.filter(({ text }) => !known.has(text)).map((one) => ({ ...one, listed: true })),
    system: [
      ...system.map(({ text, quoting }) => (quoting ? wordsOf(quoting) : text)),
      own.instructions,
      ...before.map(({ instructions }) => instructions),
      listed?.list ?? '',
    ].filter(Boolean),
    typed: messages.slice(0, last).map(({ text }, at) => turns[at]?.typed ?? text),
  };
}

const wordsOf = ({ instructions, question }: Quoting): string => joined(instructions, question);

interface Turn {
  readonly quoting: Quoting | null;
  readonly typed: string;
  /** Words of the front end in a message that nobody typed. */
  readonly instructions: string;
}

/** An earlier message of the user, whole if nothing in it is quoted. */
function turnOf(message: SaidMessage, next: SaidMessage): Turn {
  const added = next.role === 'user' ? quotedBySystem(message.text) : null;
  if (added) return { quoting: added, typed: '', instructions: wordsOf(added) };
  const own = ownWords(message);
  const listed = listedFiles(own.question);
  const marks = [
    ...own.documents.map(({ title }) => `[file: ${title.replaceAll('\n', ' ').slice(0, longestMark)}]`),
    ...Array.from({ length: listed?.files ?? 0 }, () => '[file]'),
  ];
  const typed = listed?.words ?? own.question;
  return { quoting: own, typed: marks.length > 0 ? [typed, ...marks].join('\n') : message.text, instructions: '' };
}

const longestMark = 80;

/** What was typed in a message, and what the front end put around it or sent as parts of its own. */
function ownWords({ text, texts }: SaidMessage): Quoting {
  const parts = texts.length > 1 ? texts.map((part) => ({ part, quoting: quotedPart(part) })) : [];
  const typed = joinedTexts(parts.flatMap(({ part, quoting }) => (quoting ? [] : [part])));
  if (typed.trim() === '' || parts.every(({ quoting }) => quoting === null)) return ownText(text);
  const own = ownText(typed);
  const added = parts.flatMap(({ quoting }) => (quoting ? [quoting] : []));
  return {
    question: own.question,
    documents: numbered([own, ...added]),
    instructions: joined(own.instructions, ...added.map(wordsOf)),
  };
}

function ownText(said: string): Quoting {
  const added = addedContext(said);
  if (added === null) {
    const quoting = quotedDocuments(said);
    return quoting === null || quoting.question === '' ? { question: said, instructions: '', documents: [] } : quoting;
  }
  const quoting = quotedDocuments(added.added, 'added') ?? { question: added.added, instructions: '', documents: [] };
  return { question: added.words, instructions: wordsOf(quoting), documents: quoting.documents };
}

/**
 * The documents of several places, each text once, and no more than a prompt shows. Only those of the first place that has any keep the numbers
 * under which their front end shows them.
 */
function numbered(places: readonly (Pick<Quoting, 'documents'> | null)[]): readonly QuotedDocument[] {
  const found = new Map<string, QuotedDocument>();
  for (const place of places) {
    const keeps = found.size === 0;
    // Numbers of one place stay without gaps, also if two of its documents have the same text.
    for (const [at, one] of (place?.documents ?? []).entries()) {
      const key = keeps ? `${at} ${one.text}` : one.text;
      const isKnown = !keeps && [...found.values()].some(({ text }) => text === one.text);
      if (!isKnown && found.size < mostDocuments) found.set(key, keeps ? one : { ...one, listed: true });
    }
  }
  return [...found.values()];
}
