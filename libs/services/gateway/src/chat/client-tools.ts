import { Inject, Injectable } from '@nestjs/common';
import type { Template } from '@conclave/contracts';
import { isJsonObject, type JsonObject } from '@conclave/ports';
import type { Response } from 'express';
import { mustCall } from './chat-request.js';
import { type Asker, DirectCalls } from './direct-calls.js';
import type { PassedQuestion } from './passed-request.js';

/** Whether the client offers tools that may be called. */
export const offersTools = ({ tools, tool_choice: choice }: JsonObject): boolean =>
  Array.isArray(tools) && tools.length > 0 && choice !== 'none' && !(isJsonObject(choice) && choice['type'] === 'none');

/** Whether a reply in the chat protocol calls a tool. */
export const callsTool = (reply: JsonObject | null): boolean => {
  const choices = Array.isArray(reply?.['choices']) ? (reply['choices'] as readonly unknown[]) : [];
  return choices.some((choice) => {
    const message = isJsonObject(choice) ? choice['message'] : null;
    const calls = isJsonObject(message) ? message['tool_calls'] : null;
    return Array.isArray(calls) && calls.length > 0;
  });
};

/**
 * Tools of a client on a template: they run at the client, so a model has to ask the client for them. `pass_through`: the tool model answers
 * the whole turn. `ask_first`: it is asked whether it calls a tool; if it calls none, or fails, the run answers.
 */
@Injectable()
export class ClientTools {
  constructor(@Inject(DirectCalls) private readonly direct: DirectCalls) {}

  /** Answers on the response and returns true, or returns false: then nothing was written, and a run is to answer. Throws what DirectCalls throws. */
  async answered(
    response: Response,
    { client_tools: mode, tool_model: model }: Template,
    question: PassedQuestion,
    asker: Asker,
  ): Promise<boolean> {
    if (!mode || !model || !offersTools(question.body)) return false;
    if (mode === 'ask_first' && !mustCall(question.body['tool_choice']))
      return this.direct.answerIf(callsTool, response, { ...question, body: whole(question.body) }, model, asker);
    await this.direct.answer(response, question, model, asker);
    return true;
  }
}

/** The body of a call whose reply is looked at before anything is sent. */
const whole = ({ stream_options: _, ...body }: JsonObject): JsonObject => ({ ...body, stream: false });
