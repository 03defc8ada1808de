/** Key of the whole result of a task whose fact is only an excerpt, in the caches of its tenant. The task id contains the run. */
export const wholeResultKey = (taskId: string): string => `result:${taskId}`;

/** Milliseconds for which a whole result can be looked up: longer than a run usually takes, pauses included. */
export const wholeResultMs = 2 * 3_600_000;
