/** Dashboards and alert rules, for the tests that use them. */
export { alerts, asWritten, dashboards, rulesFile, type Dashboard, type Duration } from '@conclave/deploy/monitoring';
