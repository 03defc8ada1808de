import { addUsage, noUsage, type Usage } from '@conclave/contracts';
import type { TaskState } from './state.js';

/** Everything a task used, including what was reported after its outcome. */
export const usageOf = (task: TaskState): Usage => addUsage(task.result?.usage ?? noUsage, task.lateUsage ?? noUsage);
