import { dashboards, type Dashboard } from '@conclave/test-support/monitoring';
import { nowS, type Prometheus } from './prometheus.js';

/** An expression as Grafana sends it, with every service and template selected. */
const filledIn = (expr: string, windowS: number): string =>
  expr.replaceAll('$__rate_interval', `${windowS}s`).replaceAll('$service', '.*').replaceAll('$template', '.*');

/** Results of the queries of all panels since a given time. */
export interface Shown {
  readonly queries: number;
  /** Queries without any value, and those that Prometheus refused; one line each. */
  readonly empty: readonly string[];
  /** Titles of panels that had values, each of them 0. */
  readonly zero: readonly string[];
}

/** Runs every query of every panel, from a time in seconds since 1970 until now. */
export async function shownSince(prometheus: Prometheus, from: number, all: readonly Dashboard[] = dashboards): Promise<Shown> {
  const windowS = 6 * prometheus.scrapeS;
  const panels = all.flatMap(({ title, rows }) => rows.flatMap((row) => row.panels.map((panel) => ({ dashboard: title, panel }))));
  const empty: string[] = [];
  const zero: string[] = [];
  let count = 0;
  for (const { dashboard, panel } of panels) {
    const values: number[] = [];
    for (const { expr } of panel.queries) {
      count += 1;
      const asked = filledIn(expr, windowS);
      const said = await prometheus.range(asked, from, nowS()).catch((error: Error) => error.message);
      if (typeof said === 'string') empty.push(`${dashboard} / ${panel.title}: ${said}`);
      else if (said.every((series) => series.values.length === 0)) empty.push(`${dashboard} / ${panel.title}: no data for ${asked}`);
      else values.push(...said.flatMap((series) => series.values));
    }
    if (values.length > 0 && values.every((value) => value === 0)) zero.push(panel.title);
  }
  return { queries: count, empty, zero };
}

/** Panels that stay at 0 under a load without these mishaps. Every other panel must show that something happened. */
export const mayStayZero: ReadonlySet<string> = new Set([
  'Errors without a type',
  'Processes that do not answer',
  'Alerts that fire',
  'Runs refused',
  'Runs without an assessment',
  'Parked runs',
  // A gateway refuses what a run cannot accept, before it becomes a command.
  'Commands without effect',
  'Openings by capability',
  'Calls made again',
  'Values too large',
  'Failed operations',
  'Rerankers',
  'Consumption has stopped',
  'Paused partitions',
  'Timers dropped',
  'Oldest waiting task',
  'Webhooks',
  'Share of reasoning',
  'Restarts',
  'Dead letters',
  'Records in memory',
  'Records not finished',
]);
