import {
  AnswerParameters,
  ChatCompletionRequest,
  type ChatMessage,
  type Complexity,
  type ConclaveOptions,
  Failure,
  limitNames,
  type PlanRequested,
  promptMarks,
  RunRequest,
  type RunLimits,
  type Template,
  type QuotedDocument,
  type TextMessage,
} from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import { type GivenPart, isFlat, markedText, readContent } from '../attachments/content-parts.js';
import { checkFormat, strictSchema } from '../answers/answer-schema.js';
import { parseBody } from '../http/request-shape.js';
import { withoutThinking } from './history-text.js';
import { takenApart } from './taken-apart.js';
import { cacheOption, checkHeaders, fromHeaders, keepAliveOption, type RequestHeaders } from './option-headers.js';

export type ProgressMode = Template['progress'];

/** The question of a request, from either endpoint. */
export interface ClientQuestion {
  readonly model: string;
  readonly goal: string;
  readonly conversation: readonly TextMessage[];
  /** All system and developer messages in order; null without any. */
  readonly system: string | null;
  /** Documents that the question or the words of its front end quote; the goal and `system` are without them. */
  readonly documents: readonly QuotedDocument[];
  /** Documents that earlier turns quote, the newest first; the conversation has marks in their place. */
  readonly earlier: readonly QuotedDocument[];
  /** Parts of messages other than text; a template takes those it can read. */
  readonly given: readonly GivenPart[];
  readonly answer: AnswerParameters;
  readonly options: RequestOptions;
  /** The skill that wrote the goal; absent when the goal is the user's own words. */
  readonly skill?: PlanRequested['data']['skill'];
}
/** Options of the caller that override the template. */
export interface RequestOptions {
  /** Most re-plans; null uses the template's limit. */
  readonly rounds: number | null;
  readonly limits: Partial<RunLimits>;
  /** Complexity of the question; null leaves it to the template or to the wording of the question. */
  readonly complexity: Complexity | null;
  readonly progress: ProgressMode | null;
  /** Whether the run's events hold prompts and raw replies; null uses the default of the key. */
  readonly detail: 'redacted' | 'full' | null;
  /** False: no cache is read or written. */
  readonly cache: boolean;
  /** Who is notified of the end of the run: a configured webhook or an address; null uses the template's. */
  readonly webhook: RunRequest['webhook'] | null;
}
export interface ChatQuestion extends ClientQuestion {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Whether white space is sent while an answer that is not streamed is awaited; null: as configured. */
  readonly keepAlive: boolean | null;
  /** The content is parsed by a program (`tools`, `response_format`, not streamed), so it may contain only the answer. */
  readonly answerOnly: boolean;
  /** System message behind the last answer: what the front end wants, since its user has said nothing more; null without one, or with tools. */
  readonly behindAnswer: string | null;
}

const effortRounds: Readonly<Record<string, number>> = { none: 0, minimal: 0, low: 1, medium: 2 };
/** Most tools in one request. */
const mostTools = 512;

/** Throws REQUEST_INVALID with the name of the field. */
export function parseChatRequest(body: Record<string, unknown>): ChatCompletionRequest {
  if (Array.isArray(body.tools) && body.tools.length > mostTools)
    throw new Failure('REQUEST_INVALID', `At most ${mostTools} tools are allowed.`, { param: 'tools' });
  return parseBody(ChatCompletionRequest, body);
}

/** Throws REQUEST_INVALID with the name of the field and a remedy. */
export function readChatRequest(request: ChatCompletionRequest, headers: RequestHeaders, maxMessages: number): ChatQuestion {
  if (typeof request.n === 'number' && request.n !== 1) {
    throw new Failure(
      'REQUEST_INVALID',
      'A template returns one answer: leave `n` out or set it to 1, and send the request again for another answer.',
      { param: 'n' },
    );
  }
  checkFormat(request.response_format);
  const question = readQuestion(request.model, request.messages, request, headers, maxMessages);
  checkTools(request);
  const stream = request.stream ?? false;
  const hasTools = (request.tools?.length ?? 0) > 0;
  return {
    ...question,
    stream,
    includeUsage: request.stream_options?.include_usage ?? false,
    keepAlive: request.conclave?.keep_alive_json ?? keepAliveOption(headers),
    answerOnly: !stream || hasTools || question.answer.response_format !== undefined,
    behindAnswer: hasTools ? null : instructionBehindAnswer(request.messages),
  };
}

