import type { Dashboard } from '../dashboard.js';
import { perMinute, perSecond, rate, share, total } from '../queries.js';

export const cost: Dashboard = {
  name: 'cost',
  title: 'Conclave · Cost',
  description: 'What models cost, in the currency of the configured prices. Counted by processes; the ledger of usage is exact.',
  rows: [
    {
      title: 'Money',
      panels: [
        {
          title: 'Cost an hour',
          description: 'Cost of all calls at the present pace, for an hour. Worry when it exceeds what you planned.',
          kind: 'stat',
          unit: 'currencyUnits',
          queries: [{ expr: `3600 * ${rate('model_cost_total')}`, legend: 'an hour' }],
        },
        {
          title: 'Cost since the start',
          description:
            'Cost of all calls since the processes started; a restart begins at 0. Worry when it exceeds what you planned for that time.',
          kind: 'stat',
          unit: 'currencyUnits',
          queries: [total('model_cost_total')],
        },
        {
          title: 'Cost of a run',
          description: 'Cost of all calls divided by the runs that ended. Worry when it doubles after a change of template or model.',
          kind: 'stat',
          unit: 'currencyUnits',
          queries: [{ expr: `${rate('model_cost_total')} / ${rate('runs_total')}`, legend: 'a run' }],
        },
        {
          title: 'Calls of a run',
          description: 'Model and tool calls divided by the runs that ended. Worry when it grows: more rounds, or calls made again.',
          kind: 'stat',
          unit: 'none',
          queries: [{ expr: `${rate('model_calls_total')} / ${rate('runs_total')}`, legend: 'a run' }],
        },
        {
          title: 'Tokens of a run',
          description:
            'Prompt and completion tokens divided by the runs that ended. Worry when it grows: histories or evidence get longer.',
          kind: 'stat',
          unit: 'none',
          queries: [{ expr: `${rate('model_tokens_total', [], 'kind=~"prompt|completion"')} / ${rate('runs_total')}`, legend: 'a run' }],
        },
        {
          title: 'Answers without models',
          description:
            'Share of questions that the exact or the semantic cache answered. Worry when it drops after a change of template or prompt.',
          kind: 'stat',
          unit: 'percentunit',
          queries: [
            share(
              rate('cache_lookups_total', [], 'cache=~"exact|semantic",result="hit"'),
              rate('cache_lookups_total', [], 'cache="exact"'),
              'from a cache',
            ),
          ],
        },
      ],
    },
    {
      title: 'Where it goes',
      panels: [
        {
          title: 'Cost an hour by model',
          description: 'Cost at the present pace, for an hour, by model. Models without a price do not appear. Worry about the one on top.',
          kind: 'timeseries',
          unit: 'currencyUnits',
          queries: [{ expr: `3600 * ${rate('model_cost_total', ['model'])}`, legend: '{{model}}' }],
        },
        {
          title: 'Tokens by model',
          description: 'Tokens a second by model and kind. Reasoning is part of completion. Worry when an expensive model takes over.',
          kind: 'timeseries',
          unit: 'cps',
          queries: [perSecond('model_tokens_total', ['model', 'kind'])],
        },
        {
          title: 'Calls by purpose',
          description: 'Calls a minute by what they are for. Worry when judges cost more than experts.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('model_calls_total', ['purpose'])],
        },
        {
          title: 'Share of reasoning',
          description: 'Reasoning as a share of completion tokens. Worry when it is most of what is paid.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            share(rate('model_tokens_total', [], 'kind="reasoning"'), rate('model_tokens_total', [], 'kind="completion"'), 'reasoning'),
          ],
          worry: { orange: 0.7 },
        },
        {
          title: 'Calls without use',
          description: 'Share of calls that failed, timed out or were cancelled; some of them are paid. Worry above a tenth.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [share(rate('model_calls_total', [], 'status!="ok"'), rate('model_calls_total'), 'without use')],
          worry: { orange: 0.1, red: 0.3 },
        },
        {
          title: 'Runs by strategy',
          description:
            'Runs a minute by strategy. Worry when cheap strategies give way to agentic ones, which make several times the calls.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('runs_total', ['strategy'])],
        },
      ],
    },
  ],
};
