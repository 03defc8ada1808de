import type { Dashboard } from '../dashboard.js';
import { countRate, now, orZero, perMinute, quantile, runtime, series, total } from '../queries.js';

export const logAndWorkers: Dashboard = {
  name: 'log-and-workers',
  title: 'Conclave · Log and workers',
  description: 'Whether the services keep up, and how their processes are.',
  rows: [
    {
      title: 'Log',
      panels: [
        {
          title: 'Records not finished',
          description:
            'Records that a group has not finished. Worry when it grows for minutes: the group does not keep up, or has stopped.',
          kind: 'timeseries',
          unit: 'none',
          queries: [{ expr: `sum by (group) (max by (group, topic) (${series('consumer_lag_records')}))`, legend: '{{group}}' }],
          worry: { orange: 500, red: 5000 },
        },
        {
          title: 'Waiting in the log',
          description:
            'From the append of a record to the start of its handling, 95 of 100, by service. Worry above a second for other services than the experts.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'event_queue_wait_seconds', ['service'])],
          worry: { orange: 1, red: 10 },
        },
        {
          title: 'Handling of a record',
          description: 'Time of handling, 95 of 100, by type. Worry when a type that makes no model call takes seconds.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'event_handle_seconds', ['type'])],
        },
        {
          title: 'Records handled',
          description: 'Records a second by service and outcome. Worry about retry and dead.',
          kind: 'timeseries',
          unit: 'reqps',
          queries: [{ expr: countRate('event_handle_seconds', ['service', 'outcome']), legend: '{{service}} · {{outcome}}' }],
        },
        {
          title: 'Dead letters',
          description:
            'Records since the start that were given up, by topic and service. Worry at 1: look at it and re-drive or discard it.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('dead_letters_total', ['topic', 'service'])],
          worry: { red: 1 },
        },
        {
          title: 'Consumption has stopped',
          description: '1 while a group pauses because the log or a store does not answer. Worry after a minute.',
          kind: 'timeseries',
          unit: 'none',
          queries: [orZero('max by (group) (conclave_outage{job=~"$service"})', '{{group}}')],
          worry: { red: 1 },
        },
        {
          title: 'Paused partitions',
          description: 'Partitions paused for back-pressure or a retry, by group. Worry when they stay paused.',
          kind: 'timeseries',
          unit: 'none',
          queries: [now('sum', 'paused_partitions', ['group'])],
        },
        {
          title: 'Records in memory',
          description: 'Records held and handlers running in the processes, by group. Worry when it only grows.',
          kind: 'timeseries',
          unit: 'none',
          queries: [now('sum', 'held_records', ['group']), now('sum', 'running_handlers', ['group'])],
        },
        {
          title: 'Timers dropped',
          description: 'Due timers since the start for which no event could be made. Worry at 1.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('timers_dropped_total')],
          worry: { red: 1 },
        },
      ],
    },
    {
      title: 'Workers',
      panels: [
        {
          title: 'Waiting for a worker',
          description:
            'From the append of a task to its start, half and 95 of 100, by class. Worry above a few seconds: start more workers.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.5, 'task_queue_wait_seconds', ['class']), quantile(0.95, 'task_queue_wait_seconds', ['class'])],
          worry: { orange: 5, red: 30 },
        },
        {
          title: 'Oldest waiting task',
          description: 'Age of the oldest task that waits for a slot, by class. Worry when it grows.',
          kind: 'timeseries',
          unit: 's',
          queries: [now('max', 'task_waiting_seconds', ['class'])],
          worry: { orange: 5, red: 30 },
        },
        {
          title: 'Busy slots',
          description: 'Share of the slots of a class that are busy. Worry when it stays near 1 while tasks wait.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            {
              expr: `sum by (class) (${series('worker_busy_slots')}) / sum by (class) (${series('worker_slots')})`,
              legend: '{{class}}',
            },
          ],
          worry: { orange: 0.9 },
        },
        {
          title: 'Slots',
          description: 'Tasks of a class that all processes may run at once. Worry when it drops: workers are gone.',
          kind: 'timeseries',
          unit: 'none',
          queries: [now('sum', 'worker_slots', ['class'])],
        },
        {
          title: 'Webhooks',
          description: 'Deliveries a minute by outcome. Worry about dead: the receiver was not notified of the end of a run.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [orZero(perMinute('webhook_deliveries_total', ['webhook', 'outcome']).expr, '{{webhook}} · {{outcome}}')],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Processor time',
          description: 'Processor seconds a second of each process; 1 is a whole core. Worry near 1: a process of Node.js has one.',
          kind: 'timeseries',
          unit: 'none',
          queries: [runtime('rate(process_cpu_seconds_total{job=~"$service"}[$__rate_interval])', '{{job}} {{instance}}')],
          worry: { orange: 0.8 },
        },
        {
          title: 'Memory',
          description: 'Resident memory of each process. Worry when it only grows over days.',
          kind: 'timeseries',
          unit: 'bytes',
          queries: [runtime('process_resident_memory_bytes{job=~"$service"}', '{{job}} {{instance}}')],
        },
        {
          title: 'Lag of the event loop',
          description: 'How late timers are, 99 of 100, by process. Worry above 0.2 s: leases and heartbeats depend on it.',
          kind: 'timeseries',
          unit: 's',
          queries: [runtime('nodejs_eventloop_lag_p99_seconds{job=~"$service"}', '{{job}} {{instance}}')],
          worry: { orange: 0.2, red: 1 },
        },
        {
          title: 'Restarts',
          description: 'Starts of processes in the last hour. Worry when there was no update.',
          kind: 'timeseries',
          unit: 'none',
          queries: [runtime('sum by (job) (changes(process_start_time_seconds{job=~"$service"}[1h]))', '{{job}}')],
          worry: { orange: 3 },
        },
      ],
    },
  ],
};
