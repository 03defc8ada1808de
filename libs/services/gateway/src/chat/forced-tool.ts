import { isJsonObject, type JsonObject } from '@conclave/ports';
import type { AnswerShape, AnswerWriter } from './answer-shape.js';
import { namedAsSent } from './chat-fields.js';
import type { ChunkFrame } from './chat-shapes.js';

/** The function that a request must call, in the chat protocol. */
interface ForcedTool {
  readonly name: string;
  readonly description?: unknown;
  readonly parameters: JsonObject;
}

/**
 * The only function that a request may answer with; null if it may answer otherwise, or if the function takes no object. Libraries for structured
 * output send their schema as such a function.
 */
function forcedTool({ tools, tool_choice: choice }: JsonObject): ForcedTool | null {
  const all = (Array.isArray(tools) ? tools.filter(isJsonObject) : []).flatMap(({ type, function: declared }) =>
    type === 'function' && isJsonObject(declared) ? [declared] : [],
  );
  const named =
    isJsonObject(choice) && choice['type'] === 'function' && isJsonObject(choice['function']) ? choice['function']['name'] : null;
  const tool = choice === 'required' && all.length === 1 ? all[0] : named === null ? undefined : all.find(({ name }) => name === named);
  const { name, description, parameters } = tool ?? {};
  if (typeof name !== 'string' || !isJsonObject(parameters) || parameters['type'] !== 'object') return null;
  return { name, ...(typeof description === 'string' ? { description } : {}), parameters };
}

/**
 * The question for a run. If the client requires a call of one function, the run answers with its arguments, and the client gets a call of it.
 */
export function asAnswer<Q extends { readonly body: JsonObject; readonly shape: AnswerShape }>(question: Q): Q {
  const tool = forcedTool(question.body);
  return tool ? { ...question, body: withSchema(question.body, tool), shape: callingTool(question.shape, tool) } : question;
}

/** The request with the arguments of the function as the schema of its answer. */
function withSchema(body: JsonObject, { name, description, parameters }: ForcedTool): JsonObject {
  const { tools: _, tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = body;
  return {
    ...rest,
    response_format: { type: 'json_schema', json_schema: { name, ...(description ? { description } : {}), schema: parameters } },
  };
}

/** A shape in which the answer of a run is a call of the function. */
function callingTool(shape: AnswerShape, { name }: ForcedTool): AnswerShape {
  const idOf = ({ id }: ChunkFrame): string => `call_${id.slice(shape.prefix.length)}`;
  return {
    ...shape,
    differs: true,
    writer: (frame) => new CallWriter(shape.writer(frame), { id: idOf(frame), name }),
    whole: (completion, frame) => shape.whole(asCall(completion, { id: idOf(frame), name }), frame),
    ended: async (frame, completion) => shape.ended?.(frame, completion && asCall(completion, { id: idOf(frame), name })),
    named: (failure) => namedAsSent(failure, { body: {}, paths: [], names: { 'response_format.json_schema.schema': 'tools' } }),
  };
}

interface Call {
  readonly id: string;
  readonly name: string;
}

/** Arguments are an object; a question of the run to its user is not. */
const areArguments = (text: string): boolean => text.trimStart().startsWith('{');

const finished = (reason: unknown): unknown => (reason === 'stop' ? 'tool_calls' : reason);

/** A whole answer as a call. */
function asCall(completion: JsonObject, { id, name }: Call): JsonObject {
  const [choice] = Array.isArray(completion['choices']) ? (completion['choices'] as readonly unknown[]) : [];
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return completion;
  const { content, annotations: _, ...message } = choice['message'];
  if (typeof content !== 'string' || !areArguments(content)) return completion;
  const call = { id, type: 'function', function: { name, arguments: content } };
  return {
    ...completion,
    choices: [{ ...choice, message: { ...message, content: null, tool_calls: [call] }, finish_reason: finished(choice['finish_reason']) }],
  };
}

/** Turns the text of an answer into the arguments of one call. */
class CallWriter implements AnswerWriter {
  /** Null before the first text. */
  private calls: boolean | null = null;

  constructor(
    private readonly writer: AnswerWriter,
    private readonly made: Call,
  ) {}

  open = (): string => this.writer.open();
  done = (): string => this.writer.done();
  fail: AnswerWriter['fail'] = (failure) => this.writer.fail(failure);

  chunk: AnswerWriter['chunk'] = (chunk) => {
    const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as readonly unknown[]) : [];
    if (!isJsonObject(choice) || !isJsonObject(choice['delta'])) return this.writer.chunk(chunk);
    const { content, annotations: _, ...delta } = choice['delta'];
    const text = typeof content === 'string' ? content : '';
    const begins = text !== '' && this.calls === null;
    if (begins) this.calls = areArguments(text);
    if (this.calls !== true) return this.writer.chunk(chunk);
    const { id, name } = this.made;
    const head = begins ? { id, type: 'function' } : {};
    const call = { index: 0, ...head, function: { ...(begins ? { name } : {}), arguments: text } };
    return this.writer.chunk({
      ...chunk,
      choices: [
        {
          ...choice,
          delta: { ...delta, ...(text === '' ? {} : { tool_calls: [call] }) },
          finish_reason: finished(choice['finish_reason']),
        },
      ],
    });
  };
}
