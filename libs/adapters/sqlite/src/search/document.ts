import { firstHeadingOf, isCode, type TextPassage, passagesOf } from '@conclave/ports/passages';

export interface ParsedDocument {
  readonly title: string;
  /** Address from the front matter; null unless it is a web address. */
  readonly url: string | null;
  /** Read while they are taken: a long text is never read at once. */
  readonly passages: Iterable<TextPassage>;
}

/** Front matter is at the beginning: a line that ends it further on belongs to the text. */
const longestFrontMatter = 20_000;

/**
 * Reads Markdown, text, another markup or source code. Title: `title:` of the front matter, else the first heading, else the file's name;
 * of source code always the latter, and its path is the heading. Everything is text: nothing in a document is executed, fetched or
 * followed.
 */
export function parseDocument(source: string, path: string): ParsedDocument {
  const fileName = path.split('/').at(-1)!;
  if (isCode(path)) return { title: fileName, url: null, passages: isGenerated(source) ? [] : passagesOf(source, { name: path }) };
  const { fields, body } = frontMatter(source);
  const address = fields.get('url') ?? '';
  return {
    title: fields.get('title') || firstHeadingOf(body, fileName) || nameOf(fileName),
    url: /^https?:\/\/\S+$/i.test(address) ? address : null,
    passages: passagesOf(body, { name: fileName }),
  };
}

function frontMatter(text: string): { readonly fields: ReadonlyMap<string, string>; readonly body: string } {
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, longestFrontMatter));
  if (!block) return { fields: new Map(), body: text };
  const fields = new Map<string, string>();
  for (const line of block[1]!.split(/\r?\n/)) {
    const field = /^([A-Za-z_]+):(.*)$/.exec(line);
    if (field)
      fields.set(
        field[1]!.toLowerCase(),
        field[2]!
          .replaceAll('\0', ' ')
          .trim()
          .replace(/^(['"])(.*)\1$/, '$2'),
      );
  }
  return { fields, body: text.slice(block[0].length) };
}

/** Whether source code was written for machines, in lines of hundreds of characters: its words would only hide others. */
function isGenerated(source: string): boolean {
  const lines = source.length / longestMean;
  return source.length > shortestGenerated && source.split('\n', Math.ceil(lines) + 1).length < lines;
}
const [longestMean, shortestGenerated] = [200, 5_000];

const nameOf = (fileName: string): string =>
  fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[-_]+/g, ' ')
    .trim();
