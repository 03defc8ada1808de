/** Long texts are read at both ends: people put the task before or after pasted text. */
const readAtStart = 2_000;
const readAtEnd = 1_000;

/** The part of a text that is read: both ends of a long text, a short one whole. */
export const bothEnds = (text: string): string =>
  text.length <= readAtStart + readAtEnd ? text : `${text.slice(0, readAtStart)}\n${text.slice(-readAtEnd)}`;
