import type { Dashboard } from '../dashboard.js';
import { countRate, mean, now, orZero, perMinute, perSecond, quantile, rate, share, total } from '../queries.js';

export const expertsAndModels: Dashboard = {
  name: 'experts-and-models',
  title: 'Conclave · Experts and models',
  description: 'Who works, how sure they are, and how the model servers do.',
  rows: [
    {
      title: 'Experts and capabilities',
      panels: [
        {
          title: 'Tasks',
          description: 'Tasks a minute by capability. It shows what the planner asks for, nothing to worry about on its own.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('tasks_total', ['capability'])],
        },
        {
          title: 'Tasks by status',
          description: 'Tasks a minute by status and tier. Worry about error and timeout.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('tasks_total', ['status', 'tier'])],
        },
        {
          title: 'Time of a task',
          description: 'Time a worker spent on a task, 95 of 100, by capability. Worry when it nears task_timeout_s.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'task_seconds', ['capability'])],
        },
        {
          title: 'Escalations',
          description:
            'Experts a minute whose first tier was unsure or failed, so that the second tier was asked. Worry when it is most of them: the first tier is too weak.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('escalations_total', ['capability'])],
        },
        {
          title: 'Share of escalations',
          description: 'Escalations per answer of the first tier of experts. Worry above a half.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [share(rate('escalations_total'), rate('tasks_total', [], 'tier="t1",capability=~"expert[.].*"'), 'escalated')],
          worry: { orange: 0.5 },
        },
        {
          title: 'Confidence of experts',
          description: 'Mean confidence from 0 to 1, by capability and tier. Worry below 0.5, where the second tier is asked.',
          kind: 'timeseries',
          unit: 'none',
          queries: [mean('expert_confidence', ['capability', 'tier'])],
        },
        {
          title: 'Own time of a task',
          description:
            'Time of a task in which no model or tool call was open, 95 of 100. Worry above a tenth of a second: the stores are slow.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'task_overhead_seconds', ['capability'])],
          worry: { orange: 0.5, red: 2 },
        },
      ],
    },
    {
      title: 'Models and tools',
      panels: [
        {
          title: 'Calls',
          description: 'Model and tool calls a minute by status. Worry about error and timeout.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('model_calls_total', ['status'])],
        },
        {
          title: 'Calls by model',
          description: 'Calls a minute by model or tool. Worry when a model that should work gets none.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('model_calls_total', ['model'])],
        },
        {
          title: 'Calls by purpose',
          description: 'Calls a minute by what they are for: plan, expert, judge, direct. Worry when one purpose grows without more runs.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('model_calls_total', ['purpose'])],
        },
        {
          title: 'Time of a call',
          description: 'Duration of calls, 95 of 100, by model. Worry when one model stands out: it slows every run that asks it.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'model_call_seconds', ['model'])],
        },
        {
          title: 'Time to the first token',
          description: 'From the call to its first token, 95 of 100, by model. Worry when it grows with the load: the model server queues.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'model_first_token_seconds', ['model'])],
        },
        {
          title: 'Tokens',
          description: 'Tokens a second by kind; completion includes reasoning. Worry when it doubles without more runs.',
          kind: 'timeseries',
          unit: 'cps',
          queries: [perSecond('model_tokens_total', ['kind'])],
        },
        {
          title: 'Failed calls',
          description:
            'Failed calls a minute by provider and closed error type. Worry about provider_unreachable, provider_auth and provider_unwell.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('provider_errors_total', ['provider', 'error_type'])],
        },
        {
          title: 'Circuit breakers',
          description:
            'State of each provider: 0 closed, 1 half-open, 2 open. Worry at 2: the provider gets no calls until it answers again.',
          kind: 'timeseries',
          unit: 'none',
          queries: [now('max', 'provider_breaker', ['provider'])],
          worry: { orange: 1, red: 2 },
        },
        {
          title: 'Openings of breakers',
          description:
            'Times since the start that the breaker of a provider opened. Worry when it grows steadily: the provider comes and goes.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('provider_breaker_openings_total', ['provider'])],
        },
        {
          title: 'Openings by capability',
          description: 'Openings a minute of the breaker of a capability or tool. Worry when a tool keeps failing.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [orZero(`60 * ${rate('capability_breaker_openings_total', ['capability'])}`, '{{capability}}')],
        },
        {
          title: 'Calls made again',
          description:
            'Calls since the start that were made again because their process died or was stopped. Worry when it grows without restarts.',
          kind: 'timeseries',
          unit: 'none',
          queries: [
            orZero(`max by (purpose) (${'conclave_duplicate_calls_total{job=~"$service"}'})`, 'after a death · {{purpose}}'),
            orZero(`sum by (purpose) (${'conclave_handed_back_calls_total{job=~"$service"}'})`, 'after a stop · {{purpose}}'),
          ],
        },
        {
          title: 'Busiest models',
          description: 'Calls a second by model or tool, the busiest ones. Worry when a single one carries everything.',
          kind: 'table',
          unit: 'reqps',
          queries: [{ expr: `topk(20, ${countRate('model_call_seconds', ['model'])})`, legend: '{{model}}' }],
        },
      ],
    },
  ],
};