/** Whether the last message is the beginning of the answer, which its client wants continued. */
export function beginsAnswer(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'assistant' && readContent(last).text.trim() !== '';
}

/** Throws REQUEST_INVALID for a request whose answer is begun: a run answers a message of the user. */
export function refuseBegunAnswer(messages: readonly ChatMessage[]): void {
  if (beginsAnswer(messages))
    throw new Failure(
      'REQUEST_INVALID',
      'The last message is the beginning of an answer, which only a call while its client waits continues: leave it out, or use `POST /v1/chat/completions`.',
      { param: 'messages' },
    );
}

/** The last message, if it is a system message that follows an answer. */
function instructionBehindAnswer(messages: readonly ChatMessage[]): string | null {
  const [before, last] = messages.slice(-2);
  if (before?.role !== 'assistant' || (last?.role !== 'system' && last?.role !== 'developer')) return null;
  return readContent(last).text.trim() || null;
}

/** Whether a tool must be called, so that a run could not answer. */
export const mustCall = (choice: unknown): boolean =>
  choice === 'required' || (isJsonObject(choice) && choice['type'] !== 'none' && choice['type'] !== 'auto');

/**
 * A template that ignores the client's tools leaves optional ones out; a required one throws REQUEST_INVALID.
 */
function checkTools({ tool_choice: choice }: ChatCompletionRequest): void {
  if (mustCall(choice))
    throw new Failure(
      'REQUEST_INVALID',
      'This template does not call the tools of its client, so none can be required. Leave out `tool_choice`, set its `client_tools`, or ask a model directly as model@provider.',
      { param: 'tool_choice' },
    );
}

/** Throws REQUEST_INVALID. */
export function readRunRequest(body: Record<string, unknown>, headers: RequestHeaders, maxMessages: number): ClientQuestion {
  const request = parseBody(RunRequest, body);
  checkHeaders(headers);
  checkFormat(request.response_format);
  if (request.response_format && strictSchema({ response_format: request.response_format }))
    throw new Failure(
      'REQUEST_INVALID',
      'The answer of a run is not checked against a schema. Use `POST /v1/chat/completions`, `POST /v1/responses` with `background`, or set `strict` to false.',
      { param: 'response_format' },
    );
  if (request.messages && typeof request.input === 'string')
    throw new Failure('REQUEST_INVALID', 'Send either `input` or `messages`: add the question to `messages` as the last one.', {
      param: 'input',
    });
  const messages = request.messages ?? (typeof request.input === 'string' ? [{ role: 'user' as const, content: request.input }] : null);
  if (messages === null) throw new Failure('REQUEST_INVALID', 'Send `input` with the question, or `messages`.', { param: 'input' });
  refuseBegunAnswer(messages);
  return readQuestion(request.model, messages, request, headers, maxMessages);
}

type AnswerFields = Omit<RunRequest, 'model' | 'input' | 'messages'>;

