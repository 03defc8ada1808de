/**
 * First JSON value in a model's reply, or undefined; tolerates code fences, surrounding text, trailing commas and comments.
 * Keys such as `__proto__` stay ordinary data of the parsed value.
 */
export function jsonIn(reply: string): unknown {
  for (const candidate of candidates(reply)) {
    for (const text of [candidate, relaxed(candidate)]) {
      try {
        const value: unknown = JSON.parse(text);
        if (typeof value === 'object' && value !== null) return value;
      } catch {
        // Not JSON in this form: the next, more tolerant form is tried.
        continue;
      }
    }
  }
  return undefined;
}

/** Most brackets tried as the start of a value, so that a reply full of brackets stays cheap. */
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

/** The text without comments and trailing commas, strings excepted. */
const relaxed = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : ''));
