export { repeatedFinished, streamFaults } from './checks.js';
export { CommitteeScript, expert, latch, price, research, roleOf, type Role, type Task, type Wave } from './committee-script.js';
export { inventedName, twoHops, type TwoHops } from './corpus.js';
export { adminKey, byAdmin, System, plainTemplate, testedMode, providerKey, type SystemOptions, type ServiceName } from './system.js';
export {
  ask,
  ChatStream,
  command,
  composedText,
  entriesAndSnapshotsOf,
  entriesOf,
  readRun,
  runEnd,
  runEvents,
  SseStream,
  startRun,
  user,
} from './http.js';
export { keptText, logText } from './kept.js';
export { allMetrics, parseMetrics, sumOf, type Sample } from './metrics.js';
export { cleared, freePorts, removeTraces, stackAddresses, workspaceRoot, type Stack } from './stack.js';
