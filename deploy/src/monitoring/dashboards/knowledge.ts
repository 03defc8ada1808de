import type { Dashboard } from '../dashboard.js';
import { countRate, orZero, perMinute, quantile, rate, share, total } from '../queries.js';

export const knowledgeAndCaches: Dashboard = {
  name: 'knowledge-and-caches',
  title: 'Conclave · Knowledge and caches',
  description: 'What is answered without work, what is learned, and how fast graph and vectors are.',
  rows: [
    {
      title: 'Caches',
      panels: [
        {
          title: 'Lookups',
          description: 'Lookups a minute by cache and result. Worry about failed: the store is slow or away, and all work is done again.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('cache_lookups_total', ['cache', 'result'])],
        },
        {
          title: 'Share of hits',
          description:
            'Lookups that found something, by cache. Worry when it drops after a change of template or prompt: equal questions are no longer equal.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [share(rate('cache_lookups_total', ['cache'], 'result="hit"'), rate('cache_lookups_total', ['cache']), '{{cache}}')],
        },
        {
          title: 'Values too large',
          description: 'Values since the start that were too large for a cache; their runs go on. Worry when it grows with each run.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('cache_values_too_large_total')],
        },
      ],
    },
    {
      title: 'Graph and vectors',
      panels: [
        {
          title: 'Time of an operation',
          description: 'Duration of operations of the graph and of the vector store, 95 of 100. Worry above a second: answers wait for it.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'store_operation_seconds', ['store', 'operation'])],
          worry: { orange: 0.5, red: 2 },
        },
        {
          title: 'Operations',
          description: 'Operations a second by store. Worry when it drops to nothing while people ask.',
          kind: 'timeseries',
          unit: 'reqps',
          queries: [{ expr: countRate('store_operation_seconds', ['store', 'operation']), legend: '{{store}} · {{operation}}' }],
        },
        {
          title: 'Failed operations',
          description: 'Share of operations that failed, by store. Worry above 0: the store does not answer.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            share(
              countRate('store_operation_seconds', ['store'], 'outcome="failed"'),
              countRate('store_operation_seconds', ['store']),
              '{{store}}',
            ),
          ],
          worry: { orange: 0.01, red: 0.1 },
        },
      ],
    },
    {
      title: 'Learning',
      panels: [
        {
          title: 'Documents',
          description: 'Uploaded documents since the start by outcome. Worry about failed: their text could not be read or embedded.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('documents_ingested_total', ['outcome'])],
        },
        {
          title: 'What runs teach the graph',
          description: 'Ended runs that were read for triples, since the start, by outcome. Worry about unusable: the model cannot do it.',
          kind: 'timeseries',
          unit: 'none',
          queries: [orZero('sum by (outcome) (conclave_graph_extractions_total{job=~"$service"})', '{{outcome}}')],
        },
        {
          title: 'Rerankers',
          description: 'Calls a minute of rerankers by outcome. Worry about failed: hits then keep the order of the search.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [orZero(`60 * ${rate('rerank_calls_total', ['retrieval', 'outcome'])}`, '{{retrieval}} · {{outcome}}')],
        },
      ],
    },
  ],
};
