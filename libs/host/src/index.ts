export { topicsOf } from './cluster.js';
export { kafkaTopics, type KafkaTopics } from './kafka-topics.js';
export { logPlace, openLog, type OpenedLog, type OpenLogOptions } from './open-log.js';
export { openModels, openTrial, type OpenedModels } from './open-models.js';
export { openPorts, type OpenedPorts } from './open-ports.js';
export type { OpenPortsOptions, AppName } from './opening.js';
export { newProcessId, runProcess, taskConcurrency, type ProcessOptions, type RunningProcess } from './start-process.js';
export { publishToolOffers, type PublishedOffers } from './publish-tool-offers.js';
export { openRemoteFiles } from './open-remote-files.js';
