import { addUsage, noUsage, type Usage } from '@conclave/contracts';
import type { TaskState } from './state.js';

/** Everything a task used, also what was told after its outcome. */
export const usageOf = (task: TaskState): Usage => addUsage(task.result?.usage ?? noUsage, task.lateUsage ?? noUsage);
