import { isOutage, type WorkerEntry } from '@conclave/contracts';

type Appended = 'appended' | 'refused';
type Append = (runId: string, entries: readonly WorkerEntry[]) => Promise<Appended>;

interface Waiting {
  readonly entries: readonly WorkerEntry[];
  /** Tasks of the entries. */
  readonly tasks: ReadonlySet<string>;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** The unfinished appends of one run. */
interface OfRun {
  readonly waiting: Waiting[];
  /** Tasks with an append in progress. */
  readonly busy: Set<string>;
  /** Whether the waiting appends will be examined in this turn of the event loop. */
  isDue: boolean;
}

/** Most appends that are combined into one. */
const mostTogether = 32;

/**
 * Appends of one task are executed in call order. Appends of one run that are requested in the same turn of the event loop are combined, and so are
 * those that wait for an earlier append of their task.
 */
export class AppendsTogether {
  private readonly runs = new Map<string, OfRun>();

  constructor(private readonly appendNow: Append) {}

  append(runId: string, entries: readonly WorkerEntry[]): Promise<Appended> {
    if (entries.length === 0) return Promise.resolve('appended');
    return new Promise((resolve, reject) => {
      const run: OfRun = this.runs.get(runId) ?? { waiting: [], busy: new Set(), isDue: false };
      this.runs.set(runId, run);
      run.waiting.push({ entries, tasks: new Set(entries.map(({ taskId }) => taskId)), resolve, reject });
      this.lookSoon(runId, run);
    });
  }

  private lookSoon(runId: string, run: OfRun): void {
    if (run.isDue) return;
    run.isDue = true;
    setImmediate(() => {
      run.isDue = false;
      for (let some = nextOf(run); some.length > 0; some = nextOf(run)) void this.appendAll(runId, run, some);
      if (run.waiting.length === 0 && run.busy.size === 0) this.runs.delete(runId);
    });
  }

  private async appendAll(runId: string, run: OfRun, some: readonly Waiting[]): Promise<void> {
    const tasks = some.flatMap((one) => [...one.tasks]);
    for (const task of tasks) run.busy.add(task);
    await this.together(runId, some);
    for (const task of tasks) run.busy.delete(task);
    this.lookSoon(runId, run);
  }

  /** Appends that are refused together, or fail, are repeated one by one: only one of them may be the cause. */
  private async together(runId: string, some: readonly Waiting[]): Promise<void> {
    if (some.length > 1) {
      try {
        const entries = some.flatMap((one) => one.entries);
        if ((await this.appendNow(runId, entries)) === 'appended') return some.forEach(({ resolve }) => resolve('appended'));
      } catch (error) {
        if (isOutage(error)) return some.forEach(({ reject }) => reject(error));
      }
    }
    for (const { entries, resolve, reject } of some) await this.appendNow(runId, entries).then(resolve, reject);
  }
}

/** Takes what can be appended now: nothing of a task that comes after a waiting append of the same task. */
function nextOf({ waiting, busy }: OfRun): readonly Waiting[] {
  const held = new Set(busy);
  const some: Waiting[] = [];
  const left: Waiting[] = [];
  for (const one of waiting.splice(0)) {
    const isFree = some.length < mostTogether && ![...one.tasks].some((task) => held.has(task));
    if (!isFree) for (const task of one.tasks) held.add(task);
    (isFree ? some : left).push(one);
  }
  waiting.push(...left);
  return some;
}
