import { setImmediate } from 'node:timers/promises';
import { demoProvider, Failure } from '@conclave/contracts';
import { type CallWatch, type ModelCall, type ModelInfo, type ModelReply, type Models, passOver } from '@conclave/ports';

const info: ModelInfo = {
  ref: `conclave-demo@${demoProvider}`,
  model: 'conclave-demo',
  provider: demoProvider,
  context: 100_000,
  price: { input: 0, output: 0 },
  local: true,
  demo: true,
  kind: 'chat',
};

/**
 * One built-in model that needs no network and always returns the same reply to the same prompt. It plays every role of the
 * committee with general rules of English and quotes sentences of the given documents; it has no knowledge of its own.
 */
export function openDemoModels(): Models {
  return {
    list: () => Promise.resolve([info]),
    providers: () =>
      Promise.resolve([
        {
          name: demoProvider,
          reachable: true,
          local: true,
          paid: false,
          note: 'Built-in demo model: quotes documents, knows nothing by itself.',
          maxConcurrency: 8,
        },
      ]),
    call,
    pass: passOver(call),
    close: () => Promise.resolve(),
  };
}

async function call(request: ModelCall, { signal, onDelta }: CallWatch): Promise<ModelReply> {
  if (request.model !== info.ref) throw new Failure('MODEL_NOT_FOUND', `The demo provider has no ${request.model}.`);
  const startedAt = performance.now();
  // Imported on the first call: every process opens the model, few ever call it.
  const { demoReply } = await import('./demo-reply.js');
  const words = untilStop(demoReply(request), request.stop ?? []).match(/\s*\S+|\s+$/g) ?? [];
  const limit = request.maxTokens ?? Infinity;
  let content = '';
  let firstTokenMs: number | null = null;
  for (const [index, word] of words.slice(0, limit).entries()) {
    // Yields, without a delay, so that aborts and readers of the stream can run.
    if (index % 8 === 0) await setImmediate();
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    content += word;
    firstTokenMs ??= Math.round(performance.now() - startedAt);
    onDelta?.({ content: word });
  }
  if (signal.aborted) throw new Failure('CALL_CANCELLED');
  const prompt = request.messages.reduce((sum, message) => sum + wordsIn(message.content), 0);
  return {
    content,
    reasoning: '',
    finishReason: words.length > limit ? 'length' : 'stop',
    usage: { calls: 1, prompt, completion: Math.min(words.length, limit), reasoning: 0, cost: 0, estimated: true },
    reportedModel: info.model,
    firstTokenMs,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** The text before the first of the sequences that end it. */
const untilStop = (text: string, stops: readonly string[]): string => {
  const places = stops.map((stop) => (stop === '' ? -1 : text.indexOf(stop))).filter((place) => place >= 0);
  return text.slice(0, Math.min(text.length, ...places));
};

/** A token of the demo model is a word. */
const wordsIn = (text: string): number => text.match(/\S+/g)?.length ?? 0;
