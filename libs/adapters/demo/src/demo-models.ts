import { setImmediate } from 'node:timers/promises';
import { demoProvider, Failure } from '@conclave/contracts';
import { type CallMessage, type CallWatch, type ModelCall, type ModelInfo, type ModelReply, type Models, passOver } from '@conclave/ports';
import { demoLabel } from './answering/wording.js';
import { promptText, roleOf } from './prompt-reader.js';
import { questionIn } from './reading/conversation.js';
import { assess } from './roles/assessor.js';
import { compose } from './roles/composer.js';
import { consult } from './roles/expert.js';
import { plan } from './roles/planner.js';
import { utility } from './roles/utility.js';

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

/**
 * The demo model's whole reply to a prompt. Throws PROVIDER_REFUSED for a direct call that asks for JSON of a schema.
 */
export function demoReply({ messages, responseFormat }: Pick<ModelCall, 'messages' | 'responseFormat'>): string {
  const prompt = promptText(messages);
  switch (roleOf(messages)) {
    case 'planner':
      return plan(prompt, questionIn(prompt, messages));
    case 'expert':
      return consult(prompt, questionIn(prompt, messages));
    case 'assessor':
      return assess(prompt);
    case 'composer':
      return compose(
        prompt,
        questionIn(prompt, messages),
        responseFormat !== undefined && responseFormat['type'] !== 'text' ? responseFormat : null,
      );
    // It finds sentences but extracts nothing from them.
    case 'learner':
      return '[]';
    case 'other':
      if (responseFormat?.['type'] === 'json_schema')
        throw new Failure('PROVIDER_REFUSED', 'The built-in demo model writes JSON in a template only, and one text at most.');
      return utility(prompt.trim()) ?? alone(messages);
  }
}

/** The reply to a direct call without documents. */
const alone = (messages: readonly CallMessage[]): string =>
  messages.length === 0
    ? demoLabel
    : `I am the built-in demo model. I have no knowledge of my own and only quote documents that a search of Conclave found; ask one of its templates, such as conclave. ${demoLabel}`;
