import type { PlannedTask, PlanRequested, Reading, ResultReady, RuleId, RunLimits, Template, Usage } from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';
import type { Limits } from '@conclave/loop';
import { deciding } from './deciding.js';
import { oneCall, research, Scenario } from './scenario.js';

/** Guards that every strategy has from the engine. */
export const guards = [
  'exact repeat',
  'near repeat',
  'failed twice',
  'never twice',
  'A-B-A-B',
  'stall',
  'budget 70 %',
  'budget 85 %',
  'budget 100 %',
  'reserve for the answer',
  'context guard',
  'no reply in time',
  'no worker',
  'endless strategy',
] as const;
export type Guard = (typeof guards)[number];

/** A run with scripted replies, what it covers, and how it must end. */
export interface ScriptedRun {
  readonly name: string;
  /** Rows of the decision table and guards that it shows. */
  readonly covers: readonly (RuleId | Guard)[];
  readonly outcome: string;
  readonly rule: RuleId | null;
  /** Words of the reason that the user sees, or of the entry of the run stream if the run continues. */
  readonly says: RegExp;
  play(): Scenario;
}

type Play = (run: Scenario) => void;
export const committee =
  (play: Play, changes: Partial<Template> = {}, limits: Partial<RunLimits> = {}, more: Partial<PlanRequested['data']> = {}) =>
  () => {
    const run = new Scenario(changes);
    run.requested(limits, more);
    play(run);
    return run;
  };
export const decided =
  (play: Play, readings: readonly Reading[], limits: Partial<Limits> = {}, budget: Partial<RunLimits> = {}) =>
  () => {
    const run = new Scenario({ strategy: 'deciding' }, deciding(readings, limits));
    run.requested(budget);
    run.planned(0, [research('r', 'the first thing')]);
    play(run);
    return run;
  };
export const tools = [
  { name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true },
  { name: 'stock.order', description: 'Orders', signature: 'item: string', repeatable: false },
];
export const inWaves = (play: Play, changes: Partial<Template> = {}) => committee(play, { strategy: 'waves', tools, ...changes });
export const call = (id: string, tool: string, item: string): PlannedTask => ({
  ...{ id, capability: 'mcp', task: `Call ${tool}`, query: null, needs: [], tool, args: { item }, metadata_filters: null },
});
export const wave = (run: Scenario, epoch: number, status: 'continue' | 'done', tasks: PlannedTask[]): unknown =>
  run.planned(epoch, tasks, oneCall, { content: { status, action: `wave ${epoch + 1}`, slots: {}, reasoning: '' } });
export const using = (run: Scenario, local: string, usage: Partial<Usage>, finding = 'It was Ana.'): unknown =>
  run.result(local, { output: { kind: 'answer', text: finding, finding }, confidence: 0.9, usage: { ...noUsage, calls: 1, ...usage } });
export const broken: Partial<ResultReady['data']> = {
  status: 'error',
  failure: { code: 'PROVIDER_FAILED', message: 'broken', retriable: true },
};

export const open: Reading = { by: 'assessment', sufficient: false, open: 'more' };
export const answerAfter = (run: Scenario): unknown => run.composed('Ana founded it [1].');
/** Rounds that end with the gap check: each has its query and what was found. */
export const rounds = (run: Scenario, ...all: readonly (readonly [query: string, found: string | null])[]): void =>
  all.forEach(([query, found], epoch) => {
    run.planned(epoch, [research('r', query)]);
    if (run.state!.tasks[`run_00000001/${epoch}/r`]?.status === 'open') run.found('r', ...(found === null ? [] : [found]));
    if (run.state!.tasks[`run_00000001/${epoch}/judge.gap`]?.status === 'open') run.judged('needs_more_info', 'the year');
  });
export const words = ['who founded the mill', 'archive of the county', 'letters about rope', 'register of deaths', 'maps of the harbour'];
export const row = (
  name: string,
  rule: RuleId,
  outcome: string,
  says: RegExp,
  play: ScriptedRun['play'],
  ...covers: (RuleId | Guard)[]
): ScriptedRun => ({
  ...{ name, rule, outcome, says, play },
  covers: [rule, ...covers],
});

export const shown = (
  name: string,
  guard: Guard,
  outcome: string,
  rule: RuleId | null,
  says: RegExp,
  play: ScriptedRun['play'],
): ScriptedRun => ({
  ...{ name, outcome, rule, says, play },
  covers: [guard],
});
