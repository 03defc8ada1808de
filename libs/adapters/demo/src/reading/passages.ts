import { namesOf, tokensOf, type Name, type TextToken } from '../language/tokens.js';
import { isKindNoun, personPronouns, possessivePronouns, thingPronouns } from '../language/words.js';

/** A sentence of a numbered fact, with its resolved pronouns. */
export interface Sentence {
  readonly text: string;
  readonly tokens: readonly TextToken[];
  readonly names: readonly Name[];
  /** Number of the fact. */
  readonly n: number;
  readonly passage: ParsedPassage;
  /** What its pronouns, or "the company" at its beginning, refer to, in order. */
  readonly subjects: readonly Subject[];
}

export interface Subject {
  readonly name: Name;
  /** Token of the pronoun. */
  readonly at: number;
  /** "her", "its": the statement is about something the subject has. */
  readonly possessive: boolean;
}

export interface ParsedPassage {
  readonly n: number;
  /** The original text. */
  readonly raw: string;
  readonly title: string;
  readonly sentences: readonly Sentence[];
  /** Keys of all names in text and title. */
  readonly keys: ReadonlySet<string>;
}

/** A passage as the fact of a tool. */
export const toldBy = ({ n, raw, title }: ParsedPassage): { readonly n: number; readonly text: string; readonly title: string } => ({
  n,
  text: raw,
  title,
});

/**
 * Reads `[n] text — title <url or ->` lines, with the indented ones below; other lines that begin with `[n]` are all text; text without
 * numbers is one passage.
 */
export function readPassages(block: string): readonly ParsedPassage[] {
  const lines = block.split('\n').reduce<string[]>((joined, line) => {
    if (/^\[\d+\]\s/.test(line) || joined.length === 0) joined.push(line);
    else joined[joined.length - 1] += `\n${line.trim()}`;
    return joined;
  }, []);
  return lines.flatMap((line) => {
    const match = /^\s*\[(\d+)\]\s+(.*)$/s.exec(line);
    const body = (match?.[2] ?? line).trim();
    if (body === '') return [];
    const sourced = sourceAt(body);
    // `server.tool (name: value)`: the arguments of a call are no part of the tool's name.
    const [, tool] = /^([\w-]+[./][\w./-]+) \([^\s:]+: .*\)$/s.exec(sourced?.title ?? '') ?? [];
    return [passageOf(Number(match?.[1] ?? 0), sourced?.text ?? body, tool ?? sourced?.title ?? '')];
  });
}

/** The text and the title of `text — title <url or ->`; null for any other text. */
function sourceAt(body: string): { readonly text: string; readonly title: string } | null {
  const url = body.lastIndexOf(' <');
  const title = body.lastIndexOf(' — ', url);
  if (title < 0 || title + 3 > url || !/^<[^<>]*>$/.test(body.slice(url + 1))) return null;
  return { text: body.slice(0, title), title: body.slice(title + 3, url) };
}

export function passageOf(n: number, raw: string, title: string): ParsedPassage {
  // A mark in brackets says where a passage is from, not what it is about.
  const plainTitle = title
    .replace(/^\[[^\]]*\]\s*/, '')
    .replace(/\.(md|txt|html?)$/i, '')
    .trim();
  const text = withoutMarkup(raw);
  const heading =
    plainTitle !== '' && text.toLowerCase().startsWith(`${plainTitle.toLowerCase()} `) ? text.slice(plainTitle.length).trim() : text;
  const sentences: Sentence[] = [];
  const keys = new Set<string>();
  const passage: ParsedPassage = { n, raw, title: plainTitle, sentences, keys };
  const titleNames = namesOfTitle(plainTitle);
  for (const name of titleNames) keys.add(name.key);
  let topic: Name | null = titleNames[0] ?? null;
  let person: Name | null = topic;
  // If the rest after the title starts in lower case, the title is part of the first sentence.
  for (const part of sentencesOf(heading.length > 0 && /^[a-z]/.test(heading) ? text : heading)) {
    const tokens = tokensOf(part);
    const names = namesOf(part, tokens);
    if (tokens.length === 0 || part.endsWith('?')) continue;
    const subjects = subjectsOf(tokens, names, person, topic);
    for (const name of names) keys.add(name.key);
    sentences.push({ text: part, tokens, names, n, passage, subjects });
    const maker = names.find((name) => tokens[name.from - 1]?.lower === 'by');
    person = maker ?? subjects[0]?.name ?? names[0] ?? person;
    topic ??= names[0] ?? null;
  }
  return passage;
}

/** A title in lower case can only come from a file name and is one name. */
function namesOfTitle(title: string): readonly Name[] {
  const names = namesOf(title, tokensOf(title));
  if (names.length > 0 || title === '') return names;
  const large = title.replace(/[-_]+/g, ' ').replace(/(^|\s)\p{Ll}/gu, (letter) => letter.toUpperCase());
  return namesOf(large, tokensOf(large)).slice(0, 1);
}

