import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { metricList } from '@conclave/platform';
import { alerts, anchorOf, asWritten, dashboards, printMonitoring } from './index.js';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const panels = dashboards.flatMap(({ rows }) => rows.flatMap((row) => row.panels));
const list: Readonly<Record<string, unknown>> = metricList;

/** Names of our metrics in an expression that are not in the list. */
const unknown = (expr: string): readonly string[] =>
  [...expr.matchAll(/\bconclave_(\w+)/g)]
    .map(([, name]) => name!)
    .filter((name) => !list[name] && !list[name.replace(/_(bucket|sum|count)$/, '')]);

describe('the dashboards', () => {
  it('are six, and every panel says in plain words what it shows and when to worry', () => {
    expect(dashboards.map(({ name }) => name)).toEqual([
      'overview',
      'runs-and-loop',
      'experts-and-models',
      'knowledge-and-caches',
      'log-and-workers',
      'cost',
    ]);
    for (const { title, description, queries } of panels) {
      expect([title, description.length > 40, description.endsWith('.'), queries.length > 0]).toEqual([title, true, true, true]);
      expect([title, /worry/i.test(description)]).toEqual([title, true]);
    }
  });

  it('and the alerts query only metrics of the list', () => {
    const exprs = [...panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)), ...alerts.map(({ expr }) => expr(asWritten))];
    expect(exprs.flatMap(unknown)).toEqual([]);
    expect(unknown('sum(conclave_no_such_total)')).toEqual(['no_such_total']);
  });

  it('show every metric of the list', () => {
    const shown = JSON.stringify(dashboards);
    const missing = Object.keys(metricList).filter((name) => !shown.includes(`conclave_${name}`));
    expect(missing).toEqual([]);
  });

  it('are JSON that Grafana can import: unique ids, and each query with its data source', () => {
    for (const [file, text] of Object.entries(printMonitoring()).filter(([name]) => name.endsWith('.json'))) {
      const { uid, panels: found } = JSON.parse(text) as { uid: string; panels: { id: number; type: string; targets?: object[] }[] };
      expect(uid).toBe(`conclave-${path.basename(file, '.json')}`);
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
      for (const { type, targets } of found)
        if (type !== 'row') for (const target of targets!) expect(target).toMatchObject({ datasource: { uid: '${source}' } });
    }
  });
});

describe('the runbooks', () => {
  const page = read('docs/guides/runbooks.md');
  const sections = page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split('\n')[0]!, section] as const);

  it('have one section for every alert, and no others', () => {
    expect(sections.map(([name]) => name)).toEqual(alerts.map(({ name }) => name));
    for (const { name } of alerts)
      expect(printMonitoring()['deploy/prometheus/rules/conclave.yml']).toContain(`docs/guides/runbooks.md#${anchorOf(name)}`);
  });

  it('state for each alert the cause, what people see and what to do', () => {
    for (const [name, section] of sections)
      expect([name, ['**Cause.**', '**What people see.**', '**What to do.**'].every((part) => section.includes(part))]).toEqual([
        name,
        true,
      ]);
  });
});

describe('docker-compose.yml', () => {
  const compose = read('docker-compose.yml');

  it('provides the printed files to Prometheus and Grafana, and a distinct job name for every service', () => {
    for (const folder of ['./deploy/prometheus', './deploy/grafana/dashboards', './deploy/grafana/provisioning']) {
      expect(compose).toContain(folder);
      expect(existsSync(path.join(root, folder))).toBe(true);
    }
    const jobs = [...read('deploy/prometheus/prometheus.yml').matchAll(/job_name: (\S+)/g)].map(([, job]) => job);
    expect(jobs).toEqual(['gateway', 'planner', 'experts', 'merger', 'graph-ingest']);
  });
});
