import { estimateTokens, Failure, type Usage } from '@conclave/contracts';
import { chunksOf, type CallWatch, type JsonObject, type ModelReply } from '@conclave/ports';
import { textsOfPart } from './content-parts.js';
import { finishOf } from './finish-reasons.js';
import { OpenAiForm } from './openai-form.js';
import { takeUnopenedThinking, ThinkSplitter } from './think-splitter.js';

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);
const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0);

/** A message about the reply, not a part of it: a ping, or what LocalAI says of tools that it calls itself. */
const isAside = (chunk: unknown): boolean =>
  isObject(chunk) && typeof chunk['type'] === 'string' && !('choices' in chunk) && !('usage' in chunk) && !('object' in chunk);

/** Names and arguments of tool calls. */
const calledText = (calls: unknown): string =>
  Array.isArray(calls)
    ? calls
        .filter(isObject)
        .map(({ function: called }) => (isObject(called) ? `${called['name'] ?? ''}${called['arguments'] ?? ''}` : ''))
        .join('')
    : '';

/** Most characters of a reply; a server that sends more would never stop. */
const longestReply = 8_000_000;

/** Callbacks for the parts of a reply. */
export interface ReplyWatch {
  readonly onDelta?: CallWatch['onDelta'] | undefined;
  readonly onFirstText: () => void;
  /** Receives chunks in the form of OpenAI, for a client's own request. */
  readonly passed?: { readonly choices: number; readonly usage: boolean; readonly onChunk: ((chunk: JsonObject) => void) | null };
}

/** Assembles a reply from chunks or one body, and passes text on as it arrives. */
export class ReplyReader {
  /** Whether part of the reply was passed on; then a failed call is not retried. */
  streamed = false;
  /** Whether text, thinking or a tool call has arrived. */
  begun = false;
  finished = false;
  /** A passed reply that arrived whole, not in chunks. */
  body: JsonObject | null = null;
  hasUsage = false;
  /** Whether the reply began with thinking whose opening tag was in the prompt; known once it is complete. */
  beganInThinking = false;
  private readonly splitter: ThinkSplitter;
  private readonly form = new OpenAiForm();
  private content = '';
  private reasoning = '';
  private finish: ModelReply['finishReason'] = 'unknown';
  private reportedModel: string | null = null;
  private usage = { prompt: 0, completion: 0, reasoning: 0 };
  /** Finished choices; one unless the client asked for more. */
  private readonly ended = new Set<unknown>();
  /** Tokens outside the answer text: tool calls, and choices after the first. */
  private beside = 0;

  constructor(
    private readonly provider: string,
    private readonly watch: ReplyWatch,
    /** Whether the reply is expected to begin inside thinking that the prompt opened. */
    unopenedThinking = false,
  ) {
    this.splitter = new ThinkSplitter(unopenedThinking);
  }

  /** Takes a chunk of a stream. Throws PROVIDER_REPLY_INVALID for an unknown shape. */
  chunk(chunk: unknown): void {
    if (isAside(chunk)) return;
    this.take(chunk, 'delta');
    if (this.watch.passed) for (const shown of this.form.chunk(chunk as JsonObject)) this.giveOut(shown);
  }

  /** The server ended the stream. */
  done(): void {
    if (this.watch.passed) for (const shown of this.form.end()) this.giveOut(shown);
  }

  /** Passes a chunk on, without usage that only we requested. */
  private giveOut(chunk: JsonObject): void {
    const { passed } = this.watch;
    if (!passed?.onChunk) return;
    const { usage, ...rest } = chunk;
    if (!passed.usage && usage && Array.isArray(rest['choices']) && rest['choices'].length === 0) return;
    this.streamed = true;
    passed.onChunk(passed.usage || usage === undefined ? chunk : rest);
  }

  /** Takes a whole reply. */
  whole(reply: unknown): void {
    if (!isObject(reply) || !Array.isArray(reply['choices']) || reply['choices'].length === 0)
      throw this.invalid('a reply without `choices`');
    this.take(reply, 'message');
    this.finished = true;
    const { passed } = this.watch;
    if (!passed) return;
    const shown = this.form.whole(reply);
    if (passed.onChunk) for (const chunk of chunksOf(shown, passed.usage)) this.giveOut(chunk);
    else this.body = shown;
  }

