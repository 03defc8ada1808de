import { describe, expect, it } from '@jest/globals';
import { plannerValues } from './planner-examples.js';
import { longestPrompt, promptFaults, promptText, shippedPrompts } from './shipped.js';

describe('a shipped prompt', () => {
  it.each(shippedPrompts.map((prompt) => [prompt.name, prompt] as const))('%s would be accepted from an operator', (name, prompt) => {
    expect(promptFaults(name, prompt.text)).toEqual([]);
  });
  it('gets its placeholders filled in, and the inserted text is not expanded again', () => {
    expect(promptText('gap', {}, { input: '{final_response}', final_response: 'A' })).toContain(
      'ORIGINAL QUESTION: {final_response}\nCURRENT ANSWER: A',
    );
    expect(promptText('planner', {}, plannerValues({ experts: {}, capabilities: [] }, 7))).toContain(
      'At most 7 expert tasks and 4 evidence tasks.',
    );
  });
});

describe('a prompt of an operator', () => {
  it('replaces the shipped one', () => {
    expect(promptText('composer', { composer: 'Write in verse.' })).toBe('Write in verse.');
  });
  it('is refused with unknown placeholders, and without required ones', () => {
    expect(promptFaults('gap', 'Is {input} answered by {anwser}?')).toEqual([
      'The placeholder {anwser} is not known to the prompt "gap". It may use: {input}, {final_response}.',
      'The prompt "gap" needs the placeholder {final_response}.',
    ]);
    expect(promptFaults('composer', 'Answer {question}.')).toEqual([
      'The placeholder {question} is not known to the prompt "composer". It may use: {citing}.',
    ]);
  });
  it('may contain JSON, and is refused if it is empty, endless or has no purpose', () => {
    expect(promptFaults('hints', 'Reply with {"hints": []}.')).toEqual([]);
    expect(promptFaults('hints', '  ')).toHaveLength(1);
    expect(promptFaults('hints', 'x'.repeat(longestPrompt + 1))).toHaveLength(1);
    expect(promptFaults('nothing', 'x')[0]).toContain('There is no prompt "nothing".');
  });
});
