import type { QuotedDocument } from '@conclave/contracts';
import { oneLine, visibleText } from '@conclave/ports';
import { announcedIn, askedBeforeBlock, behindPromise, fencedFile, fencedRecords, filesBehind } from './announced-block.js';
import { treesIn } from './headed-records.js';
import { answered, askedIn, contextElement, contextIn, type LabelledQuestion, withoutSlot } from './labelled-question.js';
import { elementOf, elementsIn, withoutWrappers } from './quoted-elements.js';
import { passagesIn, recordsIn } from './quoted-passages.js';
import type { Quoted, QuotedPart, Trust } from './quoted.js';

/** A message of the client that quotes documents, taken apart. */
export interface Quoting {
  /** In the order of their numbers, which begin at 1. */
  readonly documents: readonly QuotedDocument[];
  /** What is asked about them; empty if the message only quotes. */
  readonly question: string;
  /** What the front end says about them, such as how to cite them; empty without any. */
  readonly instructions: string;
}

/** Most documents that are told apart, as many as a prompt shows. */
export const mostDocuments = 40;

/**
 * Documents that a front end quotes in a message: as elements, as Open WebUI does
 * (`<context><source id="1" name="a.md">…</source></context>`), as passages in brackets, as a list of JSON, as trees of lines, each below a line
 * that names it, or as one text before or behind a labelled question. Null for any other text, also if numbers have a gap. `trust`: who wrote
 * the text. Takes time in proportion to its length.
 */
export function quotedDocuments(text: string, trust: Trust = 'user'): Quoting | null {
  for (const read of [elementsIn, passagesIn, recordsIn, treesIn]) {
    const found = read(text, trust);
    const documents = found && inOrder(found.elements);
    if (!found || !documents) continue;
    const { labelled, ...words } = wordsAround(text, found, trust);
    // A list of JSON alone may be what a user wants to have changed.
    if (labelled || read !== recordsIn || trust !== 'user') return { documents, ...words };
  }
  return askedOfText(text) ?? namedFiles(text);
}

/** One text and a labelled question about it. */
function askedOfText(text: string): Quoting | null {
  const labelled = contextIn(text);
  const promised = contextElement(text) === null ? askedOfPromise(text) : null;
  // Both may take the beginning of the text for words about it.
  if (promised && promised.documents.reduce((sum, { text: { length } }) => sum + length, 0) >= (labelled?.context.length ?? 0))
    return promised;
  return labelled && { documents: [unnamed(labelled.context)], question: labelled.question, instructions: labelled.instructions };
}

/** Files that a program named behind or before a question, or a text that it announces behind one. */
function namedFiles(text: string): Quoting | null {
  const files = filesBehind(text);
  if (files) return quotingOf(files.records, '', { question: files.question, instructions: '' });
  const fenced = fencedRecords(text);
  if (fenced && fenced.before === '' && fenced.behind !== '')
    return quotingOf(fenced.records, fenced.block, { question: fenced.behind, instructions: '' });
  const asked = askedBeforeBlock(text);
  return asked && quotingOf(asked.records, asked.block, { question: asked.question, instructions: joined(asked.before, asked.behind) });
}

/** A labelled question behind a text from which it is to be answered, as the first words say; null without both. */
function askedOfPromise(text: string): Quoting | null {
  const asked = askedIn(withoutSlot(text));
  const found = asked && behindPromise(asked.rest);
  if (!found || found.behind !== '' || answered.test(found.block)) return null;
  return quotingOf(found.records, found.block, { question: asked.question, instructions: found.before });
}

/** An element among the words around a context: then the context may be one of several examples, or part of another. */
const otherElement = /(?:^|\n)[^\S\n]{0,40}<\/?[a-z]/iu;

/**
 * The same of a message that a program wrote alone, as a system message: there a `<context>` needs no question beside it if it is the only
 * element, and a block that the words before it announce none, either.
 */
export function quotedBySystem(text: string): Quoting | null {
  const quoting = quotedDocuments(text, 'program');
  if (quoting !== null) return quoting;
  const element = contextElement(text);
  if (element !== null)
    return otherElement.test(element.around) ? null : quotingOf(null, element.context, { question: '', instructions: element.around });
  const announced = announcedIn(text);
  if (announced === null) return null;
  const { block, records, before, behind } = announced;
  return quotingOf(records, block, { question: '', instructions: joined(before, behind) });
}

