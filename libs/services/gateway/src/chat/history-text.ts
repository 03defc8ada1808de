/** Tags around the previous turn's thinking, which clients leave in the assistant messages they send back. */
const pairs: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reasoning>', '</reasoning>'],
  ['<details type="reasoning"', '</details>'],
];

/**
 * An earlier answer without its thinking blocks. An unclosed block at the very start extends to the end of the text (the answer was
 * cut there). Linear in the length for any text.
 */
export function withoutThinking(text: string): string {
  return pairs.reduce((rest, [open, close]) => withoutPair(rest, open, close), text).trim();
}

function withoutPair(text: string, open: string, close: string): string {
  // Only ASCII: other letters may change length (`İ` becomes two), which would shift positions.
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let kept = '';
  let from = 0;
  for (;;) {
    const start = lower.indexOf(open, from);
    if (start < 0) return kept + text.slice(from);
    const end = lower.indexOf(close, start + open.length);
    if (end < 0) return text.slice(0, start).trim() === '' ? '' : kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + close.length;
  }
}
