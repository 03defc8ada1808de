/** 0 to 1 as `12.3 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Lines of a table: the first column to the left, figures to the right. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const cells = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}
