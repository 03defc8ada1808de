/**
 * First JSON value in a model's reply: code fences, text around it, trailing commas and comments are tolerated.
 * Undefined when there is none. Keys that reach for a prototype stay ordinary data of the parsed value.
 */
export function jsonIn(reply: string): unknown {
  for (const candidate of candidates(reply)) {
    for (const text of [candidate, relaxed(candidate)]) {
      try {
        const value: unknown = JSON.parse(text);
        if (typeof value === 'object' && value !== null) return value;
      } catch {
        // Not JSON in this form: the next, more tolerant form is tried, and undefined says that none was.
        continue;
      }
    }
  }
  return undefined;
}

/** Brackets at which a value may begin; a reply of nothing but brackets is not read to its end from each of them. */
const mostStarts = 50;

function* candidates(reply: string): Generator<string> {
  yield reply.trim();
  for (const fence of reply.matchAll(/```[a-z]*\s*\n([\s\S]*?)```/gi)) yield fence[1]!.trim();
  let tried = 0;
  for (const start of reply.matchAll(/[[{]/g)) {
    if ((tried += 1) > mostStarts) return;
    const text = balanced(reply, start.index);
    if (text) yield text;
  }
}

function balanced(text: string, from: number): string | undefined {
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
      if (depth === 0) return text.slice(from, at + 1);
    }
  }
  return undefined;
}

/** The same text without comments and trailing commas outside of strings. */
const relaxed = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : ''));
