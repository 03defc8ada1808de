export { driveRun, sameAsRecorded, shortHash, type ReplayedRun } from './drive-run.js';
export { lostRequest } from './recovery/lost-request.js';
export { rebuildStore, type Recovered } from './recovery/rebuild-store.js';
export { recoveredText } from './recovery/recovered-text.js';
export { readRuns } from './read-runs.js';
export { byRunFirst, RunRange } from './run-range.js';
export { Recording } from './recording.js';
export { replayedText } from './replayed-text.js';
export { todaysCode, type TodaysCode } from './todays-code.js';
