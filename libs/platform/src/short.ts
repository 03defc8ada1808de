/** One line of at most `length` characters, without terminal control characters. */
export const short = (text: string, length: number): string => {
  const line = text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};
