import { Inject, Injectable } from '@nestjs/common';
import {
  type Caller,
  Failure,
  type FailureCode,
  failures,
  type ResponseObject,
  type ResponseStatus,
  type RunView,
} from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import { strictSchema } from '../answers/answer-schema.js';
import { KeptSchema } from '../answers/kept-schema.js';
import { completedOf } from '../chat/run-responses.js';
import { chatUsage, citations } from '../chat/chat-shapes.js';
import { RunDirectory } from '../runs/run-directory.js';
import { chatName } from './namespaced-tools.js';
import { failureIn, messageItem, type ResponseEnd, type ResponseHead, responseOf, textPart, usageOf } from './response-object.js';
import { formatOf, type Loose } from './responses-request.js';
import { type StoredResponse, StoredResponses } from './stored-responses.js';

/** A response and its progress. */
export interface Standing {
  readonly stored: StoredResponse;
  readonly end: ResponseEnd;
}

/** Stored responses in their current state, from the records of their runs. */
@Injectable()
export class ResponseViews {
  constructor(
    @Inject(StoredResponses) private readonly stored: StoredResponses,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(KeptSchema) private readonly kept: KeptSchema,
  ) {}

  /** Answers that are being converted to their schema, by the id of their response. */
  private readonly fitting = new Map<string, Promise<ResponseEnd>>();

  /** Throws RESPONSE_NOT_FOUND, also when the run has expired, STORE_*. */
  async view(id: string, caller: Caller): Promise<ResponseObject> {
    const { stored, end } = await this.standing(id, caller);
    return responseOf(stored.head, end);
  }

  /** As `view`, returning the parts separately. */
  async standing(id: string, caller: Caller): Promise<Standing> {
    const stored = await this.stored.read(caller.tenant, id);
    return { stored, end: await this.endOf(stored, caller) };
  }

  /** Messages with which a response that follows this one begins. Throws RESPONSE_NOT_FOUND, REQUEST_INVALID while it is not finished. */
  async continued(id: string, caller: Caller): Promise<readonly Loose[]> {
    const param = 'previous_response_id';
    const stored = await this.stored.read(caller.tenant, id, param);
    const { output, status } = await this.endOf(stored, caller);
    if (status === 'queued' || status === 'in_progress')
      throw new Failure('REQUEST_INVALID', 'The previous response is still in progress: wait until it is completed, or cancel it.', {
        param,
      });
    return [...stored.messages, ...answered(output)];
  }

  private async endOf(stored: StoredResponse, caller: Caller): Promise<ResponseEnd> {
    const { runId, head, end } = stored;
    if (end) return end;
    if (runId === null) return { status: 'failed', output: [], usage: null };
    const view = await this.runs.view(runId, caller).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'RUN_NOT_FOUND' ? new Failure('RESPONSE_NOT_FOUND') : error;
    });
    const schema = view.terminal ? strictSchema({ response_format: formatOf(head.text.format) }) : null;
    return schema ? this.fitted(stored, view, schema, caller) : endOfRun(head, view);
  }

  /**
   * The end of a run whose answer must match a schema. Possibly no client waited for it, so it is converted when it is first read and the
   * result is stored: the model call is paid once.
   */
  private fitted(stored: StoredResponse, view: RunView, schema: JsonObject, caller: Caller): Promise<ResponseEnd> {
    const { id } = stored.head;
    const begun = this.fitting.get(id) ?? this.fit(stored, view, schema, caller).finally(() => this.fitting.delete(id));
    this.fitting.set(id, begun);
    return begun;
  }

  private async fit(stored: StoredResponse, view: RunView, schema: JsonObject, caller: Caller): Promise<ResponseEnd> {
    // Charged to the owner of the response, whoever reads it.
    const { template, answer, caller: payer } = (await this.runs.header(view.id, caller)).data;
    const { signal } = new AbortController();
    const fitted = await this.kept.fit(completedOf(view), { runId: view.id, schema, answer, template, caller: payer, signal });
    const { outcome, usage, failure } = fitted;
    const end = endOfRun(stored.head, { ...view, outcome, answer: fitted.answer, failure, usage: { ...view.usage, total: usage } });
    // A response that was deleted meanwhile is not stored again.
    await this.stored.read(caller.tenant, stored.head.id);
    await this.stored.keep(caller.tenant, { ...stored, end });
    if (await this.runs.erased(view.id, caller)) await this.stored.remove(caller.tenant, stored.head.id);
    return end;
  }
}

/** The end of a response, from the record of its run. */
function endOfRun(head: ResponseHead, view: RunView): ResponseEnd {
  const status = statusOf(view);
  // A question of the run ends its turn, as in the chat API.
  const text = view.terminal ? view.answer : (view.waitsFor?.question ?? null);
  const hasText = text !== null && (status === 'completed' || status === 'incomplete');
  const output = hasText ? [messageItem(head.id, status, [textPart(text, citations(view.sources, text))])] : [];
  const usage = view.terminal || hasText ? usageOf(chatUsage(view.usage.total)) : null;
  return {
    status,
    completedAt: view.completedAt,
    output,
    usage,
    ...(status === 'failed' ? { failure: failureOf(view) } : {}),
    ...(view.terminal ? { facts: factsOf(view) } : {}),
  };
}

function statusOf({ terminal, outcome, answer, cutShort, waitsFor, status }: RunView): ResponseStatus {
  if (!terminal) return waitsFor ? 'completed' : status === 'accepted' ? 'queued' : 'in_progress';
  if (outcome === 'cancelled') return 'cancelled';
  if (outcome === 'failed' || answer === null) return 'failed';
  return cutShort ? 'incomplete' : 'completed';
}

function failureOf({ failure, reason }: RunView): NonNullable<ResponseEnd['failure']> {
  if (failure && failure.code in failures)
    return { code: failureIn(new Failure(failure.code as FailureCode)).code, message: failure.message };
  return failureIn(new Failure('RUN_FAILED', failure?.message ?? reason ?? undefined));
}

const factsOf = ({ id, outcome, rule, reason, roundsUsed, usage }: RunView): NonNullable<ResponseObject['conclave']> => ({
  run_id: id,
  outcome: outcome ?? 'failed',
  rule,
  reason: reason ?? '',
  rounds: roundsUsed,
  calls: usage.total.calls,
  cost: usage.total.cost,
});

/** The answer as messages of the chat protocol. */
function answered(output: ResponseEnd['output']): readonly Loose[] {
  const text = output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => part.text) : [])).join('');
  const calls = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, type: 'function', function: { name: chatName(item.name, item.namespace), arguments: item.arguments } }]
      : [],
  );
  if (text === '' && calls.length === 0) return [];
  return [{ role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}
