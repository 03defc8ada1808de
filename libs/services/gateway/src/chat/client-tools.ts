import { Inject, Injectable } from '@nestjs/common';
import type { ClientToolCall, Template } from '@conclave/contracts';
import { isJsonObject, type JsonObject } from '@conclave/ports';
import type { Response } from 'express';
import type { AskTools } from '../runs/checked-request.js';
import { mustCall } from './chat-request.js';
import { type Asker, DirectCalls } from './direct-calls.js';
import type { PassedQuestion } from './passed-request.js';

/** Whether the client offers tools that may be called. */
export const offersTools = ({ tools, tool_choice: choice }: JsonObject): boolean =>
  Array.isArray(tools) && tools.length > 0 && choice !== 'none' && !(isJsonObject(choice) && choice['type'] === 'none');

/** The request without what it says about tools if it offers none: some libraries always require a call, and model servers refuse that. */
export function withoutNoTools(body: JsonObject): JsonObject {
  const { tools, tool_choice: _, parallel_tool_calls: _parallel, ...rest } = body;
  return tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0) ? rest : body;
}

/** Most tool calls in one reply: their number is part of their ids. */
const mostCalls = 128;

/** The id under which a client sends the result of a call, and the run that waits for it. */
const callIdOf = (runId: string, n: number): string => `call_${runId.slice('run_'.length)}_${n}`;
export const runOfCall = (id: unknown): string | null => {
  const found = typeof id === 'string' ? /^call_([A-Za-z0-9]+)_\d{1,3}$/.exec(id) : null;
  return found ? `run_${found[1]}` : null;
};

/**
 * Tools of a client on a template. They run at the client, so a model has to request the call from the client. `pass_through`, or when a tool must
 * be called: the tool model answers the whole turn. `ask_first`: the tool model decides once, as a call of the run, whether to call a tool; if it
 * does, the run waits for the results.
 */
@Injectable()
export class ClientTools {
  constructor(@Inject(DirectCalls) private readonly direct: DirectCalls) {}

  /** The tool model that answers the whole turn; null if a run answers. */
  static passedTo({ client_tools: mode, tool_model: model }: Template, body: JsonObject): string | null {
    if (!mode || !model || !offersTools(body)) return null;
    return mode === 'pass_through' || mustCall(body['tool_choice']) ? model : null;
  }

  /** The call to make before the run of this question starts; undefined if none is needed. */
  asking(template: Template, question: PassedQuestion, { caller }: Asker, response: Response): AskTools | undefined {
    const { client_tools: mode, tool_model: model } = template;
    if (mode !== 'ask_first' || !model || !offersTools(question.body)) return undefined;
    return async (runId) => {
      const { reply, usage } = await this.direct.asked(runId, { ...question, body: whole(question.body) }, model, caller, response);
      const message = messageOf(reply?.body ?? null);
      const calls = callsOf(message, runId);
      const said = message['content'];
      return { model, usage, said: calls.length > 0 && typeof said === 'string' && said !== '' ? said : null, calls };
    };
  }
}

/** The body of a call whose reply is examined before anything is sent. */
const whole = ({ stream_options: _, ...body }: JsonObject): JsonObject => ({ ...body, stream: false });

/** The message of a reply, in the chat protocol. */
function messageOf(reply: JsonObject | null): JsonObject {
  const [choice] = Array.isArray(reply?.['choices']) ? (reply['choices'] as readonly unknown[]) : [];
  const message = isJsonObject(choice) ? choice['message'] : null;
  return isJsonObject(message) ? message : {};
}

function callsOf({ tool_calls: made }: JsonObject, runId: string): ClientToolCall[] {
  const calls = Array.isArray(made) ? made.filter(isJsonObject).slice(0, mostCalls) : [];
  return calls.map(({ id: _, index: _index, ...call }, n) => {
    const named = call['function'] ?? call['custom'];
    const name = isJsonObject(named) ? named['name'] : null;
    return { id: callIdOf(runId, n), name: typeof name === 'string' ? name : 'tool', call: { type: 'function', ...call } };
  });
}