/** The document that a part of a message is by itself, as programs add files to what was typed; null for any other part. */
export function quotedPart(text: string): Quoting | null {
  const file = fencedFile(text);
  if (file) return quotingOf([file], text, { question: '', instructions: '' });
  const announced = announcedIn(text);
  if (announced === null || announced.records === null) return null;
  const { block, records, before, behind } = announced;
  return quotingOf(records, block, { question: '', instructions: joined(before, behind) });
}

/** The records as documents, or the block as one. */
function quotingOf(records: readonly Quoted[] | null, block: string, words: Omit<Quoting, 'documents'>): Quoting | null {
  const named = records && inOrder(records);
  if (named === null && block === '') return null;
  return { documents: named ?? [unnamed(block)], ...words };
}

/** Words of several places as paragraphs. */
export const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');

const longestTitle = 60;

function unnamed(text: string): QuotedDocument {
  const seen = visibleText(text).text;
  return { title: firstWords(seen), url: null, text: seen, listed: true };
}

/** What a text without a name is named by. */
function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!, 4 * longestTitle);
  return line.length > longestTitle ? `${line.slice(0, longestTitle).replace(/\s+\S*$/u, '')} …` : line;
}

/** Documents in the order of their numbers; null for numbers with a gap, and for too many. */
function inOrder(elements: readonly Quoted[]): readonly QuotedDocument[] | null {
  const numbers = [...new Set(elements.map(({ n }) => n))].filter((n) => n !== null).sort((a, b) => a - b);
  const least = numbers[0] ?? 1;
  if (numbers.length > 0 && elements.some(({ n }) => n === null)) return null;
  if (least > 1 || numbers.some((n, at) => n !== least + at)) return null;
  // A client that counts from 0, or not at all, shows other numbers than the answer, or none: then the answer names what it cites.
  const listed = numbers.length === 0 || least === 0;
  const byNumber = new Map<number, QuotedDocument>();
  for (const [at, { n, title, url, body: said }] of elements.entries()) {
    const body = visibleText(said).text;
    const number = n === null ? at + 1 : n + 1 - least;
    const known = byNumber.get(number);
    const address = addressIn(url);
    const named = {
      title: oneLine(title ?? '', longestName) || hostOf(address) || (listed && firstWords(body)) || `Document ${number}`,
      url: address,
      ...(listed ? { listed } : {}),
    };
    byNumber.set(number, known ? { ...known, text: `${known.text}\n\n${body}` } : { ...named, text: body });
  }
  if (byNumber.size > mostDocuments) return null;
  return [...byNumber.entries()].sort(([a], [b]) => a - b).map(([, document]) => document);
}

/** Characters of the name of a document, and of its address. */
const longestName = 300;
const longestAddress = 2_000;

/** What a document says of its address, if it is one: prompts and lists show it on one line, between angle brackets. */
const addressIn = (url: string | null): string | null =>
  url !== null && url.length <= longestAddress && /^https?:\/\/[^\s<>]+$/iu.test(url) && URL.canParse(url) ? url : null;

const hostOf = (url: string | null): string | undefined => (url === null ? undefined : new URL(url).host);

/** A marked or labelled question; otherwise it is behind the documents, and only without words there before them. */
function wordsAround(text: string, { from, to }: QuotedPart, trust: Trust): Omit<Quoting, 'documents'> & { readonly labelled: boolean } {
  const [head, behind] = [withoutWrappers(text.slice(0, from)), text.slice(to)];
  // In a message of a program these may be lines of a list, which keep their place in it.
  const tail = trust === 'program' ? behind.replace(/^(?:[^\S\n]*\n)+/u, '').trimEnd() : behind.trim();
  const marked = elementOf(tail, 'user_query') ?? elementOf(head, 'user_query');
  if (marked) {
    const rest = [head, tail].map((part) => part.replace(marked.whole, () => '').trim());
    return { labelled: true, question: marked.inner, instructions: joined(...rest) };
  }
  const [askedBehind, askedBefore] = [labelledIn(tail), labelledIn(head)];
  const asked = askedBehind ?? askedBefore;
  if (asked !== null) {
    const rest = askedBehind === null ? [asked.rest, tail] : [head, asked.rest];
    return { labelled: true, question: asked.question, instructions: joined(...rest) };
  }
  return { labelled: false, ...(tail === '' ? { question: head, instructions: '' } : { question: tail, instructions: head }) };
}

/** The labelled question of words of which some may be the user's: these stay together unless the label is surely of a program. */
function labelledIn(words: string): LabelledQuestion | null {
  const asked = askedIn(words);
  return asked && (asked.formal || asked.rest === '') ? asked : null;
}