const leads: ReadonlySet<string> = new Set(['in', 'at', 'near', 'on', 'from', 'to', 'of', 'outside']);

/** A pronoun means the person or thing of the earlier sentences, unless its own sentence has already named one. */
function subjectsOf(tokens: readonly TextToken[], names: readonly Name[], person: Name | null, topic: Name | null): readonly Subject[] {
  const theCompany = tokens[0]?.lower === 'the' && tokens[1] && isKindNoun(tokens[1].lower) && names[0]?.from !== 1;
  if (theCompany && topic) return [{ name: topic, at: 0, possessive: false }];
  return tokens.flatMap(({ lower }, at) => {
    const possessive = possessivePronouns.has(lower);
    const thing = lower === 'its' || (at === 0 && thingPronouns.has(lower));
    if (!possessive && !thing && !personPronouns.has(lower)) return [];
    const named = names.some((name) => name.from < at && !leads.has(tokens[name.from - 1]?.lower ?? ''));
    const name = thing ? topic : person;
    return named || !name ? [] : [{ name, at, possessive }];
  });
}

/** Rows of a Markdown table as sentences: "Lake Suite: Beds 3, Price 245 euros." A passage may have lost its line breaks. */
function withoutTables(text: string): string {
  const rule = /\|(?:\s*:?-{2,}:?\s*\|)+/.exec(text);
  if (!rule) return text;
  const width = rule[0].split('|').length - 2;
  const head = text.slice(0, rule.index).split('|');
  const cells = text.slice(rule.index + rule[0].length).split('|');
  if (head.length < width + 1) return text;
  const names = head.slice(-(width + 1), -1).map((cell) => cell.trim());
  const before = head.slice(0, -(width + 2)).join('|');
  const rows: string[] = [];
  // Each row begins after a line break or a blank between two bars.
  let at = 1;
  while (at + width <= cells.length - 1 && cells[at - 1]!.trim() === '') {
    const [first = '', ...others] = cells.slice(at, at + width).map((cell) => cell.trim());
    rows.push(`${first}: ${others.map((cell, index) => `${names[index + 1]} ${cell}`).join(', ')}.`);
    at += width + 1;
  }
  return `${before} ${rows.join(' ')} ${withoutTables(cells.slice(at - 1).join('|'))}`;
}

const withoutMarkup = (text: string): string =>
  withoutTables(text)
    // A paragraph without an end of its own is a heading.
    .replace(/([^\s.:;!?])[^\S\n]*\n\s*\n\s*/g, '$1. ')
    // Code makes no statement.
    .replace(/```.*?(?:```|$)/gs, ' ')
    // Each item of a list is a separate statement.
    .replace(/(^|[.!?:]\s+|\n[^\S\n]*)[-*•]\s+(?=\p{Lu})/gu, '$1')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/\[\d{1,3}\]/g, '')
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/(^|\s)#{1,6}\s+/g, '$1')
    // An underscore inside a word belongs to a name of code.
    .replace(/[*`]+|(?<![\p{L}\p{N}_])_+|(?<!_)_+(?![\p{L}\p{N}_])/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/\s+([.,;!?])/g, '$1')
    .trim();

/** Abbreviations whose full stop does not end a sentence, and initials; "97.2 m." ends one. */
const isAbbreviated = (text: string): boolean =>
  /\b(?:mr|mrs|ms|dr|st|prof|no|ca|approx|vs|etc|jr|sr)\.$/iu.test(text) || /(?<![\p{L}\d])\p{Lu}\.$/u.test(text);

function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let current = '';
  const parts = text.split(/(?<=[.!?…]["”’)]?)\s+/u);
  for (const [index, part] of parts.entries()) {
    current = current === '' ? part : `${current} ${part}`;
    // "from 8 a.m. to 9 p.m.": no sentence begins in lower case.
    if (current.endsWith('.') && /^\p{Ll}/u.test(parts[index + 1] ?? '')) continue;
    if (isAbbreviated(current) && !/\p{Ll}{2}\.$/u.test(current.replace(/\b(mr|mrs|ms|dr|st|prof|no|ca|approx|vs|etc|jr|sr)\.$/i, '')))
      continue;
    sentences.push(...clausesOf(current));
    current = '';
  }
  if (current !== '') sentences.push(...clausesOf(current));
  return sentences;
}

/** Splits "A was made by B, while C was made by D" into two statements. */
const clausesOf = (sentence: string): readonly string[] =>
  sentence.split(/\s*;\s+|,\s+(?:while|whereas|but)\s+/).filter((clause) => clause.trim() !== '');

/**
 * Whether the name means the entity: the same name, or its last word in a passage that has the full name and no other name with the same
 * last word.
 */
export function means(name: Name, key: string, passage: ParsedPassage): boolean {
  if (name.key === key) return true;
  const words = key.split(' ');
  if (words.length < 2 || name.key !== words.at(-1) || !passage.keys.has(key)) return false;
  return ![...passage.keys].some((other) => other !== key && other !== name.key && other.endsWith(` ${name.key}`));
}
