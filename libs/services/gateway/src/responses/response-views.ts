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
import { chatUsage, citations } from '../chat/chat-shapes.js';
import { RunDirectory } from '../runs/run-directory.js';
import { failureIn, messageItem, type ResponseEnd, responseOf, textPart, usageOf } from './response-object.js';
import type { Loose } from './responses-request.js';
import { type StoredResponse, StoredResponses } from './stored-responses.js';

/** Stored responses as they are now, from the record of their run. */
@Injectable()
export class ResponseViews {
  constructor(
    @Inject(StoredResponses) private readonly stored: StoredResponses,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
  ) {}

  /** Throws RESPONSE_NOT_FOUND, also when the run has expired, STORE_*. */
  async view(id: string, caller: Caller): Promise<ResponseObject> {
    const stored = await this.stored.read(caller.tenant, id);
    return responseOf(stored.head, await this.endOf(stored, caller));
  }

  /** Messages that a response which follows this one begins with. Throws RESPONSE_NOT_FOUND, REQUEST_INVALID while it is not finished. */
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

  private async endOf({ runId, head, end }: StoredResponse, caller: Caller): Promise<ResponseEnd> {
    if (runId === null) return end ?? { status: 'failed', output: [], usage: null };
    const view = await this.runs.view(runId, caller).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'RUN_NOT_FOUND' ? new Failure('RESPONSE_NOT_FOUND') : error;
    });
    const status = statusOf(view);
    // A question of the run ends its turn, as in the chat API.
    const text = view.terminal ? view.answer : (view.waitsFor?.question ?? null);
    const hasText = text !== null && (status === 'completed' || status === 'incomplete');
    const output = hasText ? [messageItem(head.id, status, [textPart(text, citations(view.sources, text))])] : [];
    const usage = view.terminal || hasText ? usageOf(chatUsage(view.usage.total)) : null;
    return {
      status,
      output,
      usage,
      ...(status === 'failed' ? { failure: failureOf(view) } : {}),
      ...(view.terminal ? { facts: factsOf(view) } : {}),
    };
  }
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

const factsOf = ({ id, outcome, rule, reason, rounds, usage }: RunView): NonNullable<ResponseObject['conclave']> => ({
  run_id: id,
  outcome: outcome ?? 'failed',
  rule,
  reason: reason ?? '',
  rounds: rounds.length,
  calls: usage.total.calls,
  cost: usage.total.cost,
});

/** The answer as messages of the chat protocol. */
function answered(output: ResponseEnd['output']): readonly Loose[] {
  const text = output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => part.text) : [])).join('');
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } }] : [],
  );
  if (text === '' && calls.length === 0) return [];
  return [{ role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}
