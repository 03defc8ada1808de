/** A part of a text, [start, end) in UTF-16 units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** The paragraphs under one heading, including the heading's own line. */
export interface Section {
  /** Headings above, outermost first. */
  readonly headings: readonly string[];
  readonly paragraphs: readonly TextSpan[];
}

interface Line extends TextSpan {
  /** Without the line break. */
  readonly text: string;
}

interface Block extends TextSpan {
  /** Set for a heading: its level, from 1, and its text. */
  readonly heading?: { readonly level: number; readonly title: string };
}

const longestHeading = 200;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const hashes = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$/;
const underline = /^ {0,3}(=+|-{2,})[ \t]*$/;

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length;) {
    const found = /\r\n?|\n/g;
    found.lastIndex = start;
    const ending = found.exec(text);
    const end = ending ? ending.index + ending[0].length : text.length;
    lines.push({ start, end, text: text.slice(start, ending?.index ?? text.length) });
    start = end;
  }
  return lines;
}

/** Paragraphs and headings in order. Fenced code is one paragraph, including its blank lines. */
function blocksOf(text: string): readonly Block[] {
  const lines = linesOf(text);
  const blocks: Block[] = [];
  let open: { start: number; end: number } | null = null;
  let closes: RegExp | null = null;
  const flush = (): void => {
    if (open) blocks.push(open);
    open = null;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const { start, end, text: line } = lines[at]!;
    const marker: string | undefined = fence.exec(line)?.[1];
    const title = closes || marker ? null : hashes.exec(line);
    const under = closes || marker || open || line.trim() === '' ? null : underline.exec(lines[at + 1]?.text ?? '');
    if (title) {
      flush();
      blocks.push({ start, end, heading: { level: title[1]!.length, title: title[2] ?? '' } });
    } else if (under) {
      at += 1;
      blocks.push({ start, end: lines[at]!.end, heading: { level: under[1]!.startsWith('=') ? 1 : 2, title: line } });
    } else if (line.trim() === '' && !closes) {
      flush();
    } else {
      if (closes?.test(line)) closes = null;
      else if (marker && !closes) closes = new RegExp(`^ {0,3}${marker[0]}{${marker.length},}[ \\t]*$`);
      open = { start: (open as TextSpan | null)?.start ?? start, end };
    }
  }
  flush();
  return blocks;
}

/**
 * Sections of Markdown; plain text is one section. Headings are lines with `#` and lines underlined with `=` or `-`, except inside fenced
 * code. Every non-blank character is in exactly one paragraph. A heading without text belongs to the section of the next heading.
 */
export function sectionsOf(text: string): readonly Section[] {
  const sections: Section[] = [];
  const path: (string | undefined)[] = [];
  let paragraphs: TextSpan[] = [];
  let hasText = false;
  const flush = (): void => {
    if (paragraphs.length > 0) sections.push({ headings: path.filter((heading) => heading !== undefined), paragraphs });
    paragraphs = [];
    hasText = false;
  };
  for (const { start, end, heading } of blocksOf(text)) {
    if (heading) {
      if (hasText) flush();
      path.length = heading.level;
      path[heading.level - 1] = shortened(heading.title.trim());
    } else {
      hasText = true;
    }
    paragraphs.push({ start, end });
  }
  flush();
  return sections;
}

const shortened = (heading: string): string | undefined =>
  heading === '' ? undefined : heading.slice(0, longestHeading).replace(/[\ud800-\udbff]$/, '');
