/** Words of a text in small letters, without accents, punctuation and English articles. */
const wordsOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '' && word !== 'the' && word !== 'a' && word !== 'an')
    .join(' ');

/** Whether the answer contains one of the accepted answers as whole words. Its list of sources does not count. */
export function isRight(answer: string | null, accepted: readonly string[]): boolean {
  if (answer === null) return false;
  const said = ` ${wordsOf(answer.replace(/\n+Sources:\n[\s\S]*$/, ''))} `;
  return accepted.some((one) => wordsOf(one) !== '' && said.includes(` ${wordsOf(one)} `));
}

/** Whether every one of these titles was found; a file name counts as its title. */
export function areFound(titles: readonly string[], found: readonly string[]): boolean {
  const known = new Set(found.map(titleWords));
  return titles.every((title) => known.has(titleWords(title)));
}

const titleWords = (title: string): string => wordsOf(title.replace(/^.*[\\/]/, '').replace(/\.(md|txt|html?|pdf|docx)$/i, ''));
