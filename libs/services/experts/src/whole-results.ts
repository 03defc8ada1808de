import { rootOf, type TaskDispatched } from '@conclave/contracts';
import type { WorkState } from '@conclave/calls';
import type { StateStore } from '@conclave/ports';
import { layerTag, runTag, wholeResultKey, wholeResultMs } from '@conclave/strategies';

/** Long results of tools: a fact has an excerpt, later calls may need any value of the whole. */
export interface WholeResults {
  keep(task: TaskDispatched, text: string): Promise<void>;
  /** The question of the run, by which an excerpt is chosen; empty if it is not known. */
  questionOf(task: TaskDispatched): Promise<string>;
}

export const wholeResults = (state: Pick<WorkState, 'runs'>, caches: StateStore['caches']): WholeResults => ({
  keep: async ({ runId, data }, text) => {
    const tags = [layerTag('search'), runTag(rootOf(runId))];
    await caches.write({ tenant: data.tenant, key: wholeResultKey(data.taskId), value: text, ttlMs: wholeResultMs, tags });
  },
  questionOf: async ({ runId }) => (await state.runs.header(runId))?.data.goal ?? '',
});
