import { type Event, resultId, type TaskDispatched } from '@conclave/contracts';
import { isJudge, type RunState } from '@conclave/loop';

const isSynthesis = (output: Event): boolean =>
  output.type === 'TaskDispatched' && (output as TaskDispatched).data.input.kind === 'synthesis';

/** Ids of the results that are combined into one answer in this step; none if it dispatches no synthesis. */
export const joinedResults = (run: RunState, outputs: readonly Event[]): readonly string[] =>
  outputs.some(isSynthesis)
    ? Object.entries(run.tasks).flatMap(([taskId, task]) =>
        task.result?.status === 'ok' && !isJudge(task) && !task.superseded ? [resultId(taskId)] : [],
      )
    : [];
