import { type AnswerFacts, type ChatUsage, type Completion, type CompletionRequest, Failure, type FinishReason } from '@conclave/contracts';
import { isJsonObject, type JsonObject } from '@conclave/ports';
import { type AnswerShape, errorLine } from '../chat/answer-shape.js';
import { type ChatFields, namedAsSent, present } from '../chat/chat-fields.js';
import type { ChunkFrame } from '../chat/chat-shapes.js';

/** Throws REQUEST_INVALID for what this API cannot do. */
export function checkPossible({ prompt, n, best_of: best, echo, suffix, logprobs }: CompletionRequest): void {
  const refusals: readonly (readonly [boolean, string, string])[] = [
    [
      typeof prompt !== 'string' && prompt.length > 1,
      'prompt',
      'One request asks one question: `prompt` must hold one text, so send a request for each.',
    ],
    [(n ?? 1) !== 1, 'n', 'One request returns one answer: leave `n` out or set it to 1, and send the request again for another answer.'],
    [(best ?? 1) !== 1, 'best_of', 'One request returns one answer: leave `best_of` out or set it to 1.'],
    [(echo ?? false) !== false, 'echo', 'An answer does not repeat its prompt: leave out `echo`.'],
    [(suffix ?? '') !== '', 'suffix', 'Nothing is inserted into a text: leave out `suffix`, and ask for the text in the prompt.'],
    [(logprobs ?? null) !== null, 'logprobs', 'An answer has several calls behind it, so it has no probabilities: leave out `logprobs`.'],
  ];
  const refused = refusals.find(([isAsked]) => isAsked);
  if (refused) throw new Failure('REQUEST_INVALID', refused[2], { param: refused[1] });
}

/** The request in the chat protocol. */
export function chatOf({ prompt, ...request }: CompletionRequest): ChatFields {
  const { model, stream, stream_options, temperature, top_p, stop, max_tokens, seed, conclave, user, safety_identifier } = request;
  const content = typeof prompt === 'string' ? prompt : prompt[0];
  const body = present({
    ...{ model, stream, stream_options, temperature, top_p, stop, max_tokens, seed, conclave, user, safety_identifier },
    messages: [{ role: 'user', content }],
  });
  return { body, paths: ['prompt'], names: { messages: 'prompt', 'messages[0].content': 'prompt' } };
}

/** Answers in the shape of the legacy API. Programs read their text, so it holds no progress. */
export const completionShape = (fields: ChatFields): AnswerShape => ({
  prefix: 'cmpl-',
  modeOf: () => 'none',
  writer: (frame) => ({
    open: () => '',
    chunk: (chunk) => `data: ${JSON.stringify(completionOf(chunk, frame, 'delta'))}\n\n`,
    done: () => 'data: [DONE]\n\n',
    fail: errorLine,
  }),
  whole: (completion, frame) => completionOf(completion, frame, 'message'),
  named: (failure) => namedAsSent(failure, fields),
});

function completionOf(from: JsonObject, { id, created, model }: ChunkFrame, member: 'delta' | 'message'): Completion {
  const choices = Array.isArray(from['choices']) ? (from['choices'] as readonly unknown[]).filter(isJsonObject) : [];
  const usage = from['usage'] as ChatUsage | null | undefined;
  const facts = from['conclave'] as AnswerFacts | undefined;
  return {
    ...({ id, object: 'text_completion', created, model } as const),
    choices: choices.slice(0, 1).map((choice) => {
      const said = isJsonObject(choice[member]) ? choice[member]['content'] : null;
      const finish = (choice['finish_reason'] ?? null) as FinishReason | null;
      return { text: typeof said === 'string' ? said : '', index: 0, logprobs: null, finish_reason: finish };
    }),
    ...(usage ? { usage } : {}),
    ...(facts ? { conclave: facts } : {}),
  };
}
