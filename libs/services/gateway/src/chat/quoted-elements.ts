import { isLocation } from './headed-records.js';
import type { Quoted, QuotedPart, Trust } from './quoted.js';

/**
 * Elements with which front ends quote a document, or a passage of one; names in two or more words, such as `note_context`, only if
 * elements in them name and contain the document.
 */
const opening = /<(source|document|doc|file|result|passage|chunk|item|[a-z]{2,20}(?:_[a-z]{2,20}){1,3})\b([^<>]{0,2000})>/giu;
/** Ends of elements and of what stands around all of them. */
const closing = /<\/(?:source|document|doc|file|result|passage|chunk|item|context|search[_-]result)s?>(?=[^\S\n]*(?:\n|$|<))/giu;
const wrapper = /^<(?:context|(?:[a-z]{2,20}[_-])?(?:sources|documents|docs|files|results)|passages|chunks|items)\b[^<>]*>$/iu;
/** One around documents that need no number then, only names. */
const ofNamed = /<((?:[a-z]{2,20}[_-])?(?:documents|docs|files))\b[^<>]{0,200}>\s{0,40}$/iu;
const numbered = /(?:^|\s)(?:id|index|n|number)\s*=\s*["']?(\d{1,3})["']?(?=\s|$)/iu;
const named = /(?:^|\s)(?:title|name|filename|path|source)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s=][^"'=]*)$)/iu;
const addressed = /(?:^|\s)(?:url|href|link|source)\s*=\s*(?:"(https?:\/\/[^"\s]*)"|'(https?:\/\/[^'\s]*)')/iu;

/** Children that number, name, address and contain a document; those that contain it come last. */
const childNumber = /<(?:id|index|number)>\s*(\d{1,3})\s*<\//iu;
const childName = /<(?:title|name|filename|file_name)>([^<>]{1,300})<\//iu;
const childSource = /<(?:source|path)>([^<>]{1,300})<\//iu;
/** Children that say where a document is kept, or how long it is, as programs know it; people who write mark-up leave them out. */
const childPlace = /<(?:\w{1,20}_)?(?:path|key|index|size|lines|mime|ctime|mtime)>/iu;
/** Children without children of their own. */
const onlyLeaves = /^\s*(?:<(\w{1,40})>[^<>]*<\/\1>\s*)*$/u;
const childAddress = /<(?:url|link)>\s*(https?:\/\/[^<>\s]{1,2000})\s*<\//iu;
const childContent = /<(content|context|document_contents?|file_content)>/iu;

/** Most opening tags examined, and most elements around all documents. */
const mostTags = 2_000;
const mostWrappers = 8;
/** Characters before the content of an element in which its name is. */
const aboutContent = 2_000;

/** The first element of a name. */
export function elementOf(text: string, name: string): { readonly whole: string; readonly inner: string } | null {
  const from = text.indexOf(`<${name}>`);
  const to = from < 0 ? -1 : text.indexOf(`</${name}>`, from);
  if (to < 0) return null;
  return { whole: text.slice(from, to + name.length + 3), inner: text.slice(from + name.length + 2, to).trim() };
}

/** A text without the opening tags at its end that stand around all documents. */
export function withoutWrappers(text: string): string {
  let head = text.trim();
  for (let left = mostWrappers; left > 0 && head.endsWith('>'); left -= 1) {
    const at = head.lastIndexOf('<');
    if (at < 0 || !wrapper.test(head.slice(at))) break;
    head = head.slice(0, at).trimEnd();
  }
  return head;
}

/**
 * The elements; null if there are none. A name does for a number if a program added the text, or wrote an element of the same kind around all
 * of them. Takes time in proportion to the length of the text.
 */
