import { randomUUID } from 'node:crypto';
import type { ScriptedReply } from './script.js';

type Message = Readonly<Record<string, unknown>>;
interface Call {
  readonly id?: string;
  readonly function: { readonly name: string };
  readonly extra_content?: Readonly<Record<string, { readonly thought_signature?: string }>>;
}
const callsOf = ({ tool_calls: calls }: Message): readonly Call[] => (Array.isArray(calls) ? (calls as Call[]) : []);

type Answer = Extract<ScriptedReply, { status: number }> & { readonly headers: Readonly<Record<string, string>>; readonly body: string };
const json = (status: number, body: unknown): Answer => ({
  ...{ status, headers: { 'content-type': 'application/json' } },
  body: JSON.stringify(body),
});

/** How a stream brings the signature of a call. */
export type Signing = 'with the call' | 'behind it' | 'behind its pieces';

/**
 * A server that checks signatures as Google documents for Gemini 3: in the current turn, the first call of each message of the model needs a
 * signature that this server has given out, or one of the two documented placeholders. It calls `look` until a turn has `steps` results.
 * The sentences are those of the Gemini API and of Vertex AI.
 */
export class Gemini {
  /** Messages of each request. */
  readonly seen: (readonly Message[])[] = [];
  readonly given = new Set<string>();

  constructor(
    private readonly options: { readonly steps?: number; readonly at?: string; readonly atOnce?: number; readonly signing?: Signing } = {},
  ) {}

  /** The reply to the body of a request. */
  reply({ messages, stream }: Readonly<Record<string, unknown>>): Answer {
    const asked = messages as readonly Message[];
    this.seen.push(asked);
    const refusal = this.refusal(asked);
    if (refusal !== null) return json(400, [{ error: { code: 400, message: refusal, status: 'INVALID_ARGUMENT' } }]);
    const { steps = 1, atOnce = 1 } = this.options;
    const turn = asked.slice(asked.findLastIndex(({ role }) => role === 'user'));
    const calls = turn.filter((message) => callsOf(message).length > 0).length < steps ? this.calls(atOnce) : [];
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    if (stream !== true) {
      const message = { role: 'assistant', ...(calls.length > 0 ? { tool_calls: calls } : { content: 'It is red.' }) };
      return json(200, { choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }], usage });
    }
    const deltas = calls.length > 0 ? calls.flatMap((call) => this.pieces(call)) : [{ content: 'It is red.' }];
    const chunks = [...deltas.map((delta) => [delta, null]), [{}, 'stop']].map(([delta, finish_reason]) => ({
      choices: [{ index: 0, delta, finish_reason }],
      object: 'chat.completion.chunk',
    }));
    const body = `${[...chunks, { choices: [], usage }].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
  }

  private calls(atOnce: number) {
    return Array.from({ length: atOnce }, (_, at) => {
      // As long as after some thinking.
      const signature = `${randomUUID()}${'+/'.repeat(4_000)}==`;
      if (at === 0) this.given.add(signature);
      const extra = at === 0 ? { extra_content: { [this.options.at ?? 'google']: { thought_signature: signature } } } : {};
      return {
        ...extra,
        function: { arguments: `{"at":${at}}`, name: 'look' },
        id: `function-call-${at}${randomUUID()}`,
        type: 'function',
      };
    });
  }

  private pieces({ extra_content: extra, ...call }: ReturnType<Gemini['calls']>[number]): readonly object[] {
    const signed = extra ? [{ tool_calls: [{ extra_content: extra }] }] : [];
    switch (this.options.signing) {
      case 'behind it':
        return [{ tool_calls: [call] }, ...signed];
      case 'behind its pieces': {
        const { name, arguments: text } = call.function;
        const first = { ...call, function: { name, arguments: text.slice(0, 3) } };
        return [{ tool_calls: [first] }, { tool_calls: [{ function: { arguments: text.slice(3) } }] }, ...signed];
      }
      default:
        return [{ tool_calls: [extra ? { extra_content: extra, ...call } : call] }];
    }
  }

  private refusal(messages: readonly Message[]): string | null {
    const from = messages.findLastIndex(({ role }) => role === 'user');
    for (const [at, message] of messages.entries()) {
      const [first] = callsOf(message);
      if (at < from || !first) continue;
      const signature = first.extra_content?.[this.options.at ?? 'google']?.thought_signature;
      if (signature === undefined) {
        const name = `function call \`default_api:${first.function.name}\``;
        return this.options.at === 'vertex'
          ? `Unable to submit request because ${name} in the ${at + 1}. content block is missing a \`thought_signature\`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures`
          : `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, ${name}, position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
      }
      if (!this.given.has(signature) && !['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].includes(signature))
        return this.options.at === 'vertex'
          ? 'Unable to submit request because Thought signature is not valid'
          : 'Corrupted thought signature.';
    }
    return null;
  }
}
