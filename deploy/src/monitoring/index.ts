import { cost } from './dashboards/cost.js';
import { expertsAndModels } from './dashboards/experts.js';
import { knowledgeAndCaches } from './dashboards/knowledge.js';
import { runsAndLoop } from './dashboards/loop.js';
import { overview } from './dashboards/overview.js';
import { logAndWorkers } from './dashboards/workers.js';
import { dashboardJson, type Dashboard } from './dashboard.js';
import { ruleTests, rulesFile } from './rules.js';

export { alerts, asWritten, type Alert, type Duration } from './alerts.js';
export type { Dashboard, Panel } from './dashboard.js';
export { anchorOf, rulesFile } from './rules.js';

export const dashboards: readonly Dashboard[] = [overview, runsAndLoop, expertsAndModels, knowledgeAndCaches, logAndWorkers, cost];

/** Folders in which everything is printed. */
export const monitoringFolders = ['deploy/grafana/dashboards', 'deploy/prometheus/rules', 'deploy/prometheus/tests'] as const;

/** Dashboards, rules and their unit tests: path -> text. */
export const printMonitoring = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(dashboards.map((dashboard) => [`deploy/grafana/dashboards/${dashboard.name}.json`, dashboardJson(dashboard)])),
  'deploy/prometheus/rules/conclave.yml': rulesFile(),
  'deploy/prometheus/tests/conclave.test.yml': ruleTests('../rules/conclave.yml'),
});
