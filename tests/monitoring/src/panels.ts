import { dashboards } from '@conclave/deploy/monitoring';
import { nowS, type Prometheus } from './prometheus.js';

/** An expression as Grafana sends it, with every service and template chosen. */
const filledIn = (expr: string, windowS: number): string =>
  expr.replaceAll('$__rate_interval', `${windowS}s`).replaceAll('$service', '.*').replaceAll('$template', '.*');

/** Number of queries of all panels. */
export const queryCount = dashboards.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries))).length;

/** Queries of panels that showed nothing since a time in seconds, one line each; what Prometheus refuses is among them. */
export async function emptyPanels(prometheus: Prometheus, from: number): Promise<readonly string[]> {
  const empty: string[] = [];
  const windowS = Math.max(60, 4 * prometheus.scrapeS) / (prometheus.scrapeS === 1 ? 6 : 1);
  for (const { title: dashboard, rows } of dashboards)
    for (const { panels } of rows)
      for (const { title, queries } of panels)
        for (const { expr } of queries) {
          const asked = filledIn(expr, windowS);
          const said = await prometheus.range(asked, from, nowS()).catch((error: Error) => error.message);
          if (typeof said === 'string') empty.push(`${dashboard} / ${title}: ${said}`);
          else if (!said.some(({ values }) => values.length > 0)) empty.push(`${dashboard} / ${title}: no data for ${asked}`);
        }
  return empty;
}
