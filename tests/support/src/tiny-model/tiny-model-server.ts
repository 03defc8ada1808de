import { ScriptedModelServer } from '../model-server/scripted-model-server.js';
import { textOf } from '../model-server/script.js';
import { WordModel } from './word-model.js';

export interface TinyModelOptions {
  /** The text from which the model learns at its start. */
  readonly text: string;
  readonly port?: number;
  readonly seed?: number;
  /** Longest answer in words. */
  readonly words?: number;
  /** Milliseconds before each word, as on a slow machine. */
  readonly msPerWord?: number;
}

/** Name of the model in GET /v1/models. */
export const tinyModelName = 'tiny-words';

/**
 * A real but tiny statistical model behind an OpenAI-compatible server. It answers any prompt with text in no particular format, which
 * anything built on it must survive.
 */
export function startTinyModel({ text, port = 0, seed = 1, words = 60, msPerWord = 0 }: TinyModelOptions): Promise<ScriptedModelServer> {
  const model = new WordModel(text);
  return ScriptedModelServer.start({
    port,
    models: [tinyModelName],
    script: [
      {
        name: 'any prompt',
        match: () => true,
        times: Infinity,
        reply: ({ messages, body, n }) => {
          const limit = typeof body['max_tokens'] === 'number' ? Math.min(body['max_tokens'], words) : words;
          const prompt = messages.map((message) => textOf(message.content)).join('\n');
          const given = typeof body['seed'] === 'number' ? body['seed'] : seed + n;
          const answer = model.continue(prompt, limit, given);
          return {
            chunks: answer.map((word, index) => ({
              text: index === 0 ? word : ` ${word}`,
              ...(msPerWord > 0 ? { afterMs: msPerWord } : {}),
            })),
            usage: { prompt_tokens: prompt.match(/\S+/g)?.length ?? 0, completion_tokens: answer.length },
            finish: answer.length >= limit ? 'length' : 'stop',
          };
        },
      },
    ],
  });
}
