import { Inject, Injectable } from '@nestjs/common';
import { addUsage, type AnswerParameters, Failure, type RunCompletedEntry, type Template } from '@conclave/contracts';
import type { Caller, Usage } from '@conclave/contracts';
import { type JsonObject, MODELS, type Models } from '@conclave/ports';
import { CallRecords } from '../chat/call-records.js';
import { withoutThinking } from '../chat/history-text.js';
import { asFailure } from '../http/failure-response.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { fitOf, strictSchema } from './answer-schema.js';

/** Makes every answer satisfy the requested schema, whether the composer, one expert or a cache wrote it. */
@Injectable()
export class KeptSchema {
  constructor(
    @Inject(MODELS) private readonly models: Models,
    @Inject(CallRecords) private readonly records: CallRecords,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
  ) {}

  /** Returns null when the answer can be streamed as it is written. */
  of(answer: AnswerParameters): JsonObject | null {
    return strictSchema(answer);
  }

  /**
   * Returns the end of the run with an answer that satisfies the schema, repaired by one model call if needed, or without an answer
   * and with ANSWER_NOT_IN_SCHEMA. An answer cut at its length limit stays as it is; its finish reason says so.
   */
  async fit(
    end: RunCompletedEntry,
    asked: {
      readonly runId: string;
      readonly schema: JsonObject;
      readonly answer: AnswerParameters;
      readonly template: Template;
      readonly caller: Caller;
      readonly signal: AbortSignal;
    },
  ): Promise<RunCompletedEntry> {
    if (end.answer === null || end.outcome === 'cancelled' || end.outcome === 'failed' || end.cutShort) return end;
    const first = await fitOf(end.answer, asked.schema);
    if ('text' in first) return { ...end, answer: first.text };
    const repaired = await this.repaired(end.answer, first.problem, asked);
    const usage = addUsage(end.usage, repaired.usage);
    const second = repaired.text === null ? first : await fitOf(repaired.text, asked.schema);
    if ('text' in second) return { ...end, usage, answer: second.text };
    const { code, message } = new Failure('ANSWER_NOT_IN_SCHEMA', second.problem);
    return { ...end, usage, answer: null, outcome: 'failed', failure: { code, message, retriable: false } };
  }

  private async repaired(
    answer: string,
    problem: string,
    { runId, schema, answer: parameters, template, caller, signal }: Parameters<KeptSchema['fit']>[1],
  ): Promise<{ readonly text: string | null; readonly usage: Usage }> {
    const model = template.judge.models[0]!;
    const body = {
      messages: [
        {
          role: 'system',
          content: `Write the given answer as one JSON value that keeps this JSON Schema, and nothing else. Take every value from the answer.\n${JSON.stringify(schema)}`,
        },
        { role: 'user', content: `${answer}\n\nWhat was wrong with it as it stands: ${problem}` },
      ],
      temperature: 0,
      response_format: parameters.response_format,
      stream: false,
    };
    const call = { model, body, purpose: 'schema', startedAt: Date.now(), caller };
    try {
      const reply = await this.models.pass({ model, body, timeoutMs: this.limits.directTimeoutMs }, { signal });
      await this.records.record(runId, call, reply, null);
      return { text: withoutThinking(reply.content), usage: reply.usage };
    } catch (error) {
      const failure = asFailure(error);
      await this.records.record(runId, call, null, failure);
      return { text: null, usage: { calls: 1, prompt: 0, completion: 0, reasoning: 0, cost: 0, estimated: true } };
    }
  }
}
