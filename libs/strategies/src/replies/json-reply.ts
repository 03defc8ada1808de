import { jsonrepair } from 'jsonrepair';

/**
 * First JSON value in a model's reply, or undefined; tolerates code fences, surrounding text, trailing commas and comments. If there is
 * none, repairs the longest text that was meant to be JSON: with single or typographic quotes, bare keys, line breaks in strings, or a
 * missing end. Keys such as `__proto__` stay ordinary data of the parsed value.
 */
export function jsonIn(reply: string): unknown {
  const whole = read(reply.trim());
  // Some models send their JSON as a JSON string.
  if (typeof whole === 'string') return /^\s*[[{]/.test(whole) ? jsonIn(whole) : undefined;
  const meant: string[] = [];
  let inside = 0;
  for (const { text, from, end } of candidates(reply)) {
    // What is inside a value that could not be read is only a part of it.
    if (from >= 0 && from < inside) continue;
    const value = end === 'closed' ? (read(text) ?? read(relaxed(text))) : undefined;
    if (isStructure(value)) return value;
    if (from < 0 || !looksMeant.test(text)) continue;
    inside = from + text.length;
    // A value that ends in a string was cut off: its end is not known.
    if (end !== 'in a string') meant.push(text);
  }
  for (const text of meant.sort((a, b) => b.length - a.length).slice(0, mostRepairs)) {
    const value = repaired(text);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Whether a text is one JSON object or list and nothing else, perhaps in a code fence. An answer like that is read by a program: its client
 * asked for the form in words.
 */
export function isJsonAlone(text: string): boolean {
  const bare = text.trim();
  const fenced = bare.startsWith('```') && bare.endsWith('```') && bare.length > 6;
  const whole = fenced ? bare.slice(bare.indexOf('\n') + 1, -3).trim() : bare;
  return /^[[{]/.test(whole) && isStructure(read(whole));
}

const isStructure = (value: unknown): value is object => typeof value === 'object' && value !== null;

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON in this form: the caller tries a more tolerant one.
    return undefined;
  }
}

/** An object that begins with a name and a colon, or a list of objects; prose in brackets is neither. */
const looksMeant = /^(?:\[\s*)?\{\s*["'`\u2018-\u201f]?[\p{L}\p{N}_-]{1,40}["'`\u2018-\u201f]?\s*:/u;
/** Most texts that are repaired, and their length, so that no reply is expensive. */
const mostRepairs = 5;
const longestRepair = 100_000;

function repaired(text: string): object | undefined {
  if (text.length > longestRepair) return undefined;
  try {
    const value = read(jsonrepair(text));
    return isStructure(value) && Object.values(value).some((member) => member !== null) ? value : undefined;
  } catch {
    // Beyond repair.
    return undefined;
  }
}

/** Most brackets tried as the start of a value, so that a reply full of brackets stays cheap. */
const mostStarts = 50;

interface Candidate {
  readonly text: string;
  /** Position in the reply; -1 for a text that is more than brackets. */
  readonly from: number;
  /** `closed`: all its brackets are closed. `open`: the last ones are missing. */
  readonly end: 'closed' | 'open' | 'in a string';
}

function* candidates(reply: string): Generator<Candidate> {
  yield { text: reply.trim(), from: -1, end: 'closed' };
  for (const fence of reply.matchAll(/(```|~~~)[a-z0-9]*[^\S\n]*\n([\s\S]*?)\1/gi))
    yield { text: fence[2]!.trim(), from: -1, end: 'closed' };
  let tried = 0;
  for (const start of reply.matchAll(/[[{]/g)) {
    if ((tried += 1) > mostStarts) return;
    yield balanced(reply, start.index);
  }
}

function balanced(text: string, from: number): Candidate {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!;
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { text: text.slice(from, at + 1), from, end: 'closed' };
    }
  }
  return {
    text: text
      .slice(from)
      .trimEnd()
      .replace(/(?:```|~~~)$/, '')
      .trimEnd(),
    from,
    end: inString ? 'in a string' : 'open',
  };
}

/** The text without comments and trailing commas, strings excepted. */
const relaxed = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\[\s\S]?)*(?:"|$)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g, (part) =>
    part.startsWith('"') ? part : '',
  );
