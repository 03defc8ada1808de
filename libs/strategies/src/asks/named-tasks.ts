import * as z from 'zod';

/** Text that some models write as a number. */
export const Words = z.union([z.string(), z.number()]).transform(String);

/** The task that a reply names by its id or the last part of it, ignoring surrounding characters. */
export function named<T extends { readonly taskId: string }>(word: string | undefined, tasks: readonly T[]): T | undefined {
  const local = word?.trim().split(/[\s(]/)[0] ?? '';
  return tasks.find(({ taskId }) => taskId === local || taskId.split('/').at(-1) === local);
}
