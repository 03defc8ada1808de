import { describe, expect, it } from '@jest/globals';
import { emptyAnswer } from './answer-task.js';

describe('a reply without an answer', () => {
  it.each([
    [null, 'The model returned an empty answer.'],
    [{ reasoning: ' ', finishReason: 'stop' }, 'The model returned an empty answer.'],
    [{ reasoning: 'Hm.', finishReason: 'stop' }, 'The model returned an empty answer. It sent only its thinking, 3 characters.'],
    [{ reasoning: 'Hm.', finishReason: 'length' }, /only its thinking, 3 characters\. It stopped at its limit of tokens: raise/],
    [{ reasoning: 'Hm.', finishReason: 'repetition', repeated: 4_000 }, /It repeated itself for 4000 characters, and its call was ended\./],
    [{ reasoning: '', finishReason: 'content_filter' }, /held the answer back \(content_filter\)/],
  ] as const)('fails with the reason that the reply shows: %j', (reply, message) => {
    const { failure } = emptyAnswer(reply) as { failure: { message: string } };
    if (typeof message === 'string') expect(failure.message).toBe(message);
    else expect(failure.message).toMatch(message);
  });
});
