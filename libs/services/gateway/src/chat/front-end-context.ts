const listOpen = '<attached_files>';
const listClose = '</attached_files>';

/** What was typed, and before it the list of attached files of Open WebUI, with their number; null without such a list or words behind it. */
export function listedFiles(text: string): { readonly words: string; readonly list: string; readonly files: number } | null {
  const from = text.trimStart();
  // The name of a file may contain the end, too: the last one counts.
  const end = from.startsWith(listOpen) ? from.lastIndexOf(listClose) : -1;
  const words = end < 0 ? '' : from.slice(end + listClose.length).trim();
  if (words === '') return null;
  const list = from.slice(0, end + listClose.length);
  return { words, list, files: list.split('<file ').length - 1 };
}

/** A pair of comments around what the front end adds to the words of its user: `<!-- X … -->` and `<!-- END X -->`. */
const contextOpen = /<!-- ((?:[A-Z]+ )?CONTEXT)\b[^<>\n]{0,100}-->/u;

/** What was typed, and what the front end added to it in a pair of comments; null without such a pair or words beside it. */
export function addedContext(text: string): { readonly words: string; readonly added: string } | null {
  const found = contextOpen.exec(text);
  const close = `<!-- END ${found?.[1] ?? ''} -->`;
  // A file may contain the end, too: the last one counts.
  const end = found ? text.lastIndexOf(close) : -1;
  if (found === null || end < found.index) return null;
  const words = `${text.slice(0, found.index)}${text.slice(end + close.length)}`.trim();
  return words === '' ? null : { words, added: text.slice(found.index + found[0].length, end).trim() };
}
