/** Runs of the engine driven by hand, for evaluations. */
export { guards, scriptedRuns, visibleText, type ScriptedRun } from './testing/scripted-runs.js';
export { expert, oneCall, research, runId, Scenario } from './testing/scenario.js';
