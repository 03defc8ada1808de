import { describe, expect, it } from '@jest/globals';
import { startTinyModel, tinyModelName } from './tiny-model-server.js';
import { WordModel } from './word-model.js';

const text = 'The cat sat on the mat. The dog sat on the cat. A bird saw the dog. The bird sang to the cat and the dog.';

describe('the word model', () => {
  it('writes only word pairs that occur within a sentence of its text', () => {
    const pairs = new Set(
      text.match(/[^.]+\.?/g)!.flatMap((one) =>
        one
          .trim()
          .split(' ')
          .map((word, at, all) => `${word} ${all[at + 1]}`),
      ),
    );
    for (let seed = 0; seed < 50; seed += 1) {
      const words = new WordModel(text).continue('', 20, seed);
      expect(words.length).toBeGreaterThan(0);
      words.slice(0, -1).forEach((word, at) => expect(word.endsWith('.') || pairs.has(`${word} ${words[at + 1]}`)).toBe(true));
    }
  });
  it('returns the same text for the same prompt and seed, and another text for another prompt', () => {
    const model = new WordModel(text);
    expect(model.continue('the', 12, 3)).toEqual(model.continue('the', 12, 3));
    const texts = new Set(['a', 'b', 'c', 'd', 'e', 'f'].map((prompt) => model.continue(prompt, 12, 3).join(' ')));
    expect(texts.size).toBeGreaterThan(1);
  });
  it('requires text', () => expect(() => new WordModel(' ')).toThrow('needs text'));
});

describe('the tiny model server', () => {
  it('lists its model and answers any prompt, ignoring the requested format', async () => {
    const server = await startTinyModel({ text });
    try {
      const listed = (await (await fetch(`${server.url}/models`)).json()) as { data: { id: string }[] };
      expect(listed.data.map(({ id }) => id)).toEqual([tinyModelName]);
      const ask = async (stream: boolean): Promise<string> => {
        const messages = [{ role: 'user', content: 'Reply with JSON only: {"tasks": []}' }];
        const response = await fetch(`${server.url}/chat/completions`, {
          method: 'POST',
          body: JSON.stringify({ model: tinyModelName, stream, seed: 5, messages }),
        });
        return response.text();
      };
      const whole = (JSON.parse(await ask(false)) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
      expect(() => JSON.parse(whole) as unknown).toThrow();
      expect(whole.split(' ').length).toBeGreaterThan(1);
      const streamed = [...(await ask(true)).matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('');
      expect(streamed).toBe(whole);
    } finally {
      await server.close();
    }
  });
});
