export { Refusal, type RefusalCode } from './refusal.js';
export { serveJobs } from './running/worker.js';
export { openToolbox, type ToolOutcome, type Toolbox, type ToolboxOptions } from './running/toolbox.js';
export type { ToolDeclaration, ToolLimits } from './tool.js';
