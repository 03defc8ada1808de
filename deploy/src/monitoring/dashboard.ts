import type { Query } from './queries.js';

/** Unit as Grafana names it. */
export type Unit = 's' | 'short' | 'percentunit' | 'reqps' | 'cpm' | 'bytes' | 'none' | 'bool_on_off' | 'currencyUnits' | 'cps';

/** The values from which a panel is orange or red. */
export interface Worry {
  readonly orange?: number;
  readonly red?: number;
}

export interface Panel {
  readonly title: string;
  /** States what the panel shows and when to worry, in plain words. */
  readonly description: string;
  readonly kind: 'stat' | 'timeseries' | 'table';
  readonly unit: Unit;
  readonly queries: readonly Query[];
  readonly worry?: Worry;
  /** Columns of 24; default 8, a stat 4. */
  readonly width?: number;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** File name and end of its address. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly Row[];
}

/** The Prometheus that the reader selected. */
const source = { type: 'prometheus', uid: '${source}' } as const;
const heights = { stat: 4, timeseries: 8, table: 8 } as const;

const variable = (name: string, label: string, metric: string, of: string) => ({
  type: 'query',
  name,
  label,
  datasource: source,
  query: { query: `label_values(${metric}, ${of})`, refId: name },
  definition: `label_values(${metric}, ${of})`,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: ['All'], value: ['$__all'] },
});

const thresholds = ({ orange, red }: Worry = {}) => ({
  mode: 'absolute',
  steps: [
    { color: 'green', value: null },
    ...(orange === undefined ? [] : [{ color: 'orange', value: orange }]),
    ...(red === undefined ? [] : [{ color: 'red', value: red }]),
  ],
});

function panelJson(panel: Panel, id: number, at: { readonly x: number; readonly y: number; readonly w: number }) {
  const { title, description, kind, unit, queries, worry } = panel;
  const lines = kind === 'timeseries';
  return {
    id,
    type: kind,
    title,
    description,
    datasource: source,
    gridPos: { ...at, h: heights[kind] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr,
      legendFormat: legend,
      ...(lines ? { range: true } : { instant: true, range: false }),
      ...(kind === 'table' ? { format: 'table' } : {}),
    })),
    fieldConfig: {
      defaults: {
        unit: unit === 'currencyUnits' ? 'short' : unit,
        ...(unit === 'currencyUnits' ? { decimals: 4 } : {}),
        min: 0,
        thresholds: thresholds(worry),
        color: { mode: lines ? 'palette-classic' : 'thresholds' },
        ...(lines
          ? {
              custom: {
                drawStyle: 'line',
                lineWidth: 1,
                fillOpacity: 10,
                showPoints: 'never',
                spanNulls: true,
                thresholdsStyle: { mode: worry ? 'dashed' : 'off' },
              },
            }
          : {}),
      },
      overrides: [],
    },
    options: lines
      ? { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'desc' } }
      : kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value', graphMode: 'area', textMode: 'auto' }
        : { showHeader: true },
  };
}

/** The JSON that Grafana imports or provisions. */
export function dashboardJson({ name, title, description, rows }: Dashboard): string {
  const panels: object[] = [];
  let id = 0;
  let y = 0;
  for (const row of rows) {
    panels.push({ id: (id += 1), type: 'row', title: row.title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      const w = panel.width ?? (panel.kind === 'stat' ? 4 : 8);
      if (x + w > 24) {
        [x, y] = [0, y + height];
        height = 0;
      }
      panels.push(panelJson(panel, (id += 1), { x, y, w }));
      height = Math.max(height, heights[panel.kind]);
      x += w;
    }
    y += height;
  }
  const dashboard = {
    uid: `conclave-${name}`,
    title,
    description,
    tags: ['conclave'],
    editable: true,
    schemaVersion: 39,
    version: 1,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { type: 'datasource', name: 'source', label: 'Prometheus', query: 'prometheus', current: {}, hide: 0 },
        variable('service', 'Service', 'conclave_build_info', 'job'),
        variable('template', 'Template', 'conclave_runs_accepted_total', 'template'),
      ],
    },
    links: [{ type: 'dashboards', title: 'Conclave', tags: ['conclave'], asDropdown: true, includeVars: true, keepTime: true }],
    annotations: {
      list: [
        {
          name: 'Starts of processes',
          datasource: source,
          enable: true,
          iconColor: 'blue',
          expr: 'changes(process_start_time_seconds{job=~"$service"}[1m]) > 0',
          titleFormat: '{{job}} started',
        },
      ],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
