import { isMet, type EvaluationReport, type Finding } from './evaluation.js';

/** 0 to 1 as `12.3 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Lines of a table: the first column aligned left, figures aligned right. */
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

const bound = ({ atLeast, atMost }: Finding['target']): string =>
  [...(atLeast === undefined ? [] : [`>= ${atLeast}`]), ...(atMost === undefined ? [] : [`<= ${atMost}`])].join(', ');
const digits = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(3));

export const printReport = ({ definition, sections, findings, notes }: EvaluationReport): string =>
  [
    ...definition.map((sentence) => `  ${sentence}`),
    ...sections.flatMap(({ title, lines }) => ['', title, ...lines.map((line) => `  ${line}`)]),
    ...(findings.length > 0 ? ['', 'Findings'] : []),
    ...findings.map(
      (finding) => `  ${finding.what}: ${digits(finding.value)}; target ${bound(finding.target)}: ${isMet(finding) ? 'met' : 'NOT MET'}`,
    ),
    ...notes.flatMap((note) => ['', `Note: ${note}`]),
  ].join('\n');
