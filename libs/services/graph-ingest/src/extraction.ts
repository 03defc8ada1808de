import { ingestId, type Event, type RunCompleted } from '@conclave/contracts';
import type { Logger, Metrics } from '@conclave/platform';
import type { Triple } from '@conclave/ports';
import { askModels, type Calls, type WorkState } from '@conclave/calls';
import { readTriples, triplesPrompt } from './triples.js';

/** Milliseconds that extracting from one answer may take, including the wait for a slot. */
const timeoutMs = 120_000;
/** Most model calls for one answer, failed ones included: what a run teaches is not worth more. */
const mostCalls = 2;
/** Tokens of prompt and reply together: the prompt has at most 2,000, eight triples have about 500, and some models think first. */
const mostTokens = 8_000;

export interface ExtractionParts {
  readonly state: Pick<WorkState, 'now'>;
  readonly maker: Calls;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'count'>;
}

export type Extracted =
  | { readonly kind: 'read'; readonly triples: readonly Triple[]; readonly records: readonly Event[] }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/**
 * Asks a model of the run what its answer teaches, through the journal: a reply is paid once, however often the record is redelivered.
 * An unusable or missing reply is counted, logged without its text, and not requested again.
 */
export async function extractTriples(
  { state, maker, logger, metrics }: ExtractionParts,
  event: RunCompleted,
  answer: string,
  signal: AbortSignal,
): Promise<Extracted> {
  const { runId } = event;
  const { question, sources, learning } = event.data;
  const answered = await askModels(maker, {
    runId,
    owner: ingestId(runId),
    purpose: 'graph.triples',
    models: learning.models,
    messages: triplesPrompt({ question, answer, sources }),
    contexts: learning.contexts,
    prices: learning.prices,
    temperature: 0,
    deadline: (await state.now()) + timeoutMs,
    calls: mostCalls,
    tokens: mostTokens,
    afterRun: true,
    signal,
  });
  if (answered.kind === 'busy') return answered;
  const { records } = answered;
  const counted = (outcome: 'ok' | 'empty' | 'unusable' | 'failed'): void => metrics.count('graph_extractions_total', { outcome });
  if (answered.kind !== 'answer') {
    counted('failed');
    const code = answered.kind === 'failed' ? answered.failure.code : 'CALL_CANCELLED';
    logger.warn('No model extracted triples from a run: the knowledge graph does not get them.', { run: runId, code });
    return { kind: 'read', triples: [], records };
  }
  const { triples, dropped, unusable } = readTriples(answered.reply.content);
  counted(unusable ? 'unusable' : triples.length > 0 ? 'ok' : 'empty');
  if (unusable)
    logger.warn('A reply contained no usable triples: the knowledge graph does not get them.', {
      run: runId,
      model: answered.model,
      reason: unusable,
    });
  else if (dropped > 0) logger.info('Items of a reply were not triples and were left out.', { run: runId, model: answered.model, dropped });
  return { kind: 'read', triples, records };
}
