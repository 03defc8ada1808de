/** Separates the headings of a path, outermost first. */
const between = ' / ';

/** A stored chunk without the line of headings that was put before it; its own headings keep their marks. */
export function withoutPath(text: string, section: string): string {
  const [first] = text.split('\n', 1) as [string];
  const rest = text.slice(first.length + 1);
  return first !== text && isOf(first, section) && !underline.test(rest) ? rest : text;
}

const underline = /^ {0,3}(?:=+|-{2,})[ \t]*(?:[\r\n]|$)/;

/** Whether a line consists of headings of the path. */
function isOf(line: string, section: string): boolean {
  const headings = new Set(section.split(between));
  return line.split(between).every((one) => headings.has(one));
}

/** A heading as Markdown writes it, with `#` before it or underlined, and the blank lines after it. */
const heading = /^ {0,3}(?:#{1,6}[ \t]([^\r\n]*)|(\S[^\r\n]*)(?:\r\n?|\n) {0,3}(?:=+|-{2,})[ \t]*)(?:$|(?:\r\n?|\n)(?:[ \t]*[\r\n])*)/;
const closingMarks = /(?<![ \t#])[ \t#]+$/;
/** The words of a heading that was found, without its marks. */
const titleOf = ([, marked, underlined]: RegExpExecArray): string => (marked?.replace(closingMarks, '') ?? underlined!).trim();
const endsSentence = /[.!?…:;。！？：；]$/u;

/**
 * Text of a stored chunk with its headings separated: without the title, which is always shown beside it, and with the headings below the title
 * before a colon. Prompts show a passage on one line, where "# Ada Quist" before "Ada Quist was ..." would read as one name, and a search
 * for that name would find the same document again. A chunk that begins with other headings is unchanged.
 */
export function passageText({
  text,
  title,
  section,
}: {
  readonly text: string;
  readonly title: string;
  /** Headings above it, outermost first. */
  readonly section: string;
}): string {
  let body = withoutPath(text, section);
  let found = heading.exec(body);
  while (found && isOf(titleOf(found), section)) {
    body = body.slice(found[0].length);
    found = heading.exec(body);
  }
  if (found || body.trim() === '') return text;
  const path = section === title ? '' : section.startsWith(title + between) ? section.slice(title.length + between.length) : section;
  const below = path.trim();
  return below === '' ? body : `${below}${endsSentence.test(below) ? '' : ':'}\n${body}`;
}
