import { stringify } from 'yaml';
import { alerts, asWritten, recorded, type Duration } from './alerts.js';

const runbooks = 'docs/guides/runbooks.md';

/** Anchor of the runbook of an alert. */
export const anchorOf = (alert: string): string => alert.toLowerCase();

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 });
const printed = '# Printed by `npm run docs` from deploy/src/monitoring/alerts.ts.\n';

/**
 * The rule file of Prometheus. `t` writes every duration, so that a test can shorten them all; `interval` is how often rules are evaluated,
 * the default of Prometheus if absent.
 */
export function rulesFile(t: Duration = asWritten, interval?: string): string {
  const rules = alerts.map((alert) => ({
    alert: alert.name,
    expr: alert.expr(t),
    ...(alert.for > 0 ? { for: t(alert.for) } : {}),
    labels: { severity: alert.severity },
    annotations: { summary: alert.summary, description: alert.description, runbook_url: `${runbooks}#${anchorOf(alert.name)}` },
  }));
  const groups = [
    { name: 'conclave-shared', ...(interval ? { interval } : {}), rules: recorded(t) },
    { name: 'conclave', ...(interval ? { interval } : {}), rules },
  ];
  return `${printed}${yaml({ groups })}`;
}

/** Unit tests of the rules for promtool: each alert with series that make it fire, and with series that do not. */
export function ruleTests(rules: string): string {
  const test = (name: string, series: Readonly<Record<string, string>>, expected: ReturnType<typeof firing>) => ({
    interval: '1m',
    name,
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [expected],
  });
  const tests = alerts.flatMap((alert) => {
    const { name, severity } = alert;
    return [
      test(`${name} fires`, alert.fires, firing(name, { severity, ...alert.with }, 1)),
      test(`${name} stays quiet`, alert.quiet, firing(name, {}, 0)),
    ];
  });
  return `${printed}${yaml({ rule_files: [rules], evaluation_interval: '1m', tests })}`;
}

/** Twenty minutes after the beginning this alert fires this many times. Annotations are written for people and not compared. */
function firing(name: string, labels: Readonly<Record<string, string>>, times: 0 | 1) {
  const chosen = { alertname: name, alertstate: 'firing', ...labels };
  const matchers = Object.entries(chosen).map(([label, value]) => `${label}="${value}"`);
  return {
    expr: `ALERTS{${matchers.join(',')}}`,
    eval_time: '20m',
    exp_samples: times === 0 ? [] : [{ labels: `ALERTS{${matchers.join(', ')}}`, value: 1 }],
  };
}
