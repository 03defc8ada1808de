/** Characters that models put around a marker or its value. */
const isDecoration = (char: string): boolean => /[\s*_]/.test(char);
/** Decoration, or the start of a list item or heading. */
export const isLead = (char: string): boolean => /[\s>*_#-]/.test(char);

/** Trims decoration at both ends. Not a regular expression, which would backtrack on long runs of stars. */
export function undecorated(text: string, atStart: (char: string) => boolean = isDecoration): string {
  let from = 0;
  let to = text.length;
  while (from < to && atStart(text[from]!)) from += 1;
  while (to > from && isDecoration(text[to - 1]!)) to -= 1;
  return text.slice(from, to);
}

/** `NAME: value` of a line, ignoring Markdown around it; undefined if the line begins with none of the names. */
export function markedLine(line: string, names: readonly string[]): { readonly name: string; readonly value: string } | undefined {
  const text = undecorated(line, isLead);
  const upper = text.slice(0, 40).toUpperCase().replaceAll(' ', '_');
  const name = names.find((candidate) => upper.startsWith(candidate));
  if (name === undefined) return undefined;
  const rest = undecorated(text.slice(name.length));
  return /^[:：=]/u.test(rest) ? { name, value: undecorated(rest.slice(1)) } : undefined;
}
