/** The address of `[name]`, or the text of a footnote `[^1]`: the whole text may refer to it. */
const definition = /^ {0,3}\[[^\]\n]{1,200}\]:\s*\S/;

/**
 * Blocks of a growing Markdown text, split at blank lines outside fences, so that only the last block is parsed again with each chunk. A text
 * that defines addresses or footnotes is one block.
 */
export function markdownBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence: string | null = null;
  const close = (): void => {
    if (block.some((line) => line.trim() !== '')) blocks.push(block.join('\n'));
    block = [];
  };
  for (const line of text.split('\n')) {
    const wasOutside = fence === null;
    if (wasOutside && definition.test(line)) return [text];
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && mark) fence = mark;
    else if (fence !== null && mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = null;
    const isBlank = line.trim() === '';
    if (wasOutside && !isBlank && block.at(-1)?.trim() === '' && !continues(block, line)) close();
    block.push(line);
  }
  close();
  return blocks;
}

const listMark = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;

/** Whether a line after a blank one belongs to the block: an indented line, or another item of a list. */
function continues(block: readonly string[], line: string): boolean {
  const isList = block.some((one) => listMark.test(one)) && listMark.test(block.find((one) => one.trim() !== '') ?? '');
  return isList && (/^\s{2,}/.test(line) || listMark.test(line));
}

/** The answer without what the page shows beside it: the list of sources, and a paragraph that only says why the run ended. */
export function shownAnswer(answer: string, reason: string | null): string {
  const text = withoutSourceList(answer);
  if (reason === null || reason === '' || !text.includes(reason)) return text;
  return text
    .split('\n\n')
    .filter((paragraph) => !paragraph.endsWith(reason) || !/^[^\n:：]{0,40}[:：]?\s*$/.test(paragraph.slice(0, -reason.length)))
    .join('\n\n');
}

/**
 * The answer without the list of sources that stands in it for clients without their own: a short heading, in any language, and lines that
 * begin with a number in brackets.
 */
export const withoutSourceList = (text: string): string =>
  text.replace(/\n+[^\n[\]]{1,30}[:：]\n(?:\[\d+\][^\n]*(?:\n|$))+/, '\n').trimEnd();
