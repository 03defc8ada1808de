import { Failure, type Usage } from '@conclave/contracts';
import { Repetition } from '@conclave/calls/repetition';
import type { Logger } from '@conclave/platform';
import type { JsonObject, Models, PassedReply, PassedRequest, PassWatch } from '@conclave/ports';
import { usedBy } from './call-records.js';
import { finishChunk, usageChunk, type ChunkFrame } from './chat-shapes.js';

interface Parts {
  readonly models: Pick<Models, 'pass'>;
  /** Characters that may repeat the same text; 0: any number. */
  readonly limit: number;
  readonly logger: Logger;
}

/** Reads one kind of text of a reply from the character `limit` on: most replies are shorter and cost nothing. */
class Heard {
  text = '';
  private repetition: Repetition | null = null;
  constructor(private readonly limit: number) {}

  /** Returns the characters that were repeated if the limit is reached, otherwise 0. */
  push(piece: string | undefined): number {
    if (!piece) return 0;
    this.text += piece;
    if (this.text.length <= this.limit) return 0;
    this.repetition ??= new Repetition(this.limit);
    this.repetition.push(piece);
    return this.repetition.found;
  }
}

/**
 * Passes a client's request on. Ends the call of a streamed reply that repeats itself for `limit` characters, which would otherwise go on until
 * its limit of tokens: the reply then has `repeated`, its usage is estimated, and no chunk says that it has ended. A whole reply cannot be
 * read before its end, and of several choices one may still be good: both are only passed on.
 */
export async function unlessRepeating({ models, limit, logger }: Parts, request: PassedRequest, watch: PassWatch): Promise<PassedReply> {
  const { onChunk, signal } = watch;
  const { n } = request.body;
  if (!onChunk || limit === 0 || (typeof n === 'number' && n > 1)) return models.pass(request, watch);
  const [content, reasoning] = [new Heard(limit), new Heard(limit)];
  const cut = new AbortController();
  const stop = (): void => cut.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const from = performance.now();
  let repeated = 0;
  try {
    const reply = await models.pass(request, {
      ...watch,
      signal: cut.signal,
      onDelta: (delta) => (repeated ||= content.push(delta.content) || reasoning.push(delta.reasoning)),
      // The piece that reached the limit is still shown.
      onChunk: (chunk) => {
        if (cut.signal.aborted) return;
        onChunk(chunk);
        if (repeated > 0) cut.abort();
      },
    });
    return reply;
  } catch (error) {
    if (repeated === 0 || signal.aborted || !(error instanceof Failure) || error.code !== 'CALL_CANCELLED') throw error;
    logger.warn('A model repeated itself; its call was ended.', { model: request.model, purpose: 'direct', repeated });
    return {
      ...{ content: content.text, reasoning: reasoning.text, finishReason: 'repetition', repeated, usage: usedBy(error), body: null },
      ...{ reportedModel: null, firstTokenMs: null, durationMs: Math.round(performance.now() - from) },
    };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The chunks that end a stream whose model repeated itself. `usage`: null if the client did not ask for it. */
export const repetitionEnd = (frame: ChunkFrame, usage: Usage | null): readonly JsonObject[] =>
  [finishChunk(frame, 'length'), ...(usage ? [usageChunk(frame, usage)] : [])] as unknown as readonly JsonObject[];
