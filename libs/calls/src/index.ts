export { answerTask, emptyAnswer, promptDetail, thinkAloud, type ThoughtLine } from './answer-task.js';
export { askModels, insteadOf, type Question } from './ask-models.js';
export { CallMaker } from './call-maker.js';
export { recordOf, requestHash, storedCallOf, type StoredCall } from './call-record.js';
export type { CallEnd, Calls, FillIn, JournalledModelCall, JournalledToolCall, ShownIn, WorkState } from './calls.js';
export { LiveText } from './live-text.js';
export { abortRun, type Capability, deadTask, note, type Performed, workOn } from './task-worker.js';
export { answerByTool, earlyEnd, recordsOf, type ToolAnswer } from './tool-task.js';
export { CALL_MAKER, type CallerOptions, CallsModule } from './calls.module.js';
