import type { Dashboard } from '../dashboard.js';
import { countRate, now, orZero, perMinute, quantile, quantiles, rate, runtime, share, series, total } from '../queries.js';

export const overview: Dashboard = {
  name: 'overview',
  title: 'Conclave · Overview',
  description: 'Whether people get answers, how fast, and what is in the way.',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Processes that answer',
          description: 'Processes whose metrics Prometheus can read. Worry when it is lower than the number you started.',
          kind: 'stat',
          unit: 'none',
          queries: [runtime('sum(up{job=~"$service"})', 'up')],
        },
        {
          title: 'Processes that do not answer',
          description: 'Processes that Prometheus expects and cannot read. Worry at once: 0 is right.',
          kind: 'stat',
          unit: 'none',
          queries: [runtime('count(up{job=~"$service"}) - sum(up{job=~"$service"})', 'down')],
          worry: { red: 1 },
        },
        {
          title: 'Failed runs',
          description:
            'Share of ended runs that failed. Worry above a few per cent: the dashboard of experts and models shows which models fail.',
          kind: 'stat',
          unit: 'percentunit',
          queries: [share(rate('runs_total', [], 'outcome="failed"'), rate('runs_total'), 'failed')],
          worry: { orange: 0.02, red: 0.1 },
        },
        {
          title: 'Dead letters',
          description: 'Records that could not be handled since the processes started. Worry at 1: each one is work that was given up.',
          kind: 'stat',
          unit: 'none',
          queries: [total('dead_letters_total')],
          worry: { red: 1 },
        },
        {
          title: 'Errors without a type',
          description: 'Failures that no row of the failure table describes: defects of Conclave. Worry at 1, and report it.',
          kind: 'stat',
          unit: 'none',
          queries: [
            orZero(
              ['http_errors_total', 'failures_total', 'provider_errors_total']
                .map((name) => `sum(${series(name as 'failures_total', 'error_type="_other"')})`)
                .join(' or '),
              '_other',
            ),
          ],
          worry: { red: 1 },
        },
        {
          title: 'Alerts that fire',
          description: 'Rules of Prometheus that fire now. Worry at 1: the runbook says what to do.',
          kind: 'stat',
          unit: 'none',
          queries: [runtime('count(ALERTS{alertstate="firing"}) or vector(0)', 'firing')],
          worry: { orange: 1, red: 3 },
        },
      ],
    },
    {
      title: 'What people get',
      panels: [
        {
          title: 'Runs accepted',
          description: 'New runs a minute by template. Worry when it falls to nothing while people work.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('runs_accepted_total', ['template'])],
        },
        {
          title: 'Runs ended',
          description: 'Runs a minute by outcome. Worry when fewer end than are accepted, or when failed grows.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('runs_total', ['outcome'])],
        },
        {
          title: 'Time to the first content',
          description:
            'From a streamed question to the first words of its answer, half and 95 of 100 requests. Worry when people complain, or when it doubles.',
          kind: 'timeseries',
          unit: 's',
          queries: quantiles('first_content_seconds'),
          worry: { orange: 30, red: 90 },
        },
        {
          title: 'Time of a run',
          description:
            'From acceptance to the end, by template; 95 of 100 runs are faster. Worry when it comes near the time limit of the template.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'run_seconds', ['template'])],
          worry: { orange: 60, red: 150 },
        },
        {
          title: 'Requests by status',
          description:
            'HTTP requests a second by status. Worry when 5xx appears; 4xx are mistakes of callers, 429 and 503 with a reason are limits.',
          kind: 'timeseries',
          unit: 'reqps',
          queries: [{ expr: rate('http_requests_total', ['status']), legend: '{{status}}' }],
        },
        {
          title: 'Errors by type',
          description:
            'Error responses a second by closed type: caller_ is the caller, policy_ a limit, provider_ a model server, own_ Conclave. Worry about own_.',
          kind: 'timeseries',
          unit: 'reqps',
          queries: [{ expr: rate('http_errors_total', ['error_type']), legend: '{{error_type}}' }],
        },
      ],
    },
    {
      title: 'What is in the way',
      panels: [
        {
          title: 'Tasks wait',
          description:
            'Waiting time of tasks for a free worker, 95 of 100, by class. Worry above a few seconds: start more workers of the class.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'task_queue_wait_seconds', ['class'])],
          worry: { orange: 5, red: 30 },
        },
        {
          title: 'Runs refused',
          description:
            'Requests a minute that were refused before they became a run, because the system was full, not ready or stopping. Worry when it stays above 0.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [orZero(`60 * ${rate('runs_refused_total', ['reason'])}`, '{{reason}}')],
          worry: { orange: 1 },
        },
        {
          title: 'Streams open',
          description: 'Event streams that clients hold open, by endpoint. Worry when it only grows: clients do not leave.',
          kind: 'timeseries',
          unit: 'none',
          queries: [now('sum', 'streams_open', ['endpoint'])],
        },
        {
          title: 'How streams end',
          description: 'Streams a minute by their end. Worry about slow (a client did not read) and failed.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('stream_ends_total', ['endpoint', 'end'])],
        },
        {
          title: 'Slow routes',
          description:
            'Time of requests by route, 95 of 100, including streams to their end. Worry about routes other than questions that take seconds.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'http_request_seconds', ['route'])],
        },
        {
          title: 'Busiest routes',
          description: 'Requests a second by route. It shows who causes the load, nothing to worry about on its own.',
          kind: 'timeseries',
          unit: 'reqps',
          queries: [{ expr: countRate('http_request_seconds', ['route']), legend: '{{route}}' }],
        },
        {
          title: 'Versions',
          description: 'Version, service and Node.js of each process. Worry when two versions run side by side long after an update.',
          kind: 'table',
          unit: 'none',
          queries: [{ expr: `count by (job, service, version, node) (${series('build_info')})`, legend: '' }],
          width: 24,
        },
      ],
    },
  ],
};
