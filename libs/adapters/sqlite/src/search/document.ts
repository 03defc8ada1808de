/** Maximum characters of a passage. A passage is what a hit shows: a paragraph, cut if it is longer. */
export const passageLength = 600;

export interface ParsedDocument {
  readonly title: string;
  /** Address from the front matter; null unless it is a web address. */
  readonly url: string | null;
  readonly passages: readonly IndexedPassage[];
}
export interface IndexedPassage {
  /** Headings above the paragraph, outermost first, empty outside any section. */
  readonly heading: string;
  readonly text: string;
}

/**
 * Reads Markdown or plain text. Title: `title:` of the front matter, else the first heading, else the file's name.
 * Everything is text: nothing in a document is executed, fetched or followed.
 */
export function parseDocument(source: string, fileName: string): ParsedDocument {
  const text = source
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', ' ')
    .replace(/\r\n?/g, '\n');
  const { fields, body } = frontMatter(text);
  const { passages, firstHeading } = passagesOf(body);
  const address = fields.get('url') ?? '';
  return {
    title: fields.get('title') || firstHeading || nameOf(fileName),
    url: /^https?:\/\/\S+$/i.test(address) ? address : null,
    passages,
  };
}

function frontMatter(text: string): { readonly fields: ReadonlyMap<string, string>; readonly body: string } {
  const block = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text);
  if (!block) return { fields: new Map(), body: text };
  const fields = new Map<string, string>();
  for (const line of block[1]!.split('\n')) {
    const field = /^([A-Za-z_]+):[ \t]*(.*)$/.exec(line);
    if (field) fields.set(field[1]!.toLowerCase(), field[2]!.trim().replace(/^(['"])(.*)\1$/, '$2'));
  }
  return { fields, body: text.slice(block[0].length) };
}

function passagesOf(body: string): { readonly passages: readonly IndexedPassage[]; readonly firstHeading: string } {
  const passages: IndexedPassage[] = [];
  const headings: string[] = [];
  let firstHeading = '';
  let paragraph: string[] = [];
  let fenced = false;
  const flush = () => {
    const text = paragraph.join('\n').trim();
    paragraph = [];
    for (const part of cut(text)) passages.push({ heading: headings.filter(Boolean).join(' / '), text: part });
  };
  for (const line of body.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const heading = fenced ? null : /^(#{1,6})[ \t]+(.*?)[ \t#]*$/.exec(line);
    if (heading) {
      flush();
      const level = heading[1]!.length;
      headings.length = level - 1;
      headings[level - 1] = heading[2]!;
      firstHeading ||= heading[2]!;
    } else if (line.trim() === '' && !fenced) {
      flush();
    } else {
      paragraph.push(line.trimEnd());
    }
  }
  flush();
  return { passages, firstHeading };
}

/** Parts of at most `passageLength` characters, cut after a sentence where possible, else after a word. */
function cut(text: string): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > passageLength) {
    const window = rest.slice(0, passageLength);
    const sentence = Math.max(...['. ', '! ', '? ', '.\n', '\n'].map((end) => window.lastIndexOf(end)));
    const at = sentence >= passageLength / 3 ? sentence + 1 : window.lastIndexOf(' ');
    // Never splits a surrogate pair.
    const end = at > 0 ? at : /[\uD800-\uDBFF]$/.test(window) ? passageLength - 1 : passageLength;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}

const nameOf = (fileName: string): string =>
  fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[-_]+/g, ' ')
    .trim();
