import { headedIn, isLocation, withoutRules } from './headed-records.js';
import type { Quoted } from './quoted.js';

/** A block that a program put into a prompt, and the words before and behind it. */
export interface Announced {
  readonly block: string;
  /** The documents in it if each has a name; otherwise it is one text. */
  readonly records: readonly Quoted[] | null;
  readonly before: string;
  readonly behind: string;
}

const quotable = '(?:context|documents?|files|passages|excerpts|notes|sources|information|knowledge|dataset|search results|articles)';
/** Words that promise a text, and that questions are to be answered from it. */
const promised = new RegExp(
  `\\b(?:following|below|provided|given|these|retrieved|relevant|attached)\\b[^.:\\n]{0,60}\\b${quotable}\\b|\\b${quotable}\\b[^.:\\n]{0,40}\\b(?:below|following)\\b`,
  'iu',
);
const answering = /\b(?:answer|respond|reply|inform)/iu;
/** Words of a sentence that says that questions are to be answered from a text: all of them, because other prompts, too, speak of context. */
const promising = [
  /\banswer/iu,
  /\b(?:context|documents|passages|excerpts)\b/iu,
  /\b(?:following|below|provided|retrieved|these)\b/iu,
  /\b(?:use|using|given|based|from)\b/iu,
];
const promises = (words: string): boolean => promising.every((word) => word.test(words));
const sentence = /[^.:\n]{1,400}(?:[.:\n]|$)/gu;
/** Words that say that the text follows at once. */
const atOnce = /\b(?:following|below)\b/iu;
/** The same in so few words that they can mean nothing else: `Context information is below.` */
const below = new RegExp(`\\b${quotable}\\b[^.:\\n]{0,20}\\b(?:is|are) below\\b`, 'iu');
/** A line that is only the name of what follows: `Context:`, `User's Notes:`, `Here are the relevant documents for the context:`. */
const nameLine = new RegExp(`(?:^|\\n)[^\\S\\n]{0,40}([^\\n:]{0,80}\\b${quotable}\\b[^\\n:]{0,40}:)[^\\S\\n]*(?=\\n|$)`, 'iu');
const nameOfText =
  /(?:^|\n)[^\S\n]{0,40}(?:[a-z]{2,20} ){0,2}(?:context|documents?|passages|excerpts|information|knowledge base|search results):[^\S\n]*/iu;
const nameLineAtEnd = new RegExp(`${nameLine.source}\\s*$`, 'iu');
/** A short name before a text on the same line. */
const leadingName = new RegExp(`^\\s*${quotable}:\\s*`, 'iu');
/** A line of a program that sets parts off; people and Markdown use shorter ones. */
const rule = /(?:^|\n)[^\S\n]{0,40}(-{5,200}|={5,200})[^\S\n]{0,40}(?=\n|$)/gu;
const element = /(?:^|\n)[^\S\n]{0,40}<\/?[a-z]/iu;
/** Words that end a block. */
const ending =
  /\n[^\S\n]{0,40}(?:(?:the )?above (?:is|are)\b|(?:instructions?|rules|guidelines|question|query|answer|remember)[^\S\n]?:)/giu;
/** Places for a question and its answer that a program left empty. */
const emptyPlaces = /(?:\n[^\S\n]{0,40}(?:question|query|answer)[^\S\n]?:\s*){1,3}$/iu;
const longestParagraph = 1_500;

/**
 * The block that a system message announces: between two rules or behind one, between words such as "Here are the documents:" and
 * "The above is", or behind a first paragraph that says that questions are to be answered from it. Null without one.
 */
export function announcedIn(text: string): Announced | null {
  const prompt = text.replace(emptyPlaces, '');
  return betweenRules(prompt) ?? fencedRecords(prompt) ?? behindName(prompt) ?? behindPromise(prompt);
}

/** The last paragraph of a text. */
function lastParagraph(text: string): string {
  const end = text.slice(-longestParagraph).trimEnd();
  return end.slice(end.lastIndexOf('\n\n') + 1).trim();
}

const announces = (paragraph: string): boolean =>
  below.test(paragraph) || nameLineAtEnd.test(paragraph) || (promised.test(paragraph) && answering.test(paragraph));

/** What two equal rules enclose, up to the last one, or what follows the only rule. The paragraph before it announces it. */
function betweenRules(text: string): Announced | null {
  const [first, ...others] = text.matchAll(rule);
  if (first === undefined || !announces(lastParagraph(text.slice(0, first.index)))) return null;
  const start = first.index + first[0].length;
  const last = others.findLast((one) => one[1] === first[1]);
  const end = last?.index ?? text.length;
  return announced(text.slice(0, first.index), text.slice(start, end), last ? text.slice(end + last[0].length) : '');
}

/**
 * A block with the question about it before the words that announce it: `…? Context information is below.` above two rules, or
 * `…? Answer using the following information:` above all further lines. Null without one.
 */
