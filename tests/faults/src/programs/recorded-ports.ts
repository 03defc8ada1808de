import { randomUUID } from 'node:crypto';
import { deadTopic, type Event } from '@conclave/contracts';
import type { Committed, DeadHeaders, DeadRecord, EventLog, PoolChange, Runs, Step, StepTime } from '@conclave/ports';
import { overriding, serviceOfGroup } from '@conclave/platform';
import type { Note, PublishData } from './history-file.js';

/** Where the lines go and which actor they name. */
export interface HistoryTarget {
  readonly note: Note;
  readonly service: string;
}

/** The log, with a line before and after every append of a service. */
export const recordedLog = (log: EventLog, { note, service }: HistoryTarget): EventLog =>
  overriding(log, { publish: (events) => recorded(note, service, publishOf('service', events), () => log.publish(events)) });

/** The same for appends by delivery pools: outputs of handlers, and dead letters. */
export const recordedPool =
  (note: Note, durable: () => Promise<void>): PoolChange =>
  (options) => {
    const service = serviceOfGroup(options.subscription.group);
    return {
      ...options,
      publish: (events) => recorded(note, service, publishOf('delivery', events), () => options.publish(events), durable),
      publishDead: (dead) => recorded(note, service, burialOf(dead), () => options.publishDead(dead)),
    };
  };

/**
 * Runs, with a line for each acceptance. `appends`: committing a step appends its outputs to the log in the same write (embedded mode), so
 * they are recorded between step and write, and again after the write.
 */
export function recordedRuns(
  runs: Runs,
  { note, service }: HistoryTarget,
  { appends, durable }: { readonly appends: boolean; durable(): Promise<void> },
): Runs {
  const commit = async <S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> => {
    const appends: Operation[] = [];
    try {
      const committed = await runs.commit<S>(event, (current, at) => {
        const made = step(current, at);
        if (made && made.outputs.length > 0) appends.push(begin(note, service, publishOf('commit', made.outputs)));
        return made;
      });
      // If a step was computed several times, the last one counts.
      const end = appends.pop();
      if (end) endDurably(end, durable);
      return committed;
    } finally {
      for (const end of appends) end('unknown');
    }
  };
  return overriding(runs, {
    accept: async (request) => {
      const noteAs = (phase: string): void =>
        note({
          actor: service,
          op: 'accept',
          phase,
          id: request.header.runId,
          data: { template: request.header.data.template.id },
        });
      try {
        const accepted = await runs.accept(request);
        noteAs(accepted.kind === 'accepted' ? 'ok' : 'fail');
        return accepted;
      } catch (error) {
        noteAs('unknown');
        throw error;
      }
    },
    ...(appends ? { commit } : {}),
  });
}

type Operation = (phase: 'ok' | 'unknown') => void;

function begin(note: Note, actor: string, data: PublishData): Operation {
  const id = randomUUID();
  const noteAs = (phase: string): void => note({ actor, op: 'publish', phase, id, data });
  noteAs('invoke');
  return noteAs;
}

/** Records an acknowledged write once it is durable; no caller waits for that. */
function endDurably(end: Operation, durable: () => Promise<void>): void {
  void durable().then(
    () => end('ok'),
    () => end('unknown'),
  );
}

/** `durable`: resolves when the acknowledged append is durable; without it, appends are durable immediately. */
async function recorded(
  note: Note,
  actor: string,
  data: PublishData,
  append: () => Promise<void>,
  durable?: () => Promise<void>,
): Promise<void> {
  if (data.events.length === 0) return append();
  const end = begin(note, actor, data);
  try {
    await append();
  } catch (error) {
    end('unknown');
    throw error;
  }
  if (durable) endDurably(end, durable);
  else end('ok');
}

const publishOf = (by: PublishData['by'], events: readonly Event[]): PublishData => ({
  by,
  events: events.map(({ id, type, topic, runId }) => ({ id, type, topic, runId })),
});

function burialOf({ headers }: DeadRecord): PublishData {
  const of = headers as unknown as DeadHeaders;
  const id = `${of['dead-group']}:${of['dead-topic']}/${of['dead-partition']}/${of['dead-offset']}`;
  return { by: 'dead-letter', events: [{ id, type: 'dead-letter', topic: deadTopic, runId: headers['ce_runid'] ?? '' }] };
}
