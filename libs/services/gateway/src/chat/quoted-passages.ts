import { isJsonObject, type JsonObject } from '@conclave/ports';
import { addRest } from './quoted-elements.js';
import type { Quoted, QuotedPart } from './quoted.js';

/** A line that begins a passage: `[CONTEXT 0]:`, `[webpage 1 begin]`. */
const opening = /^[^\S\n]{0,40}\[([A-Za-z]{2,20}) (\d{1,3})( begin)?\]:?[^\S\n]{0,40}$/gmu;
/** Lines that end one. */
const closing = /(?:^|\n)[^\S\n]{0,40}\[(?:END [A-Za-z]{2,20} \d{1,3}|[A-Za-z]{2,20} \d{1,3} end)\](?=[^\S\n]{0,40}(?:\n|$))/gu;
const mostTags = 2_000;

/**
 * Passages between numbered lines in brackets, as AnythingLLM (`[END CONTEXT 0]`) and Chatbox (`[webpage 1 end]`) quote them; null without
 * any.
 */
export function passagesIn(text: string): QuotedPart | null {
  const elements: Quoted[] = [];
  let [from, to, tags] = [-1, 0, 0];
  for (const found of text.matchAll(opening)) {
    const [line, name, n, begins] = found;
    if (found.index < to) continue;
    if ((tags += 1) > mostTags) return null;
    const start = found.index + line.length;
    const close = begins ? `[${name!} ${n!} end]` : `[END ${name!} ${n!}]`;
    const end = text.indexOf(close, start);
    if (end < 0) return null;
    if (elements.length > 0) addRest(elements, text.slice(to, found.index), closing);
    elements.push({ n: Number(n), ...describedIn(text.slice(start, end)) });
    if (from < 0) from = found.index;
    to = end + close.length;
  }
  if (elements.every(({ body }) => body === '')) return null;
  // A document may contain the end of its passage: what follows is quoted, too, up to the last one.
  const rest = text.slice(to);
  const end = [...rest.matchAll(closing)].reduce((_, { 0: line, index }) => index + line.length, 0);
  addRest(elements, rest.slice(0, end), closing);
  return { elements, from, to: to + end };
}

/** Most lines at the beginning of a passage that say what it is from, such as `Title: Travel`. */
const mostLines = 6;
const described = /^([A-Za-z]{3,20})\s{0,3}:\s{0,3}(\S.*)$/u;

/** An element at the beginning of a passage that has only such lines. */
const head = /^<(\w{1,40})>\n([^<]{1,2000})<\/\1>\s*/u;

/** Title and address of a passage, from lines at its beginning or in an element before it. */
function describedIn(text: string): Omit<Quoted, 'n'> {
  const whole = text.trim();
  const before = head.exec(whole);
  const values = new Map<string, string>();
  for (const line of (before?.[2] ?? whole).split('\n', mostLines)) {
    const found = described.exec(line.trim());
    if (!found) break;
    values.set(found[1]!.toLowerCase(), found[2]!.trim());
  }
  const address = ['url', 'link', 'source'].map((name) => values.get(name)).find((value) => value?.startsWith('http'));
  const title = ['title', 'sourcedocument', 'filename', 'name'].map((name) => values.get(name)).find(Boolean);
  return { title, url: address ?? null, body: before && values.size > 0 ? whole.slice(before[0].length) : whole };
}

/**
 * A list of JSON on lines of its own, of records with a number and a text, as Cherry Studio quotes what it found, or, as in Onyx, an object
 * with only such a list; null without one.
 */
export function recordsIn(text: string): QuotedPart | null {
  const open = /^[[{]$/mu.exec(text);
  const end = open ? text.lastIndexOf(open[0] === '[' ? '\n]' : '\n}') : -1;
  if (open === null || end < open.index) return null;
  const elements = parsed(text.slice(open.index, end + 2))?.map(recordOf);
  if (elements === undefined || elements.length === 0 || elements.includes(null)) return null;
  // The fence around the list belongs to it.
  const from = /```[a-z]{0,10}\n$/u.exec(text.slice(Math.max(0, open.index - 16), open.index))?.[0].length ?? 0;
  const to = from > 0 && text.startsWith('\n```', end + 2) ? end + 6 : end + 2;
  return { elements: elements.filter((one) => one !== null), from: open.index - from, to };
}

function recordOf(record: JsonObject): Quoted | null {
  const n = ['id', 'document', 'index'].map((name) => record[name]).find((value) => typeof value === 'number');
  const body = firstText(record, 'content', 'contents', 'text');
  if (typeof n !== 'number' || body === undefined) return null;
  const source = firstText(record, 'sourceUrl', 'url', 'source');
  const address = source?.startsWith('http') ? source : null;
  const title = firstText(record, 'title', 'name', 'filename') ?? (address === null ? source : undefined);
  return { n, title, url: address, body: body.trim() };
}

/** The first of these members of a record that is a text. */
const firstText = (record: JsonObject, ...names: readonly string[]): string | undefined =>
  names.map((name) => record[name]).find((value): value is string => typeof value === 'string' && value !== '');

/** The records of a list, or of the only member of an object. */
function parsed(text: string): readonly JsonObject[] | null {
  try {
    const value = JSON.parse(text) as unknown;
    const members: readonly unknown[] = isJsonObject(value) ? Object.values(value) : [value];
    const list = members.length === 1 ? members[0] : null;
    return Array.isArray(list) && list.every(isJsonObject) ? list : null;
  } catch {
    return null;
  }
}
