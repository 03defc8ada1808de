/** A line between rows. */
export const isBorder = (row: string): boolean => /^[\s|+:=-]+$/.test(row) && /[-=]/.test(row);
const isNumber = (cell: string): boolean => /\d/.test(cell) && /^[-+(]?[\d.,\s]+[)%€$£]?$/.test(cell);

/** Whether a line is a row of a table that is written with vertical bars, as Markdown, reStructuredText and the reader of documents do. */
export const isRow = (line: string): boolean => /^\s*\|/.test(line) || line.includes(' | ') || /^\s*\+(?:[-=]+\+)+\s*$/.test(line);

/** The head of a table with vertical bars, by its first rows; empty if it seems to have none. */
export function headOf(rows: readonly string[]): string {
  const at = rows.findIndex((row) => !isBorder(row));
  const head = rows[at]?.trim() ?? '';
  const isUnderlined = isBorder(rows[at + 1] ?? '');
  return namesColumns(head.replace(/^\||\|$/g, '').split('|'), isUnderlined) ? head : '';
}

/** The head of a text whose rows are separated values, by its first row; empty if it has none. */
export function headOfValues(row: string): string {
  const [separator] = ['\t', ';', ',', '|'].map((sign) => [sign, row.split(sign).length] as const).sort(([, a], [, b]) => b - a)[0]!;
  return namesColumns(row.split(separator), false) ? row : '';
}

/** Numbers are values: a row that has one names columns only if it is marked as the head. */
const namesColumns = (cells: readonly string[], isMarked: boolean): boolean =>
  cells.length > 1 &&
  (isMarked || !cells.some((cell) => isNumber(cell.trim().replace(/^"(.*)"$/, '$1')))) &&
  cells.some((cell) => cell.trim() !== '');
