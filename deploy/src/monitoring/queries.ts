import { metricList, type MetricName } from '@conclave/platform';

type LabelOf<N extends MetricName> = (typeof metricList)[N]['labels'][number] | 'job';
type NamesOf<K extends string> = { [N in MetricName]: (typeof metricList)[N]['kind'] extends K ? N : never }[MetricName];
export type Counter = NamesOf<'counter'>;
export type Gauge = NamesOf<'gauge'>;
export type Histogram = NamesOf<'histogram'>;

/** One line of a panel, in PromQL. */
export interface Query {
  readonly expr: string;
  /** Legend, such as `{{model}}`. */
  readonly legend: string;
}

const window = '$__rate_interval';

/** Series of the chosen services and, if the metric has that label, of the chosen templates. */
export function series(name: MetricName, where = '', suffix: '' | '_bucket' | '_sum' | '_count' = ''): string {
  const labels: readonly string[] = metricList[name].labels;
  const chosen = ['job=~"$service"', ...(labels.includes('template') ? ['template=~"$template"'] : []), ...(where ? [where] : [])];
  return `conclave_${name}${suffix}{${chosen.join(',')}}`;
}

const grouped = (operator: string, by: readonly string[]): string => (by.length > 0 ? `${operator} by (${by.join(', ')})` : operator);
const legendOf = (by: readonly string[]): string => by.map((label) => `{{${label}}}`).join(' · ');

/** Events per second. */
export const rate = <N extends Counter>(name: N, by: readonly LabelOf<N>[] = [], where = ''): string =>
  `${grouped('sum', by)} (rate(${series(name, where)}[${window}]))`;

export const perSecond = <N extends Counter>(name: N, by: readonly LabelOf<N>[] = [], where = '', legend = legendOf(by)): Query => ({
  expr: rate(name, by, where),
  legend: legend || 'all',
});
export const perMinute = <N extends Counter>(name: N, by: readonly LabelOf<N>[] = [], where = '', legend = legendOf(by)): Query => ({
  expr: `60 * ${rate(name, by, where)}`,
  legend: legend || 'all',
});

/** Sum of the observed values per second. */
export const sumRate = <N extends Histogram>(name: N, by: readonly LabelOf<N>[] = [], where = ''): string =>
  `${grouped('sum', by)} (rate(${series(name, where, '_sum')}[${window}]))`;
/** Observations per second. */
export const countRate = <N extends Histogram>(name: N, by: readonly LabelOf<N>[] = [], where = ''): string =>
  `${grouped('sum', by)} (rate(${series(name, where, '_count')}[${window}]))`;

export const mean = <N extends Histogram>(name: N, by: readonly LabelOf<N>[] = [], where = ''): Query => ({
  expr: `${sumRate(name, by, where)} / ${countRate(name, by, where)}`,
  legend: legendOf(by) || 'mean',
});

/** A quantile of a histogram, such as 0.95. */
export const quantile = <N extends Histogram>(q: number, name: N, by: readonly LabelOf<N>[] = [], where = ''): Query => ({
  expr: `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (rate(${series(name, where, '_bucket')}[${window}])))`,
  legend: [legendOf(by), `p${q * 100}`].filter(Boolean).join(' · '),
});
export const quantiles = <N extends Histogram>(name: N, by: readonly LabelOf<N>[] = [], where = ''): readonly Query[] => [
  quantile(0.5, name, by, where),
  quantile(0.95, name, by, where),
];

/** Current value, summed over processes, or the largest one. */
export const now = <N extends Gauge>(operator: 'sum' | 'max', name: N, by: readonly LabelOf<N>[] = []): Query => ({
  expr: `${grouped(operator, by)} (${series(name)})`,
  legend: legendOf(by) || 'all',
});

/** Total since the processes started. */
export const total = <N extends Counter>(name: N, by: readonly LabelOf<N>[] = [], where = ''): Query => ({
  expr: `${grouped('sum', by)} (${series(name, where)})`,
  legend: legendOf(by) || 'all',
});

/** A share of something that may never have happened, which is then 0. It has no data only if the whole has none. */
export const share = (part: string, whole: string, legend: string): Query => ({
  expr: `((${part}) or 0 * (${whole})) / (${whole})`,
  legend,
});

/** Something that may never have happened: 0 as long as any process exists. */
export const orZero = (expr: string, legend: string): Query => ({ expr: `(${expr}) or 0 * count(${series('build_info')})`, legend });

/** A metric of Node.js or of Prometheus itself. */
export const runtime = (expr: string, legend: string): Query => ({ expr, legend });
