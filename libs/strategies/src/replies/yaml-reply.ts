import { parseDocument } from 'yaml';

/** Longest text read as YAML, and most texts that are tried, so that no reply is expensive. */
const longest = 10_000;
const mostTexts = 6;

/**
 * First YAML in a model's reply for which `isMeant` is true, or undefined: in a code fence, after an introduction, or the whole reply. Values
 * that contain syntax of YAML, such as a second colon, are read as text. Tags and aliases are refused.
 */
export function yamlIn(reply: string, isMeant: (value: unknown) => boolean): unknown {
  for (const text of [...new Set(candidates(reply))].slice(0, mostTexts)) {
    if (text.length > longest) continue;
    for (const form of new Set([text, quoted(text)])) {
      const value = read(form);
      if (isMeant(value)) return value;
    }
  }
  return undefined;
}

function* candidates(reply: string): Generator<string> {
  for (const fence of reply.matchAll(/(```|~~~)(?:ya?ml)?[ \t]*\n([\s\S]*?)(?:\1|$)/gi)) yield fence[2]!;
  const bare = reply.replace(/^[ \t]*(?:```|~~~).*$/gm, '');
  yield bare;
  const block = blockIn(bare);
  if (block !== null) yield block;
}

const entry = /^(?:- +)?["']?[A-Za-z][\w-]{0,40}["']?:(?: |$)/;

/** The lines from the first `key:` or `- key:` at the margin to the last before a paragraph. */
function blockIn(text: string): string | null {
  const lines = text.split('\n');
  // The line of an introduction ends with a colon, too.
  const from = lines.findIndex((line, at) => entry.test(line) && /^(?: |- |-$|[A-Za-z"'])/.test(lines[at + 1] ?? ''));
  if (from < 0) return null;
  const length = lines.slice(from).findIndex((line) => !/^(?:\s|-(?: |$)|$)/.test(line) && !entry.test(line));
  return lines.slice(from, length < 0 ? undefined : from + length).join('\n');
}

function read(text: string): unknown {
  try {
    const document = parseDocument(text, {
      schema: 'core',
      prettyErrors: false,
      resolveKnownTags: false,
      stringKeys: true,
      logLevel: 'silent',
    });
    return document.errors.length > 0 ? undefined : (document.toJS({ maxAliasCount: 0 }) as unknown);
  } catch {
    // Not YAML, too deep, or with an alias: the caller tries another text.
    return undefined;
  }
}

/** The text with quotes around values that YAML would not read as plain text. */
const quoted = (text: string): string =>
  text.replace(/^([ \t]*(?:- +)*[\w-]+: +)([^\s"'[{|>].*)$/gm, (line, key: string, value: string) =>
    /: |:$|^[*&!%@`]/.test(value) ? `${key}${JSON.stringify(value.trim())}` : line,
  );
