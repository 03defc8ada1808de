import type { RunCounts } from './count-runs.js';

interface CountLine {
  readonly count: keyof RunCounts;
  readonly text: string;
  readonly target: number | null;
  /** Printed counts are rounded up to a multiple of this, and may be exceeded by less than this: ids and times vary in length. */
  readonly step: number;
}

const lines: readonly CountLine[] = [
  { count: 'transactions', text: 'SQLite transactions', target: 14, step: 1 },
  { count: 'awaited', text: 'commits that are awaited', target: null, step: 1 },
  { count: 'statements', text: 'SQLite statements, including those that begin and end transactions', target: 200, step: 1 },
  { count: 'bytes', text: 'bytes of all values added to the tables', target: 100_000, step: 500 },
  { count: 'states', text: "times the store makes JSON of the run's state", target: null, step: 1 },
  { count: 'checks', text: 'events checked against their schemas', target: null, step: 1 },
];

/** The table of counts in docs/. */
export const countsPage = (counts: RunCounts): string => `# What a run costs, counted

An agentic run of B2 in embedded mode: plan, 4 experts, gap check, re-plan, 4 experts, gap check, answer; 13 model calls that answer
at once. Each count is the lowest of several runs, because a busy machine splits transactions. A test compares: a change that
makes a run cost more fails until this table is updated. Written by \`CONCLAVE_WRITE_COUNTS=1 npx jest bench/src/counts\`, compared
by \`npx jest bench/src/counts\`.

| A run of B2, embedded | Counted | Aimed at |
|---|---|---|
${lines.map(({ count, text, target, step }) => `| ${text} | ${Math.ceil(counts[count] / step) * step} | ${target ?? '–'} |`).join('\n')}
`;

/** One sentence per count above the page's value. Throws if the page lacks a count. */
export function above(page: string, counts: RunCounts): readonly string[] {
  return lines.flatMap(({ count, text, step }) => {
    const row = page.split('\n').find((line) => line.startsWith(`| ${text} |`));
    if (!row) throw new Error(`The page has no row "${text}".`);
    const recorded = Number(row.split('|')[2]);
    return counts[count] >= recorded + step ? [`${text}: ${counts[count]}, recorded ${recorded}`] : [];
  });
}
