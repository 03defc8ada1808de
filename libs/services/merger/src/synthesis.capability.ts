import type { TaskInput } from '@conclave/contracts';
import { askModels, failedStatus, LiveText, note, type Calls, type Capability, type ShownIn } from '@conclave/service-calls';
import { citedSources, InsightFilter, readInsight, sourceList, synthesisPrompt, wantsJson } from '@conclave/strategies';

/** One attempt's text on its way to the user: the insight block taken out, sources appended at its end. */
class Showing {
  private readonly filter = new InsightFilter();
  private readonly live: LiveText | null;
  private shown = '';
  block: string | null = null;

  constructor(live: LiveText | null) {
    this.live = live;
  }
  push(text: string): void {
    this.show(this.filter.push(text));
  }
  show(text: string): void {
    this.shown += text;
    this.live?.push(text);
  }
  end(): string {
    const end = this.filter.end();
    this.show(end.shown);
    this.block = end.block;
    return this.shown;
  }
  async flush(): Promise<void> {
    await this.live?.flush();
  }
}

/**
 * `judge.synthesis`: writes the answer. A live one streams as the model produces it; what the user saw is exactly the text of the result.
 * A reply that was already paid for is shown again from its beginning; the run stream keeps only what it does not have yet.
 */
export const synthesisCapability =
  (maker: Calls, stream: ShownIn): Capability =>
  async ({ task, signal, deadline }) => {
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'synthesis' }>;
    const showing = (attempt: number): Showing =>
      new Showing(data.stream === 'live' ? new LiveText(stream, task.runId, data.taskId, attempt) : null);
    let current: { readonly attempt: number; readonly showing: Showing } | null = null;
    const answered = await askModels(maker, {
      runId: task.runId,
      owner: data.taskId,
      purpose: data.capability,
      models: data.models,
      messages: (promptTokens) => synthesisPrompt(input, promptTokens),
      parameters: input.parameters,
      deadline,
      calls: data.allowance.calls,
      tokens: data.allowance.tokens,
      cost: data.allowance.cost,
      contexts: data.contexts,
      prices: data.prices,
      signal,
      onContent: (text, attempt) => {
        if (current?.attempt !== attempt) current = { attempt, showing: showing(attempt) };
        current.showing.push(text);
      },
    });
    if (answered.kind === 'busy') return { deferMs: answered.retryInMs };
    const { usage, attempt, records } = answered;
    if (answered.kind === 'cancelled')
      return { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), usage, attempt }, records };
    if (answered.kind === 'failed')
      return { result: { status: failedStatus(answered.failure), failure: answered.failure, usage, attempt }, records };
    let shown = (current as { attempt: number; showing: Showing } | null)?.showing;
    // A text that nobody has seen yet is the reply as its adapter cleaned it.
    if (!shown || answered.replayed || data.stream === 'held') {
      shown = showing(attempt);
      shown.push(answered.reply.content);
    }
    const written = shown.end();
    const blankAtEnd = Math.min(2, written.length - written.trimEnd().length);
    const cited = citedSources(written, input.facts);
    if (!wantsJson(input)) shown.show(sourceList(cited).slice(blankAtEnd));
    const text = shown.end();
    await shown.flush();
    if (text.trim() === '')
      return {
        result: {
          status: 'error',
          failure: note('PROVIDER_REPLY_INVALID', 'The model gave an empty answer.'),
          usage,
          attempt,
          model: answered.model,
        },
        records,
      };
    const { insight, rejected } = readInsight(shown.block);
    return {
      result: {
        status: 'ok',
        output: { kind: 'synthesis', text, insight, insightRejected: rejected, cutShort: answered.reply.finishReason === 'length' },
        sources: cited.map(({ n, source }) => ({ ...source, n })),
        model: answered.model,
        usage,
        attempt,
      },
      records,
    };
  };
