import type { Dashboard } from '../dashboard.js';
import { mean, orZero, perMinute, quantile, quantiles, rate, share, sumRate, total } from '../queries.js';

export const runsAndLoop: Dashboard = {
  name: 'runs-and-loop',
  title: 'Conclave · Runs and loop',
  description: 'How runs go: rounds, gaps, why they stop, and how much of their time is ours.',
  rows: [
    {
      title: 'Rounds',
      panels: [
        {
          title: 'Rounds of a run',
          description:
            'Mean rounds by template, and by the arm that answered where a template is split. Worry when it nears the limit of the template.',
          kind: 'timeseries',
          unit: 'none',
          queries: [mean('run_rounds', ['template', 'arm'])],
        },
        {
          title: 'Gaps that were planned again',
          description: 'Re-plans a minute. Worry when it grows and the answers do not get better: each one costs a whole round.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('gaps_total')],
        },
        {
          title: 'Why runs stop',
          description:
            'Decisions of the engine a minute, by row of the decision table: D3 is a sufficient answer. Worry when rows of a limit (D5 and later) take over.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('decisions_total', ['rule'])],
        },
        {
          title: 'Verdicts of the gap check',
          description:
            'Gap checks a minute by verdict. Worry about unreadable and failed: then the answer was not assessed, and another model should judge.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('gap_checks_total', ['verdict'])],
        },
        {
          title: 'Runs without an assessment',
          description: 'Runs since the start that ended with an unreadable gap check. Worry when it grows.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('unassessed_runs_total')],
        },
        {
          title: 'Plans',
          description: 'Plans a minute by result. Worry about fallback (no reply of the planner was usable) and failed.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('plans_total', ['result'])],
        },
      ],
    },
    {
      title: 'Time',
      panels: [
        {
          title: 'Time of a run by outcome',
          description: 'From acceptance to the end, half and 95 of 100 runs. Worry when completed runs come near the time limit.',
          kind: 'timeseries',
          unit: 's',
          queries: quantiles('run_seconds', ['outcome']),
        },
        {
          title: 'Overhead of a run',
          description:
            'Seconds of a run in which no plan was made and no task was worked on: queues, log, stores and engine. Worry above a second.',
          kind: 'timeseries',
          unit: 's',
          queries: quantiles('run_overhead_seconds', ['template']),
          worry: { orange: 1, red: 5 },
        },
        {
          title: 'Share of the overhead',
          description: 'Overhead as a share of the time of all runs. Worry above a tenth: people do not wait for the models.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [share(sumRate('run_overhead_seconds'), sumRate('run_seconds'), 'overhead')],
          worry: { orange: 0.1, red: 0.3 },
        },
      ],
    },
    {
      title: 'What people do to runs',
      panels: [
        {
          title: 'Commands until they take effect',
          description:
            'From the acceptance of a command to the step that applies it, 95 of 100. Worry above some seconds; a steer waits for the next decision of its run.',
          kind: 'timeseries',
          unit: 's',
          queries: [quantile(0.95, 'command_seconds', ['command'])],
        },
        {
          title: 'Commands without effect',
          description: 'Commands a minute that were rejected, such as for a run that had ended. Worry when a program repeats them.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [orZero(`60 * ${rate('commands_rejected_total', ['command'])}`, '{{command}}')],
        },
        {
          title: 'Cancels',
          description:
            'Runs a minute that were cancelled, because their last client left or by command. Worry when disconnects grow: people do not wait.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('run_cancels_total', ['reason'])],
        },
        {
          title: 'Retries that found their run',
          description: 'Requests a minute that repeated an earlier one and got its run. Worry when it grows: connections break.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('runs_attached_total', ['origin'])],
        },
        {
          title: 'Parked runs',
          description:
            'Runs since the start that were parked because the gateway of their clients stopped. Worry when gateways were not restarted.',
          kind: 'timeseries',
          unit: 'none',
          queries: [total('parked_runs_total')],
        },
        {
          title: 'What failed',
          description:
            'Plans, tasks and runs a minute that failed, by closed error type. Worry about own_ and _other; provider_ is a model server.',
          kind: 'timeseries',
          unit: 'cpm',
          queries: [perMinute('failures_total', ['stage', 'error_type'])],
        },
      ],
    },
  ],
};
