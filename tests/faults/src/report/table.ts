import { findingsText } from '../checker/print.js';
import type { ScenarioOutcome } from '../judge-control.js';
import { absent, points, services } from '../scenarios/kill-matrix.js';

const head = ['scenario', 'mode', 'outcome', 'recovery', 'runs', 'duplicate calls', 'tokens wasted', 'took'] as const;

/** The table for people: one line for each scenario, then those of its rows, and the cells that a kill matrix leaves out. */
export function tableOf(outcomes: readonly ScenarioOutcome[]): string {
  const lines = outcomes.flatMap((outcome) => [
    [
      outcome.scenario + (outcome.without ? ` without ${outcome.without}` : ''),
      outcome.mode,
      outcome.summary.slice(0, 110),
      outcome.recoveryMs === null ? '-' : `${(outcome.recoveryMs / 1000).toFixed(1)} s`,
      outcome.figures ? `${outcome.figures.answered}/${outcome.figures.accepted}` : '-',
      outcome.figures ? String(outcome.figures.duplicateCalls) : '-',
      outcome.figures ? String(outcome.figures.tokensWasted) : '-',
      `${outcome.seconds.toFixed(0)} s`,
    ],
    ...outcome.rows.map(({ name, outcome: became, recoveryMs, runs }) => {
      const mine = outcome.findings.filter(({ id }) => runs.some((runId) => id.startsWith(runId)));
      return [
        `  ${name}`,
        '',
        mine.length > 0 ? `RED: ${[...new Set(mine.map((one) => one.check))].join(', ')}` : became,
        recoveryMs === null ? '-' : `${(recoveryMs / 1000).toFixed(1)} s`,
        String(runs.length),
        '',
        '',
        '',
      ];
    }),
  ]);
  const all = [[...head], ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const text = all.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return [...text, ...(outcomes.some(({ scenario }) => scenario.startsWith('kill-matrix')) ? ['', notThere()] : [])].join('\n');
}

/** Everything about a scenario that is red, for people who have only the output: the verdict, what became of each part, the findings. */
export function redOf({ scenario, mode, without, summary, error, findings, rows, figures }: ScenarioOutcome): string {
  const lines = [
    `${scenario} ${mode}${without ? ` without ${without}` : ''}`,
    summary,
    ...(error === null || summary.includes(error) ? [] : [error]),
    ...(figures ? [`${figures.answered} of ${figures.accepted} runs answered`] : []),
    ...rows.map(({ name, outcome, recoveryMs, runs }) => `${name}: ${outcome}, ${recoveryMs ?? 'no'} ms to recover, ${runs.join(' ')}`),
    findingsText(findings),
  ];
  return `${lines.join('\n')}\n`.replace(/^(?=.)/gm, '  ');
}

/** Cells of the kill matrix that do not exist, each with the reason. */
function notThere(): string {
  const rows = services.flatMap((service) =>
    points.flatMap((point) => (absent[service]?.[point] ? [`  ${service}:${point}  n/a: ${absent[service][point]}`] : [])),
  );
  return ['cells that do not exist', ...rows].join('\n');
}
