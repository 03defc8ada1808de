import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import OpenAI from 'openai';
import { completed, reply, World } from '../__fixtures__/world.js';

let world: World;
let client: OpenAI;
beforeEach(async () => {
  world = await World.open();
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => world.close());

const question = { model: 'conclave', prompt: 'Why is the sky blue?' };

/** Plays the engine for the next run. */
async function engine(): Promise<void> {
  await until('the run', () => world.requested().length > 0);
  world.write({ kind: 'planning', epoch: 0, iteration: 0, max: 3 });
  world.compose();
  await world.chunk('It is ', 0);
  await world.chunk('blue', 6);
  world.write(completed());
}

describe('the legacy API through the OpenAI client', () => {
  it.each(['Why is the sky blue?', ['Why is the sky blue?']])('answers the prompt %j as a run', async (prompt) => {
    const played = engine();
    const answer = await client.completions.create({ ...question, prompt, max_tokens: 500, stop: 'END' });
    await played;
    expect(answer).toMatchObject({
      id: `cmpl-${world.run().slice('run_'.length)}`,
      object: 'text_completion',
      choices: [{ text: 'It is blue [1].', index: 0, finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 120, completion_tokens: 45, total_tokens: 165 },
      conclave: { run_id: world.run() },
    });
    expect(world.requested()[0]!.data).toMatchObject({ goal: 'Why is the sky blue?', answer: { max_tokens: 500, stop: ['END'] } });
  });

  it('streams only the text, whatever progress mode is set, and usage when it is asked for', async () => {
    const played = engine();
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    const stream = await client.completions.create({ ...question, ...options }, { headers: { 'x-conclave-progress': 'think' } });
    let text = '';
    let finish: string | null = null;
    let total = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      total = chunk.usage?.total_tokens ?? total;
    }
    await played;
    expect({ text, finish, total }).toEqual({ text: 'It is blue [1].', finish: 'stop', total: 165 });
  });

  it('calls a single model', async () => {
    world.models.next(async () => reply());
    const answer = await client.completions.create({ ...question, model: 'm@fake' });
    expect(answer.choices).toEqual([{ text: 'Hello there', index: 0, logprobs: null, finish_reason: 'stop' }]);
  });

  it.each<[object, string, RegExp]>([
    [{ echo: true }, 'echo', /does not repeat its prompt/],
    [{ suffix: 'end' }, 'suffix', /Nothing is inserted/],
    [{ logprobs: 2 }, 'logprobs', /no probabilities/],
    [{ n: 2 }, 'n', /returns one answer/],
    [{ best_of: 3 }, 'best_of', /returns one answer/],
    [{ prompt: ['a', 'b'] }, 'prompt', /must hold one text/],
    [{ prompt: [1, 2] }, 'prompt[0]', /send the text itself/],
    [{ prompt: ' ' }, 'prompt', /no text/],
    [{ max_tokens: 0 }, 'max_tokens', /above 0/],
  ])('refuses %j with a sentence', async (over, param, sentence) => {
    const refused = client.completions.create({ ...question, ...over } as OpenAI.CompletionCreateParamsNonStreaming);
    await expect(refused).rejects.toMatchObject({ status: 400, param, message: expect.stringMatching(sentence) });
  });
});