function readQuestion(
  model: string,
  messages: readonly ChatMessage[],
  request: AnswerFields,
  headers: RequestHeaders,
  maxMessages: number,
): ClientQuestion {
  if (messages.length > maxMessages)
    throw new Failure('REQUEST_INVALID', `At most ${maxMessages} messages are allowed; leave out the oldest.`, { param: 'messages' });
  const texts = messages.map((message) => {
    const { text, ...parts } = readContent(message);
    return { role: message.role, text: message.role === 'assistant' ? withoutThinking(text) : text, ...parts };
  });
  const last = texts.findLastIndex(({ role }) => role === 'user');
  if (last < 0)
    throw new Failure('REQUEST_INVALID', 'No message has the role "user": add the question as the last message.', { param: 'messages' });
  for (const [index, { others }] of texts.entries())
    for (const [at, part] of others)
      if (!isFlat(part))
        throw new Failure('REQUEST_INVALID', 'The part is nested too deeply.', { param: `messages[${index}].content[${at}]` });
  const { goal, documents, earlier, system, typed } = takenApart(texts, last);
  // An image without text is a valid question.
  if (goal.trim() === '' && texts[last]!.others.length === 0)
    throw new Failure('REQUEST_INVALID', 'The last user message has no text: put the question there.', {
      param: `messages[${last}].content`,
    });
  const marked = texts.map(({ role, text, others }, at) => ({ role, text: markedText({ text: typed[at] ?? text, others }) }));
  const conversation = marked
    .slice(0, last)
    .flatMap(({ role, text }): TextMessage[] => (isTurn(role) && text !== '' ? [{ role, content: text }] : []));
  // The results of the client's tools for this question come after it.
  const results = marked
    .slice(last + 1)
    .flatMap(({ role, text }): TextMessage[] =>
      role === 'tool' && text !== '' ? [{ role: 'assistant', content: `${promptMarks.clientTool}\n${text}` }] : [],
    );
  return {
    model,
    goal,
    conversation: [...conversation, ...results],
    system: system.length > 0 ? system.join('\n\n') : null,
    documents,
    earlier,
    given: texts.flatMap(({ role, others }, index) =>
      others.map(([at, part]): GivenPart => ({ part, role, param: `messages[${index}].content[${at}]`, asked: index === last })),
    ),
    answer: answerParameters(request),
    options: readWishes(request, headers),
  };
}

const isTurn = (role: ChatMessage['role']): role is TextMessage['role'] => role === 'user' || role === 'assistant';

function answerParameters(request: AnswerFields): AnswerParameters {
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop;
  const format = request.response_format;
  const entries = {
    temperature: request.temperature,
    top_p: request.top_p,
    stop: stop && stop.length > 0 ? stop : null,
    // Some clients send -1 for "no limit".
    max_tokens: [request.max_completion_tokens, request.max_tokens].find((limit) => typeof limit === 'number' && limit !== -1),
    seed: request.seed,
    response_format: format && format.type !== 'text' ? format : null,
  };
  return AnswerParameters.parse(Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== null && value !== undefined)));
}

function readWishes(request: AnswerFields, headers: RequestHeaders): RequestOptions {
  const options = { ...fromHeaders(headers), ...withoutAbsent(request.conclave ?? {}) };
  const byEffort = typeof request.reasoning_effort === 'string' ? (effortRounds[request.reasoning_effort] ?? null) : null;
  const limits = Object.fromEntries(limitNames.flatMap((name) => (typeof options[name] === 'number' ? [[name, options[name]]] : [])));
  return {
    rounds: options.rounds ?? byEffort,
    limits,
    complexity: options.complexity ?? null,
    progress: options.progress ?? null,
    detail: options.detail ?? null,
    cache: request.conclave?.cache ?? cacheOption(headers),
    webhook: request.webhook ?? options.webhook ?? null,
  };
}

const withoutAbsent = (options: ConclaveOptions): ConclaveOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null && value !== undefined)) as ConclaveOptions;

/** The template and limits of this request's run: options can only lower a limit. */
export function applyLimits(template: Template, wishes: RequestOptions): { readonly template: Template; readonly limits: RunLimits } {
  const limits = { ...template.limits };
  for (const name of limitNames) {
    const wish = wishes.limits[name];
    if (typeof wish === 'number') limits[name] = Math.min(limits[name] ?? Number.POSITIVE_INFINITY, wish);
  }
  const rounds = Math.min(template.max_agentic_rounds, wishes.rounds ?? template.max_agentic_rounds);
  return { template: { ...template, max_agentic_rounds: rounds }, limits };
}

/** How progress is shown. When the content may hold only the answer, `think` becomes `none`. */
export function progressMode(question: ChatQuestion, template: Template): ProgressMode {
  const mode = question.options.progress ?? template.progress;
  if (!question.stream) return 'none';
  return mode === 'think' && question.answerOnly ? 'none' : mode;
}