export function askedBeforeBlock(text: string): (Announced & { readonly question: string }) | null {
  const found = betweenRules(text);
  const paragraph = found ? lastParagraph(found.before) : '';
  const question = found ? found.before.slice(0, found.before.length - paragraph.length).trim() : '';
  if (found && found.behind !== '' && question !== '' && below.test(paragraph)) return { ...found, question, before: paragraph };
  for (const said of text.slice(0, longestParagraph).matchAll(sentence)) {
    const before = text.slice(0, said.index);
    const rest = text.slice(said.index + said[0].length);
    if (!said[0].endsWith(':') || !before.endsWith('\n') || before.trim() === '' || !/^[^\S\n]*\n/u.test(rest)) continue;
    // Among elements it may end with one of them.
    if (element.test(before)) break;
    const one = promises(said[0].replace(/\binformation\b/iu, 'context')) ? announced(said[0], rest, '') : null;
    if (one) return { ...one, question: before.trim() };
  }
  return null;
}

/** Documents with names in a fence below a line such as `Attached document(s):`, up to its last end, which has a blank line before it. */
export function fencedRecords(text: string): Announced | null {
  const open = /(?:^|\n)([^\n`]{1,80}:)[^\S\n]*\n```([a-z]{0,10})(?=[#\n])/u.exec(text);
  if (open === null || !/document|file|source|context/iu.test(open[1]!)) return null;
  const start = open.index + open[0].length;
  const end = text.lastIndexOf('\n\n```');
  if (end < start) return null;
  const records = headedIn(text.slice(start, end));
  const before = text.slice(0, open.index).trim();
  return records && { block: text.slice(start, end), records, before, behind: text.slice(end + 5).trim() };
}

/** What follows a line that is the name of it, if each document in it has a name, or if words end it. */
function behindName(text: string): Announced | null {
  const name = nameLine.exec(text);
  if (name === null) return null;
  const start = name.index + name[0].length;
  const rest = text.slice(start);
  const close = [...rest.matchAll(ending)].at(-1);
  const block = close ? rest.slice(0, close.index) : rest;
  const found = announced(text.slice(0, start), block, close ? rest.slice(close.index) : '');
  if (found === null) return null;
  const isClosed =
    close !== undefined && /above|instruction|question|query/iu.test(close[0]) && /^here |relevant|provided/iu.test(name[1]!.trim());
  return found.records !== null || isClosed ? found : null;
}

/**
 * What follows a sentence that says that questions are to be answered from it: behind the name of it, or else all further lines or
 * paragraphs.
 */
export function behindPromise(text: string): Announced | null {
  const said = [...text.slice(0, longestParagraph).matchAll(sentence)].find(([words]) => promises(words));
  if (said === undefined) return null;
  const from = said.index + said[0].length;
  const rest = text.slice(from);
  const head = rest.slice(0, longestParagraph);
  const follows = said[0].endsWith(':') && /^[^\S\n]*\n/u.test(head);
  const name = follows ? null : nameOfText.exec(head);
  const gap = follows ? 0 : head.search(/\n[^\S\n]{0,40}\n/u);
  // Among elements it may end with one of them.
  const isNext = atOnce.test(said[0]) && gap >= 0 && !element.test(text.slice(0, from)) && !/^\s*</u.test(rest.slice(gap));
  if (!name && !isNext) return null;
  const start = name ? name.index + name[0].length : gap;
  const close = [...rest.slice(start).matchAll(ending)].at(-1);
  const end = close ? start + close.index : rest.length;
  return announced(text.slice(0, from + start), rest.slice(start, end), rest.slice(end));
}

function announced(before: string, block: string, behind: string): Announced | null {
  const inside = withoutRules(block).replace(leadingName, '');
  if (inside === '') return null;
  return { block: inside, records: headedIn(inside), before: before.trim(), behind: behind.trim() };
}

/** A text that is nothing but a fenced file, whose name is that of the fence. */
export function fencedFile(text: string): Quoted | null {
  const [, , name = '', body = ''] = /^(`{3,20})([^\n`]{1,300})\n([\s\S]*)\n\1$/u.exec(text.trim()) ?? [];
  if (!isLocation(name) || body.trim() === '') return null;
  return { n: null, title: name.trim(), url: name.startsWith('http') ? name.trim() : null, body };
}

/** Files behind a question, each below a rule and the name of the file. */
export function filesBehind(text: string): { readonly question: string; readonly records: readonly Quoted[] } | null {
  for (const found of text.matchAll(rule)) {
    const block = text.slice(found.index + found[0].length);
    if (!/^\s{0,20}File: /u.test(block)) continue;
    const records = headedIn(block);
    const question = text.slice(0, found.index).trim();
    return records === null || question === '' ? null : { question, records };
  }
  return null;
}