export function elementsIn(text: string, trust: Trust = 'user'): QuotedPart | null {
  const elements: Quoted[] = [];
  const unclosed = new Set<string>();
  let around: string | undefined;
  let [from, to, tags] = [-1, 0, 0];
  for (const found of text.matchAll(opening)) {
    const [tag, name = '', attributes = ''] = found;
    // What stands in the middle of a line is mentioned, not quoted.
    if (found.index < to || unclosed.has(name) || !/(?:^|[\n>])[^\S\n]*$/.test(text.slice(Math.max(0, found.index - 40), found.index)))
      continue;
    if ((tags += 1) > mostTags) return null;
    const start = found.index + tag.length;
    const end = text.indexOf(`</${name}>`, start);
    if (end < 0) unclosed.add(name);
    if (from < 0) around = ofNamed.exec(text.slice(Math.max(0, found.index - 280), found.index))?.[1];
    const namesSuffice = trust === 'added' || around !== undefined;
    const one = end < 0 ? null : readElement({ tag: name, attributes }, text, [start, end], { namesSuffice, trust });
    if (one === null) continue;
    if (elements.length > 0) addRest(elements, text.slice(to, found.index), closing);
    elements.push(one);
    if (from < 0) from = found.index;
    to = end + name.length + 3;
  }
  if (elements.every(({ body }) => body === '')) return null;
  // A document may contain a closing tag: what follows is quoted, too, up to the last one.
  const rest = text.slice(to);
  const ofAll = around === undefined ? null : `</${around}>`;
  const lastOfAll = ofAll === null ? -1 : rest.lastIndexOf(ofAll);
  const end = [...rest.matchAll(closing)].reduce(
    (most, { 0: tag, index }) => Math.max(most, index + tag.length),
    ofAll === null || lastOfAll < 0 ? 0 : lastOfAll + ofAll.length,
  );
  addRest(elements, ofAll === null ? rest.slice(0, end) : rest.slice(0, end).replaceAll(ofAll, ' '), closing);
  return { elements, from, to: to + end };
}

/** Adds what stands behind an element to it, without such `ends` of elements. */
export function addRest(elements: Quoted[], behind: string, ends: RegExp): void {
  const rest = behind.replace(ends, ' ').trim();
  const last = elements.at(-1)!;
  if (rest !== '') elements[elements.length - 1] = { ...last, body: `${last.body}\n${rest}` };
}

/**
 * A document whose number, name and text are attributes and content, or, as in Anthropic's guide, elements of their own. Null without a
 * number, unless it has a name and its content as such elements, or text that a program joined to its tags.
 */
function readElement(
  { tag, attributes }: { readonly tag: string; readonly attributes: string },
  text: string,
  [start, end]: readonly [number, number],
  { namesSuffice, trust }: { readonly namesSuffice: boolean; readonly trust: Trust },
): Quoted | null {
  const valueOf = (pattern: RegExp): string | undefined => {
    const found = pattern.exec(attributes);
    return (found?.[1] ?? found?.[2] ?? found?.[3])?.trim() || undefined;
  };
  const begins = text.slice(start, Math.min(end, start + aboutContent));
  const found = childContent.exec(begins);
  const content = found && onlyLeaves.test(begins.slice(0, found.index)) ? found : null;
  const about = content ? begins.slice(0, content.index) : '';
  const called = valueOf(named) ?? childName.exec(about)?.[1]?.trim();
  const n = numbered.exec(attributes)?.[1] ?? childNumber.exec(about)?.[1];
  const name = called ?? (n === undefined ? undefined : childSource.exec(about)?.[1]?.trim());
  const title = name?.startsWith('http') ? undefined : name;
  const isNamed = title !== undefined && (namesSuffice || (isLocation(title) && isJoined(text, start, end)));
  const attributed = (n !== undefined || isNamed) && !tag.includes('_');
  // A path and a content alone are a call of a tool, as coding agents write it; a title and a content are what people write themselves.
  const hasParts = content !== null && title !== undefined && (n !== undefined || trust !== 'user' || childPlace.test(about));
  if (!attributed && !hasParts) return null;
  return {
    n: n === undefined ? null : Number(n),
    title,
    url: valueOf(addressed) ?? childAddress.exec(about)?.[1] ?? null,
    body: (content ? contentOf(text.slice(start + content.index, end), content) : text.slice(start, end)).replace(cdata, ' ').trim(),
  };
}

/** Whether text of several lines touches both of its tags: people put it on lines of its own. */
const isJoined = (text: string, start: number, end: number): boolean =>
  /\S/u.test(text.charAt(start)) && /\S/u.test(text.charAt(end - 1)) && text.slice(start, end).includes('\n');

const cdata = /<!\[CDATA\[|\]\]>/g;

/** The text of the child that contains a document, up to its last closing tag. */
function contentOf(text: string, [tag, name]: RegExpExecArray): string {
  const end = text.lastIndexOf(`</${name!}>`);
  return text.slice(tag.length, end < 0 ? undefined : end);
}
