import { digits, type Spread } from './statistics.js';

/** A target from docs/benchmarks.md. */
export interface Target {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One figure with its target and the reference it was measured against. */
export interface Finding {
  readonly what: string;
  readonly reference: string;
  /** The figure to judge. Its spread is over rounds, unless `resampled`. */
  readonly value: Spread;
  /** A tail figure of all samples; its quartiles come from resampling. */
  readonly resampled?: boolean;
  /** `x` for a ratio, `ms` for a time. */
  readonly unit: 'x' | 'ms';
  /** If the target is a time: the same comparison as a ratio of the rounds' figures. */
  readonly ratio?: Spread;
  /** Null: for information only. */
  readonly target: Target | null;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | Spread)[])[];
}

export interface Report {
  /** Sentences on what was measured, so that the figures can be judged. */
  readonly definition: readonly string[];
  readonly tables: readonly Table[];
  readonly findings: readonly Finding[];
  /** Caveats, and what is missing. */
  readonly notes: readonly string[];
}

/** Whether the unrounded median meets the target; null without a target. */
export const isMet = ({ value, target }: Finding): boolean | null =>
  target === null
    ? null
    : (target.atMost === undefined || value.median <= target.atMost) && (target.atLeast === undefined || value.median >= target.atLeast);

/** Why a judged report fails, in sentences: each missed target, or that nothing had a target. */
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

/** The report as text. Medians come with their quartiles: `12.30 [11.90 to 13.00, n=7]`. */
export const printReport = ({ definition, tables, findings, notes }: Report): string =>
  [
    ...definition.map((sentence) => `  ${sentence}`),
    ...tables.flatMap((table) => ['', ...linesOf(table)]),
    '',
    'Findings: median [quartiles, n rounds]; a tail figure of all samples: value [quartiles of 200 resamples, n samples]',
    ...findings.map(lineOf),
    ...notes.flatMap((note) => ['', `Note: ${note}`]),
  ].join('\n');