  private take(message: unknown, part: 'delta' | 'message'): void {
    if (!isObject(message)) throw this.invalid('a chunk that is not an object');
    if (typeof message['model'] === 'string' && message['model'] !== '') this.reportedModel = message['model'];
    this.readUsage(message['usage']);
    const { choices } = message;
    if (choices === undefined || choices === null) {
      if (message['usage'] === undefined && !('object' in message) && !('id' in message)) throw this.invalid('a chunk without `choices`');
      return;
    }
    if (!Array.isArray(choices)) throw this.invalid('`choices` that is not a list');
    for (const choice of choices.filter(isObject)) this.takeChoice(choice, part);
  }

  /** The answer text is that of the first choice; others are only passed on. */
  private takeChoice(choice: Loose, part: 'delta' | 'message'): void {
    const body = isObject(choice[part]) ? choice[part] : isObject(choice['message']) ? choice['message'] : {};
    const { index = 0, finish_reason: reason } = choice;
    if (index === 0) this.text(body);
    else if (typeof body['content'] === 'string') this.beside += estimateTokens(body['content']);
    const called = calledText(body['tool_calls']);
    this.beside += estimateTokens(called);
    if (called !== '') this.first();
    if (typeof reason !== 'string' || reason === '') return;
    this.ended.add(index);
    if (index === 0) this.finish = finishOf(reason);
    this.finished = this.ended.size >= (this.watch.passed?.choices ?? 1);
  }

  private text(body: Loose): void {
    // Some servers send the same thinking under both names.
    const thinking = [body['reasoning_content'], body['reasoning'], body['thinking']].find(
      (value) => typeof value === 'string' && value !== '',
    );
    if (typeof thinking === 'string') this.separated(thinking);
    const { content } = body;
    if (typeof content === 'string') this.split(content);
    else if (Array.isArray(content)) {
      for (const part of content) {
        const texts = textsOfPart(part);
        if (texts?.thinking) this.separated(texts.thinking);
        if (texts?.text) this.split(texts.text);
      }
    }
  }

  /** Thinking that the server sent beside the text. */
  private separated(thinking: string): void {
    for (const piece of this.splitter.separated()) this.emit(piece.kind, piece.text);
    this.emit('reasoning', thinking);
  }

  private split(text: string): void {
    for (const piece of this.splitter.push(text)) this.emit(piece.kind, piece.text);
    // The splitter may still hold the text, but it has arrived.
    if (text !== '') this.first();
  }

  private emit(kind: 'content' | 'reasoning', text: string): void {
    if (text === '') return;
    this.first();
    this[kind] += text;
    if (this.content.length + this.reasoning.length > longestReply) throw this.invalid(`more than ${longestReply} characters`);
    this.watch.onDelta?.({ [kind]: text });
  }

  private first(): void {
    this.streamed = true;
    if (this.begun) return;
    this.begun = true;
    this.watch.onFirstText();
  }

  private readUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const details = usage['completion_tokens_details'];
    const seen = {
      prompt: count(usage['prompt_tokens']),
      completion: count(usage['completion_tokens']),
      reasoning: count(isObject(details) ? details['reasoning_tokens'] : undefined),
    };
    // Some servers send zeros until they know the counts.
    if (seen.prompt === 0) return;
    this.usage = seen;
    this.hasUsage = true;
  }

  private invalid(what: string): Failure {
    return new Failure('PROVIDER_REPLY_INVALID', `Provider ${this.provider} sent ${what}.`);
  }

  /** The complete reply; `estimatedPrompt` is used when the server sent no usage. */
  reply(estimatedPrompt: number): Pick<ModelReply, 'content' | 'reasoning' | 'finishReason' | 'reportedModel'> & { readonly usage: Usage } {
    for (const piece of this.splitter.end()) this.emit(piece.kind, piece.text);
    const usage = this.spent(estimatedPrompt);
    const { content, reasoning } = takeUnopenedThinking(this.content);
    this.beganInThinking = this.splitter.closedUnopened || content !== this.content;
    return { content, reasoning: this.reasoning + reasoning, finishReason: this.finish, reportedModel: this.reportedModel, usage };
  }

  /** Tokens so far, also for a call that failed midway. */
  spent(estimatedPrompt: number): Usage {
    const thought = this.reasoning === '' ? 0 : estimateTokens(this.reasoning);
    if (!this.hasUsage) {
      const completion = thought + estimateTokens(this.content) + this.beside;
      return { calls: 1, prompt: estimatedPrompt, completion, reasoning: thought, cost: 0, estimated: true };
    }
    const { prompt, completion, reasoning } = this.usage;
    return { calls: 1, prompt, completion, reasoning: reasoning || Math.min(thought, completion), cost: 0, estimated: false };
  }
}
