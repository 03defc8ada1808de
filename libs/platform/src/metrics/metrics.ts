import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  metricList,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  type MetricName,
  type MetricSpec,
} from './list.js';

/** The metrics of one process. Only names and labels of the list compile. */
export interface Metrics {
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void;
  set<N extends GaugeName>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Adds to a gauge; for things that open and close. */
  add<N extends GaugeName>(name: N, labels: LabelsOf<N>, by: number): void;
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Called before each exposition, for values that are read on demand; if it throws, its values are left out. */
  onCollect(collect: () => Promise<void> | void): void;
  /** Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Metrics that promtool rejects: their names are those of counters, but they are gauges. */
const refused = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Values of a label that one process exports; further ones are counted together. Some names of models come from clients. */
const mostValues = 200;
const longestValue = 120;
/** Replaces the values of a label beyond its limit. */
const restOfValues = '_rest';

/** Keeps labels bounded: a value beyond the bound of its label, or a very long one, becomes `_rest`. */
function bounds(): (labels: Readonly<Record<string, string>>) => Record<string, string> {
  const known = new Map<string, Set<string>>();
  return (labels) => {
    const bounded: Record<string, string> = {};
    for (const [label, value] of Object.entries(labels)) {
      let values = known.get(label);
      if (!values) known.set(label, (values = new Set()));
      if (values.has(value)) bounded[label] = value;
      else if (values.size >= mostValues || value.length > longestValue) bounded[label] = restOfValues;
      else bounded[label] = (values.add(value), value);
    }
    return bounded;
  };
}

/** With `runtime`, also includes the metrics of Node itself, which observe the process for its whole life: use it once per process. */
export function openMetrics(options: { readonly runtime?: boolean } = {}): Metrics {
  const registry = new Registry();
  const counters = new Map<MetricName, Counter>();
  const gauges = new Map<MetricName, Gauge>();
  const histograms = new Map<MetricName, Histogram>();
  for (const [key, spec] of Object.entries<MetricSpec>(metricList)) {
    const name = key as MetricName;
    const base = { name: `conclave_${name}`, help: `${spec.help} (${spec.unit})`, labelNames: [...spec.labels], registers: [registry] };
    if (spec.kind === 'counter') counters.set(name, new Counter(base));
    else if (spec.kind === 'gauge') gauges.set(name, new Gauge(base));
    else histograms.set(name, new Histogram({ ...base, buckets: [...(spec.buckets ?? [])] }));
  }
  if (options.runtime) {
    collectDefaultMetrics({ register: registry });
    for (const name of refused) registry.removeSingleMetric(name);
  }
  const within = bounds();
  const collectors: (() => Promise<void> | void)[] = [];
  return {
    count: (name, labels, by = 1) => counters.get(name)!.inc(within(labels), by),
    set: (name, labels, value) => gauges.get(name)!.set(within(labels), value),
    add: (name, labels, by) => gauges.get(name)!.inc(within(labels), by),
    observe: (name, labels, value) => histograms.get(name)!.observe(within(labels), value),
    onCollect: (collect) => void collectors.push(collect),
    text: async () => {
      await Promise.allSettled(collectors.map(async (collect) => collect()));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
