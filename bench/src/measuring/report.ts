import { digits, type Spread } from './statistics.js';

/** What benchmarks.md asks for. */
export interface Target {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One figure that a target stands beside, always with the reference it was measured against. */
export interface Finding {
  readonly what: string;
  readonly reference: string;
  /** The figure the target is about. Its spread is over rounds, unless `resampled`. */
  readonly value: Spread;
  /** A tail figure of all samples; its quartiles come from drawing the samples again. */
  readonly resampled?: boolean;
  /** `x` for a ratio, `ms` for a time. */
  readonly unit: 'x' | 'ms';
  /** The same comparison as a ratio of the rounds' figures, where the target is a time. */
  readonly ratio?: Spread;
  /** Null: shown for orientation, nothing is asked of it. */
  readonly target: Target | null;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | Spread)[])[];
}

export interface Report {
  /** Sentences that say what was done, so that the figures can be judged. */
  readonly definition: readonly string[];
  readonly tables: readonly Table[];
  readonly findings: readonly Finding[];
  /** What is missing or to be kept in mind. */
  readonly notes: readonly string[];
}

/** Judged on the unrounded median. */
export const isMet = ({ value, target }: Finding): boolean | null =>
  target === null
    ? null
    : (target.atMost === undefined || value.median <= target.atMost) && (target.atLeast === undefined || value.median >= target.atLeast);

/** What keeps a report from being a success where it is judged, in sentences: each target that is missed, or that there was none to judge. */
export function misses({ findings }: Pick<Report, 'findings'>): readonly string[] {
  if (findings.every(({ target }) => target === null)) return ['nothing was measured that has a target'];
  return findings
    .filter((finding) => isMet(finding) === false)
    .map(
      ({ what, reference, value, unit, target }) =>
        `${what}, against ${reference}: ${measure(value.median, unit)}, target ${bound(target!, unit)}`,
    );
}

const measure = (value: number, unit: Finding['unit']): string => `${digits(value)}${unit === 'x' ? 'x' : ` ${unit}`}`;

const withSpread = ({ median, q1, q3, n }: Spread, unit = '', of = ''): string => {
  const suffix = unit === 'x' ? 'x' : unit && ` ${unit}`;
  return `${digits(median)}${suffix} [${digits(q1)} to ${digits(q3)}, n=${n}${of}]`;
};

const bound = ({ atMost, atLeast }: Target, unit: string): string =>
  [...(atLeast === undefined ? [] : [`>= ${atLeast}`]), ...(atMost === undefined ? [] : [`<= ${atMost}`])]
    .map((text) => `${text} ${unit}`)
    .join(', ');

function lineOf(finding: Finding): string {
  const { what, reference, value, unit, ratio, target, resampled } = finding;
  const of = resampled ? ' samples' : '';
  const measured =
    unit === 'x' ? `RATIO ${withSpread(value, 'x')}` : `${withSpread(value, 'ms', of)}${ratio ? `, RATIO ${withSpread(ratio, 'x')}` : ''}`;
  const judged = target === null ? 'no target' : `target ${bound(target, unit)}: ${isMet(finding) ? 'met' : 'NOT MET'}`;
  return `  ${what}, against ${reference}:\n    ${measured}; ${judged}`;
}

function linesOf({ title, columns, rows }: Table): readonly string[] {
  const cells = [columns, ...rows.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : withSpread(cell))))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return [
    title,
    ...cells.map(
      (row) =>
        `  ${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}`,
    ),
  ];
}

/** The report as text. A median stands before its quartiles: `12.30 [11.90 to 13.00, n=7]`. */
export const printReport = ({ definition, tables, findings, notes }: Report): string =>
  [
    ...definition.map((sentence) => `  ${sentence}`),
    ...tables.flatMap((table) => ['', ...linesOf(table)]),
    '',
    'Findings: median [quartiles, n rounds]; a tail figure of all samples: value [quartiles of 200 resamples, n samples]',
    ...findings.map(lineOf),
    ...notes.flatMap((note) => ['', `Note: ${note}`]),
  ].join('\n');
