import type { ServerResponse } from 'node:http';
import type { ScriptedChunk, ScriptedReply, ScriptedRequest, ScriptedUsage } from './script.js';

/** How sending a reply ended: `finished` (sent whole), `cut` (by the script) or `left` (by the caller). */
export type Ending = 'finished' | 'cut' | 'left';

/** How sending a reply ended, and the tokens that a real server would have used up to that point. */
export interface Sent {
  readonly ending: Ending;
  readonly usage: ScriptedUsage;
}

const estimate = (text: string): number => Math.ceil(text.length / 4);
const promptTokens = ({ messages }: ScriptedRequest): number =>
  estimate(messages.map((message) => JSON.stringify(message.content)).join(''));
const textOfChunks = (chunks: readonly ScriptedChunk[]): string =>
  chunks.map((chunk) => `${chunk.reasoning ?? ''}${chunk.text ?? ''}`).join('');

/** Sends one scripted reply in the shape of an OpenAI-compatible server. Settles when nothing more will be sent. */
export async function writeReply(response: ServerResponse, request: ScriptedRequest, reply: ScriptedReply): Promise<Sent> {
  // A refused call costs nothing; for any other, at least the prompt was read.
  if ('status' in reply) return { ending: await send(response, request, reply, []), usage: { prompt_tokens: 0, completion_tokens: 0 } };
  const written: ScriptedChunk[] = [];
  const ending = await send(response, request, reply, written);
  const scripted = ending === 'finished' && 'usage' in reply ? reply.usage : null;
  return { ending, usage: scripted ?? { prompt_tokens: promptTokens(request), completion_tokens: estimate(textOfChunks(written)) } };
}

/** `written` receives the chunks that were produced, whether sent or not. */
async function send(response: ServerResponse, request: ScriptedRequest, reply: ScriptedReply, written: ScriptedChunk[]): Promise<Ending> {
  const left = new Promise<'left'>((resolve) => response.once('close', () => resolve('left')));
  if ('hang' in reply) return left;
  if ('status' in reply) {
    response.writeHead(reply.status, {
      'content-type': typeof reply.body === 'string' ? 'text/plain' : 'application/json',
      ...reply.headers,
    });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
    return 'finished';
  }
  const chunks = chunksOf(reply);
  if (!request.stream) return writeWhole(response, request, reply, { chunks, written, left });

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const put = (value: unknown): void => void response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  put(chunkOf(request, { role: 'assistant', content: '' }));
  for (const chunk of chunks) {
    if ((await waitFor(chunk, left)) === 'left') return 'left';
    written.push(chunk);
    put(
      chunkOf(request, {
        ...(chunk.reasoning !== undefined ? { reasoning_content: chunk.reasoning } : {}),
        ...(chunk.text !== undefined ? { content: chunk.text } : {}),
      }),
    );
  }
  if ('stallAfter' in reply) return left;
  if ('truncateAfter' in reply) {
    if (reply.cleanly) response.end();
    // The chunks must have left before the socket is reset.
    else response.write('', () => response.destroy());
    return 'cut';
  }
  put(chunkOf(request, {}, reply.finish ?? 'stop'));
  const usage = usageOf(request, reply, chunks);
  if (usage && (request.body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage)
    put({ ...chunkOf(request, {}), choices: [], usage });
  put('[DONE]');
  response.end();
  return 'finished';
}

const chunksOf = (reply: Exclude<ScriptedReply, { status: number } | { hang: true }>): readonly ScriptedChunk[] => {
  if ('stallAfter' in reply) return reply.stallAfter;
  if ('truncateAfter' in reply) return reply.truncateAfter;
  if ('chunks' in reply) return reply.chunks;
  const texts = reply.words ? (reply.text.match(/\s*\S+|\s+$/g) ?? []) : [reply.text];
  return [...(reply.reasoning === undefined ? [] : [{ reasoning: reply.reasoning }]), ...texts.map((text) => ({ text }))];
};

/** A server that is asked for a whole reply sends nothing before it is complete, so a stall or a cut comes before the head. */
async function writeWhole(
  response: ServerResponse,
  request: ScriptedRequest,
  reply: Exclude<ScriptedReply, { status: number } | { hang: true }>,
  {
    chunks,
    written,
    left,
  }: { readonly chunks: readonly ScriptedChunk[]; readonly written: ScriptedChunk[]; readonly left: Promise<'left'> },
): Promise<Ending> {
  for (const chunk of chunks) {
    if ((await waitFor(chunk, left)) === 'left') return 'left';
    written.push(chunk);
  }
  if ('stallAfter' in reply) return left;
  if ('truncateAfter' in reply) {
    response.destroy();
    return 'cut';
  }
  const reasoning = chunks.map((chunk) => chunk.reasoning ?? '').join('');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: `chatcmpl-${request.n}`,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: chunks.map((chunk) => chunk.text ?? '').join(''),
            ...(reasoning ? { reasoning_content: reasoning } : {}),
          },
          finish_reason: reply.finish ?? 'stop',
        },
      ],
      usage: usageOf(request, reply, chunks) ?? undefined,
    }),
  );
  return 'finished';
}

async function waitFor(chunk: ScriptedChunk, left: Promise<'left'>): Promise<'left' | 'sent'> {
  if (chunk.when) {
    const turn = await Promise.race([left, chunk.when.then(() => 'sent' as const)]);
    if (turn === 'left') return 'left';
  }
  if (!chunk.afterMs) return 'sent';
  let timer: NodeJS.Timeout | undefined;
  const turn = await Promise.race([left, new Promise<'sent'>((resolve) => (timer = setTimeout(() => resolve('sent'), chunk.afterMs)))]);
  clearTimeout(timer);
  return turn;
}

const chunkOf = (request: ScriptedRequest, delta: object, finish: string | null = null): object => ({
  id: `chatcmpl-${request.n}`,
  object: 'chat.completion.chunk',
  created: Math.floor(Date.now() / 1000),
  model: request.model,
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** The usage in the script; null sends none; if absent, a quarter of the characters. */
function usageOf(
  request: ScriptedRequest,
  reply: { readonly usage?: ScriptedUsage | null },
  chunks: readonly ScriptedChunk[],
): (ScriptedUsage & { total_tokens: number }) | null {
  if (reply.usage === null) return null;
  const usage = reply.usage ?? {
    prompt_tokens: promptTokens(request),
    completion_tokens: estimate(textOfChunks(chunks)),
  };
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}
