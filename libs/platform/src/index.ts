export { type AuditVerdict, verifyAudit } from './audit/audit-chain.js';
export { type AuditKey, auditPublicKeyOf, openAuditKey } from './audit/audit-key.js';
export type { AuditFilter, AuditSource } from './audit/export-audit.js';
export { textLines } from './audit/text-lines.js';
export { type LogFields, type Logger, type LogLine, openLogger, silentLogger, terminalLines } from './logging/logger.js';
export { logNodeWarnings } from './logging/node-warnings.js';
export { nestLog } from './logging/nest-log.js';
export { redactText } from './logging/redact.js';
export { metricsTable, metricList, type MetricName } from './metrics/list.js';
export { openMetrics, type Metrics } from './metrics/metrics.js';
export { measureCall, observeEvents } from './metrics/observe-events.js';
export type { Observers, Ports } from './ports-module.js';
export { endedReads, type EndedReads, ForgottenRuns, forgetsAtEnd, keptRecords } from './process/ended-reads.js';
export { openAdminServer, type AdminServer, type LoadedExtension } from './process/admin-server.js';
export { outliveReaders } from './process/closed-output.js';
export {
  noProbe,
  reachedDurably,
  type HistoryLine,
  type OpenProbe,
  type Probe,
  type ProbedPorts,
  type ProbePoint,
} from './process/probe.js';
export { overriding } from './process/overriding.js';
export { retryWhileStarting } from './process/patience.js';
export { holdProcessLease, type ProcessLease } from './process/process-lease.js';
export { openObservers, type ObserverOptions } from './process/open-observers.js';
export { openReadiness, type HealthCheck, type ReadinessChecks } from './process/readiness.js';
export { endOnSignals, openShutdown, type Shutdown } from './process/shutdown.js';
export { checkAudit, checkRetention, claimStores, holdStoreMark, type HeldMark } from './process/store-identity.js';
export { warmUpSoon } from './process/warm-up.js';
export { short } from './short.js';
export { ENDED_READS, LOGGER, METRICS, PROBE, PROCESS, type ProcessIdentity, READINESS } from './tokens.js';
export { tracedRequest, traceRequest } from './tracing/request-trace.js';
export {
  type TraceContext,
  traceContextOf,
  traceIdOf,
  traceIdOfRun,
  traced,
  traceparentFor,
  traceparentIn,
} from './tracing/trace-context.js';
export { tracedLog } from './tracing/traced-log.js';
export { DeliveryContext } from './transport/delivery-context.js';
export { EventPattern } from './transport/event-pattern.js';
export { deliveryHooks } from './transport/delivery-hooks.js';
export { countedReranker } from './metrics/counted-reranker.js';
export { timedGraph, timedVectors } from './metrics/timed-store.js';
export { sparingCaches } from './transport/sparing-caches.js';
export { tracedRuns } from './transport/traced-runs.js';
export { serviceOfGroup, taskGroup } from './transport/groups.js';
export { LogTransport, type LogTransportOptions } from './transport/log-transport.js';
export { RethrowFilter } from './transport/rethrow-filter.js';
export { serve, type Served, type ServeOptions } from './transport/serve.js';
export { chooseModels, type ChosenModels } from './catalogue/choose-models.js';
export { sizeOf, spreadModels, type ModelRoles } from './catalogue/spread-models.js';
export { staysLocal } from './catalogue/local-only.js';
export { resolveTemplates, type ResolvedTemplates, type TemplateInput } from './catalogue/resolve-templates.js';
export { type TuningFault, tuningFaults } from './catalogue/tuning.js';
export { openCatalogue, type NamedModel, type ResolvedName, type TemplateCatalogue } from './catalogue/template-catalogue.js';
export { parseEnvironment, readEnvironment, type Variables } from './configuration/environment.js';
export { loadConfiguration, type Loaded } from './configuration/load.js';
export { readYaml, type YamlSource } from './configuration/yaml-source.js';
export { mistakesOf, type Mistake } from './configuration/mistakes.js';
export type { Secrets, TlsFiles } from './configuration/secrets.js';
