import { makeEvent, ResultReady, TaskDispatched, taskTopic } from '@conclave/contracts';
import type { Consumption, EventLog } from '@conclave/ports';
import { expertPrompts } from '@conclave/strategies';
import { Partitioners } from 'kafkajs';
import { nextRunId } from '../committee/run-starter.js';
import { workMark } from '../model-server/protocol.js';
import { directModel } from '../processes/product.js';

/** One task of an expert and its outcome. Times are milliseconds of `performance.now()`. */
export interface TaskOutcome {
  readonly taskId: string;
  readonly publishedAt: number;
  readonly arrivedAt: number;
}

interface Waiting {
  readonly publishedAt: number;
  readonly resolve: (outcome: TaskOutcome) => void;
  readonly reject: (error: Error) => void;
}

const hour = 3_600_000;

/** Publishes tasks of experts and consumes their results, like the engine, but without a run. */
export class TaskBoard {
  private readonly waiting = new Map<string, Waiting>();
  private readonly taken = new Set<string>();
  private repeats = 0;
  private consumption: Consumption | null = null;

  private constructor(private readonly log: EventLog) {}

  static async open(log: EventLog): Promise<TaskBoard> {
    const board = new TaskBoard(log);
    board.consumption = await log.subscribe({
      group: 'bench-board',
      topics: [ResultReady.topic],
      concurrency: 64,
      handle: async ({ event }) => {
        board.take(event as ResultReady);
        return [];
      },
      onDead: async () => [],
    });
    return board;
  }

  /** Number of repeated results for the same task. */
  get repeated(): number {
    return this.repeats;
  }

  /** Publishes one task per id; the model works `workMs` on each. Each outcome resolves with its result, or rejects if that is not ok. */
  async dispatch(taskClass: string, taskIds: readonly string[], workMs: number): Promise<readonly Promise<TaskOutcome>[]> {
    const publishedAt = performance.now();
    const outcomes = taskIds.map(
      (taskId) => new Promise<TaskOutcome>((resolve, reject) => this.waiting.set(taskId, { publishedAt, resolve, reject })),
    );
    // The caller handles a rejection when it awaits the outcome; until then it must not end the process.
    for (const outcome of outcomes) outcome.catch(() => undefined);
    await this.log.publish(taskIds.map((taskId) => taskOf(taskId, taskClass, workMs)));
    return outcomes;
  }

  async close(): Promise<void> {
    await this.consumption?.close();
  }

  private take({ data: { taskId, status, failure } }: ResultReady): void {
    const waiting = this.waiting.get(taskId);
    this.waiting.delete(taskId);
    if (this.taken.has(taskId)) this.repeats += 1;
    this.taken.add(taskId);
    if (status === 'ok') waiting?.resolve({ taskId, publishedAt: waiting.publishedAt, arrivedAt: performance.now() });
    else waiting?.reject(new Error(`Task ${taskId} ended as ${status}: ${failure?.message ?? 'no reason'}`));
  }
}

function taskOf(taskId: string, taskClass: string, workMs: number): TaskDispatched {
  const runId = taskId.split('/')[0]!;
  const time = Date.now();
  return makeEvent(
    TaskDispatched,
    { id: taskId, runId, source: 'merger', time, taskClass },
    {
      taskId,
      epoch: 0,
      capability: 'expert.general',
      input: {
        kind: 'expert',
        category: 'general',
        task: `Think about it: ${workMark(workMs)}.`,
        goal: 'How long does it take?',
        conversation: [],
        system: null,
        prompt: expertPrompts['general']!,
        evidence: [],
      },
      models: [directModel],
      prices: {},
      contexts: {},
      strategy: 'single-pass',
      tenant: 'default',
      startBy: time + hour,
      timeoutS: 3_600,
      allowance: { calls: 4, tokens: 100_000, cost: null },
      stream: 'held',
    },
  );
}

const newTaskId = (): string => `${nextRunId()}/0/x1`;
export const newTaskIds = (count: number): readonly string[] => Array.from({ length: count }, newTaskId);

/** Task ids spread evenly over the partitions of their topic, `each` per partition. */
export function evenTaskIds(taskClass: string, each: number, partitions: number): readonly string[] {
  const partitionOf = Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [0],
    isr: [0],
  }));
  const topic = taskTopic(taskClass);
  const byPartition = Array.from({ length: partitions }, (): string[] => []);
  let missing = each * partitions;
  while (missing > 0) {
    const taskId = newTaskId();
    const place = byPartition[partitionOf({ topic, partitionMetadata, message: { key: taskId, value: null } })]!;
    if (place.length >= each) continue;
    place.push(taskId);
    missing -= 1;
  }
  // Interleaves the partitions, so that all workers are busy from the first record on.
  return Array.from({ length: each }, (_, n) => byPartition.map((ids) => ids[n]!)).flat();
}
