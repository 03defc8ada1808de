import type { ResultReady } from '@conclave/contracts';
import type { RunState } from '@conclave/loop';
import type { Runs } from '@conclave/ports';
import type { PlantedBug } from './planted-bug.js';

export const lateResultCounted: PlantedBug = {
  name: 'late-result-counted',
  sentence: 'A result that comes after its task was settled is taken as if the task were still open, also one of an older epoch.',
  check: '3 outcomes',
  plant: () => ({
    stores({ runs }) {
      const commit: Runs['commit'] = runs.commit.bind(runs);
      runs.commit = (event, step) =>
        commit(event, (current, at) => {
          if (event.type === 'ResultReady') reopen(current as RunState | null, (event as ResultReady).data.taskId);
          return step(current, at);
        });
    },
  }),
};

function reopen(run: RunState | null, taskId: string): void {
  const task = run?.tasks[taskId];
  if (!run || run.phase === 'done' || task?.status !== 'settled') return;
  task.status = 'open';
  run.timers[`task:${taskId}`] = { arm: 99, dueAt: 1 };
}
