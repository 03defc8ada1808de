import type { RunView, StreamEntry } from '@conclave/contracts';
import type { Records } from './records.js';

type Body = StreamEntry extends infer Entry ? (Entry extends StreamEntry ? Omit<Entry, 'id'> : never) : never;

const settledWith = (status: string): boolean => status !== 'blocked' && status !== 'open';
const isPlanned = (task: RunView['rounds'][number]['tasks'][number]): boolean => !task.capability.startsWith('judge.');

/**
 * Events of a run whose stream has expired, reconstructed from its record and the log: what was planned, opened, settled and decided, and when.
 * Progress lines of workers and the growing answer are gone with the stream and are not replaced. Numbers are those of this list.
 */
export function recordedEntries(record: RunView, { steps, calls }: Pick<Records, 'steps' | 'calls'>): readonly StreamEntry[] {
  const start = record.startedAt ?? record.acceptedAt;
  const outputAt = new Map(steps.flatMap(({ at, outputs }) => outputs.map(({ id }) => [id, at] as const)));
  const inputAt = new Map(steps.map(({ eventId, at }) => [eventId, at] as const));
  const ofOwner = (owner: string): { readonly from: number | undefined; readonly to: number | undefined } => {
    const mine = calls.filter((call) => call.owner === owner && !call.superseded);
    return mine.length === 0
      ? { from: undefined, to: undefined }
      : {
          from: Math.min(...mine.map(({ startedAt }) => startedAt)),
          to: Math.max(...mine.map(({ startedAt, durationMs }) => startedAt + durationMs)),
        };
  };
  const bodies: Body[] = [
    {
      kind: 'run.started',
      at: start,
      template: record.template.id,
      strategy: record.template.strategy,
      maxRounds: record.rounds.length,
      question: record.question,
    },
  ];
  let last = start;
  for (const { epoch, fallback, planned, tasks } of record.rounds) {
    const planId = `${record.id}/${epoch}/plan`;
    const plannedAt = inputAt.get(planId) ?? ofOwner(planId).to ?? last;
    if (planned)
      bodies.push({
        kind: 'plan.ready',
        at: Math.max(last, plannedAt),
        epoch,
        fallback,
        tasks: tasks.filter(isPlanned).map(({ id, capability, task, needs }) => ({
          taskId: id,
          capability,
          task,
          needs: needs.map((need) => need.split('/').at(-1) ?? need),
        })),
      });
    const ofTasks: Body[] = [];
    for (const { id, capability, status, confidence, facts, durationMs, failure, call } of tasks) {
      const openedAt = outputAt.get(id) ?? ofOwner(id).from ?? Math.max(last, plannedAt);
      if (status !== 'blocked') ofTasks.push({ kind: 'task.dispatched', at: openedAt, taskId: id, capability, taskClass: '' });
      if (settledWith(status))
        ofTasks.push({
          kind: 'task.settled',
          at: ofOwner(id).to ?? openedAt + (durationMs ?? 0),
          taskId: id,
          capability,
          status,
          confidence,
          facts,
          summary: failure?.message ?? call?.result?.slice(0, 240) ?? '',
          durationMs: durationMs ?? 0,
        });
    }
    const decided: Body[] = record.decisions
      .filter((decision) => decision.epoch === epoch)
      .map(({ rule, sentence, at }) => ({ kind: 'decided', at, epoch, rule, sentence }));
    const inOrder = [...ofTasks, ...decided].sort((one, other) => one.at - other.at);
    bodies.push(...inOrder);
    last = Math.max(last, plannedAt, ...inOrder.map(({ at }) => at));
  }
  if (record.outcome && record.completedAt !== null)
    bodies.push({
      kind: 'run.completed',
      at: record.completedAt,
      outcome: record.outcome,
      rule: record.rule,
      reason: record.reason ?? '',
      reasonCode: record.reasonCode ?? '',
      answer: record.answer,
      cutShort: record.cutShort,
      sources: record.sources,
      usage: record.usage.total,
      rounds: record.roundsUsed,
      failure: record.failure,
    });
  return bodies.map((body, n) => ({ ...body, id: n + 1 }) as StreamEntry);
}
