import { defaultRepetitionLimit, Failure, type Service, type Usage } from '@conclave/contracts';
import type { Logger, Probe } from '@conclave/platform';
import type { CallMessage, ModelReply, Models } from '@conclave/ports';
import type { JournalledModelCall } from './calls.js';
import { HeardReply } from './heard-reply.js';
import { spentBy } from './usage.js';

/** What a running call reports. */
export interface Running {
  readonly signal: AbortSignal;
  /** Called if the call has to wait for others of its provider, which gets this many at a time. */
  waits(atATime: number): void;
  /** Awaited right before the request. Throws Overtaken if another process has begun the step again. */
  making(): Promise<void>;
  /** Called when the request is sent: from then on it may cost something, and a repeat of a dead process's request is counted. */
  sent(): void;
  arrived(text: string): void;
  retried(retry: { readonly code: string; readonly afterMs: number }): void;
}

export interface BoundedCallParts {
  readonly models: Models;
  readonly logger: Logger;
  readonly probe: Probe;
  readonly service: Service;
  /** Characters of a reply that may repeat the same text before its call is ended; 0: any number. Absent: the default of the configuration. */
  readonly repetitionLimit?: number;
}

/** Calls a model. Ends the call if its reply becomes longer than allowed or repeats itself; the text before that is then the reply. */
export async function boundedCall(
  { models, logger, probe, service, repetitionLimit = defaultRepetitionLimit }: BoundedCallParts,
  call: JournalledModelCall,
  messages: readonly CallMessage[],
  running: Running,
  timeoutMs: number,
): Promise<ModelReply> {
  const heard = new HeardReply(
    call.maxReplyTokens ?? Number.POSITIVE_INFINITY,
    repetitionLimit,
    call.onContent,
    () => messages.map(({ content }) => content).join('\n'),
    call.request.wishedFormat !== undefined,
  );
  // Aborted with the call, or alone to cut a reply. `AbortSignal.any` costs three times as much and leaves weak references behind.
  const cut = new AbortController();
  const stop = (): void => cut.abort(running.signal.reason);
  const from = performance.now();
  const cutShort = (usage: Usage): ModelReply => {
    const reply = heard.cutShort(usage, performance.now() - from);
    const { repeated } = reply;
    const { runId: run, purpose } = call;
    if (repeated) logger.warn('A model repeated itself; its call was ended.', { run, model: call.request.model, purpose, repeated });
    return reply;
  };
  await running.making();
  probe.reached(service, 'before-call', call.owner);
  // A call that was cancelled in the meantime is not sent: nothing is paid or counted.
  if (running.signal.aborted) throw new Failure('CALL_CANCELLED');
  running.sent();
  running.signal.addEventListener('abort', stop, { once: true });
  try {
    const reply = await models.call(
      { ...call.request, messages, timeoutMs },
      {
        signal: cut.signal,
        onDelta: (delta) => {
          if (cut.signal.aborted) return;
          running.arrived(`${delta.content ?? ''}${delta.reasoning ?? ''}`);
          heard.push(delta);
          probe.reached(service, 'mid-stream', call.owner);
          if (heard.cut) cut.abort();
        },
        onRetry: (retry) => {
          running.retried(retry);
          logger.warn('A model call is retried.', {
            run: call.runId,
            code: retry.code,
            attempt: retry.attempt,
            waitMs: retry.afterMs,
          });
        },
      },
    );
    if (heard.cut) return cutShort(reply.usage);
    heard.end();
    const { reply: whole, removed } = heard.whole(reply);
    if (removed > 0)
      logger.warn('A model copied its prompt behind its answer; the copy was left out.', {
        ...{ run: call.runId, model: call.request.model, purpose: call.purpose, removed },
      });
    return whole;
  } catch (error) {
    if (!heard.cut || running.signal.aborted || !(error instanceof Failure)) throw error;
    return cutShort(spentBy(error, call.request.messages, heard.arrived));
  } finally {
    running.signal.removeEventListener('abort', stop);
  }
}
