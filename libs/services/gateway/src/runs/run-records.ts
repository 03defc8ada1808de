import { Inject, Injectable } from '@nestjs/common';
import {
  type CallBodies,
  type CallRecorded,
  type Caller,
  Failure,
  type RunRecord,
  type RunRecordList,
  type StepRecorded,
} from '@conclave/contracts';
import { EVENT_LOG, type EventLog } from '@conclave/ports';
import { DetailReads } from '../audit/detail-reads.js';
import { recordedOf } from './recorded.js';
import { RunDirectory } from './run-directory.js';

/** Most characters of a prompt or a reply in one response. */
const mostCharacters = 100_000;

/** Steps and calls of runs, as recorded in the audit. */
@Injectable()
export class RunRecords {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(DetailReads) private readonly reads: DetailReads,
  ) {}

  /** Every step and call of a run of the caller's tenant, by time. `mayRead`: whether the caller may see bodies. Throws RUN_NOT_FOUND, RUN_ERASED. */
  async list(id: string, caller: Caller, mayRead: boolean): Promise<RunRecordList> {
    const { runId } = await this.runs.header(id, caller);
    const { steps, calls } = await recordedOf(this.log, runId);
    const latest = new Map<string, number>();
    for (const { data } of calls) latest.set(data.step, Math.max(data.attempt, latest.get(data.step) ?? 0));
    const data: RunRecord[] = [
      ...steps.map((step) => stepOf(step)),
      ...calls.map((call) => callOf(call, call.data.attempt < latest.get(call.data.step)!, mayRead)),
    ];
    return { object: 'list', runId, data: data.sort((one, other) => timeOf(one) - timeOf(other)) };
  }

  /**
   * Prompt and reply of one call. The read is recorded on the audit before they are returned. Throws RUN_NOT_FOUND, RUN_ERASED, DETAIL_NOT_ALLOWED,
   * REQUEST_INVALID, CALL_NOT_FOUND.
   */
  async bodies(id: string, caller: Caller, mayRead: boolean, step: string | null, attempt: number): Promise<CallBodies> {
    const { runId } = await this.runs.header(id, caller);
    if (!mayRead)
      throw new Failure(
        'DETAIL_NOT_ALLOWED',
        'This API key may not see prompts and raw replies. An auditor, an admin or a key with `detail: full` may.',
      );
    if (step === null)
      throw new Failure('REQUEST_INVALID', '`step` names the call. GET the records of the run to list them.', { param: 'step' });
    const { calls } = await recordedOf(this.log, runId);
    const call = calls.find(({ data }) => data.step === step && data.attempt === attempt);
    if (!call || !isKept(call)) throw new Failure('CALL_NOT_FOUND');
    await this.reads.ofRun(runId, caller);
    const [request, reply] = [textOf(call.data.request), textOf(call.data.reply)];
    return {
      object: 'run.call',
      ...{ runId, step, attempt },
      request: request.slice(0, mostCharacters),
      reply: reply.slice(0, mostCharacters),
      cut: request.length > mostCharacters || reply.length > mostCharacters,
    };
  }
}

const timeOf = (record: RunRecord): number => (record.kind === 'step' ? record.at : record.startedAt);

const isKept = ({ data: { request, reply } }: CallRecorded): boolean => request !== null || reply !== null;

const textOf = (body: unknown): string => (typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body, null, 2));

const stepOf = ({ data: { version, now, input, rule, ruleSentence, outputs } }: StepRecorded): RunRecord => ({
  kind: 'step',
  step: version,
  at: now,
  type: input.type,
  eventId: input.id,
  rule,
  sentence: ruleSentence,
  outputs: outputs.map(({ type, id }) => ({ type, id })),
});

function callOf(call: CallRecorded, superseded: boolean, mayRead: boolean): RunRecord {
  const { step, attempt, purpose, model, reportedModel, status, startedAt, durationMs, firstTokenMs, usage, failure, retries, repeated } =
    call.data;
  return {
    kind: 'call',
    id: call.id,
    owner: step.replace(/\/call\/\d+$/, ''),
    ...{ step, attempt, purpose, model, reportedModel, status, superseded, startedAt, durationMs, firstTokenMs, usage, failure },
    retries: retries?.length ?? 0,
    ...(repeated === undefined ? {} : { repeated }),
    bodies: !isKept(call) ? 'not_kept' : mayRead ? 'readable' : 'forbidden',
  };
}
