import { childRunId, deadTopic, depthOf, specOf, type AnyEvent, type TaskDispatched, type Usage } from '@conclave/contracts';
import { runCapability } from '@conclave/loop';
import { short } from '@conclave/platform';
import { isErased, type EventLog, type StoredRecord } from '@conclave/ports';
import { byRunFirst, RunRange } from '@conclave/replay';
import { localTask } from './run-printer.js';

interface Moment {
  /** When the log accepted it, in milliseconds since 1970. */
  readonly at: number;
  /** When it was created, in milliseconds since 1970; orders records that the log accepted at once. */
  readonly made: number;
  readonly columns: readonly [type: string, way: string, summary: string];
}

/**
 * Every record of a run and of its child runs in these topics, one line each, in log order: time since the first one, type, sender and
 * receivers, and a summary. Those of a child run are indented by its generation and name the task that started it. Includes undecodable
 * records, marked as such.
 */
export async function timelineOf(log: Pick<EventLog, 'read'>, topics: readonly string[], runId: string): Promise<readonly string[]> {
  const moments: Moment[] = [];
  const asked = [runId];
  // Child runs are added while the list is walked.
  for (const id of asked) {
    const range = new RunRange([id]);
    for (const topic of byRunFirst(topics))
      for await (const record of log.read(topic, range.of(topic))) {
        const { event, headers } = record;
        if ((event?.runId ?? headers['ce_runid'] ?? headers['ce_partitionkey']) !== id) continue;
        range.saw(record);
        const child = topic === deadTopic ? null : childOf(event);
        if (child !== null && !asked.includes(child)) asked.push(child);
        const columns = indented(columnsOf(record), id, runId);
        moments.push({ at: record.appendedAt, made: event?.time ?? record.appendedAt, columns });
      }
  }
  moments.sort((a, b) => a.at - b.at || a.made - b.made);
  const start = moments[0]?.at ?? 0;
  const width = (column: 0 | 1) => Math.max(0, ...moments.map(({ columns }) => columns[column].length));
  const widths = [width(0), width(1)] as const;
  return moments.map(({ at, columns: [type, way, summary] }) =>
    `${`+${((at - start) / 1000).toFixed(3)} s`.padStart(12)}  ${type.padEnd(widths[0])}  ${way.padEnd(widths[1])}  ${summary}`.trimEnd(),
  );
}

/** The run that this record asks for. */
const childOf = (event: StoredRecord['event']): string | null =>
  event?.type === 'TaskDispatched' && (event as TaskDispatched).data.capability === runCapability ? childRunId(event.id) : null;

function indented([type, way, summary]: Moment['columns'], runId: string, root: string): Moment['columns'] {
  if (runId === root) return [type, way, summary];
  return [`${'  '.repeat(depthOf(runId) - depthOf(root))}${type}`, way, said(runId.slice(root.length), summary)];
}

function columnsOf(record: StoredRecord): Moment['columns'] {
  const { event, headers, topic, partition, offset, raw } = record;
  const dead = topic === deadTopic && headers['dead-topic'] !== undefined;
  const type = `${dead ? 'dead:' : ''}${short(event?.type ?? headers['ce_type'] ?? 'unknown', 40)}`;
  const from = short(event?.source ?? headers['ce_source'] ?? 'unknown', 40);
  const to = dead ? 'people' : (event && specOf(event.type)?.to.join(', ')) || 'unknown';
  const said = [
    ...(dead
      ? [`${headers['dead-reason']} in ${headers['dead-group']} after ${headers['dead-attempts']} attempts, of ${headers['dead-topic']}`]
      : []),
    isErased({ headers })
      ? `erased: ${raw.length} bytes are left at ${topic}/${partition}/${offset}`
      : event
        ? summaryOf(event as AnyEvent)
        : `cannot be decoded: ${raw.length} bytes at ${topic}/${partition}/${offset}${headers['ce_id'] ? `, id ${headers['ce_id']}` : ''}`,
  ];
  return [type, `${from} -> ${to}`, short(said.join(': '), 400)];
}

const spent = ({ calls, prompt, completion, cost, estimated }: Usage): readonly string[] =>
  calls === 0
    ? []
    : [
        `${calls} ${calls === 1 ? 'call' : 'calls'}`,
        `${prompt + completion} tokens${estimated ? ' (estimated)' : ''}`,
        ...(cost > 0 ? [`cost ${cost.toFixed(4)}`] : []),
      ];

const said = (...parts: readonly (string | null | readonly string[])[]): string =>
  parts
    .flat()
    .filter((part) => part !== null && part !== '')
    .join(' · ');

function summaryOf(event: AnyEvent): string {
  switch (event.type) {
    case 'PlanRequested':
      return said(`template ${event.data.template.id} (${event.data.template.strategy})`, short(event.data.goal, 100));
    case 'PlanCreated': {
      const { epoch, tasks, failure, fallback, usage } = event.data;
      const plan = tasks.map(({ id, capability }) => `${id} ${capability}`).join(', ');
      return said(`round ${epoch + 1}`, failure ? short(failure.message, 100) : plan, fallback ? 'fallback plan' : null, spent(usage));
    }
    case 'TaskDispatched':
      return said(`round ${event.data.epoch + 1}`, localTask(event.data.taskId), event.data.capability, event.data.models.join(', '));
    case 'ResultReady': {
      const { taskId, epoch, status, failure, model, attempt, usage } = event.data;
      const result = failure ? short(failure.message, 100) : null;
      return said(`round ${epoch + 1}`, localTask(taskId), status, result, model, attempt > 0 ? `attempt ${attempt}` : null, spent(usage));
    }
    case 'GapDetected':
      return said(`iteration ${event.data.iteration}/${event.data.max}`, short(event.data.gap, 100));
    case 'CommandIssued':
      return said(
        `${event.data.command.name} by ${event.data.actor}`,
        'reason' in event.data.command ? short(event.data.command.reason, 100) : null,
      );
    case 'TimerFired':
      return said(`arm ${event.data.arm}`, event.data.tasks.map(({ taskId }) => localTask(taskId)).join(', '));
    case 'RunCompleted':
      return said(event.data.outcome, event.data.rule, short(event.data.reason, 100), spent(event.data.usage));
    case 'KnowledgeProposed':
      return said(event.data.kind, `by ${event.data.actor}`);
    case 'StepRecorded': {
      const { version, input, rule, ruleSentence, outputs } = event.data;
      const out = outputs.map(({ type }) => type).join(', ') || 'nothing';
      return said(`step ${version} on ${input.type} returned ${out}`, rule && `${rule} ${short(ruleSentence ?? '', 100)}`);
    }
    case 'CallRecorded': {
      const { purpose, model, status, attempt, usage, durationMs, failure } = event.data;
      return said(purpose, model, status, failure && short(failure.message, 100), `attempt ${attempt}`, `${durationMs} ms`, spent(usage));
    }
    case 'LetterSettled':
      return said(
        `letter ${event.data.letter} was ${event.data.action} by ${event.data.actor}`,
        event.data.note && short(event.data.note, 100),
      );
    case 'RunErased':
      return said(`deleted by ${event.data.actor}`);
    case 'DetailRead':
      return said(`${event.data.what} of ${event.data.run ?? 'all runs'} read by ${event.data.actor}`);
    case 'SettingChanged':
      return said(event.data.setting, `by ${event.data.actor}`);
  }
}
