import { describe, expect, it } from '@jest/globals';
import { bodyCharacters, readContent, withoutBodies } from './content-parts.js';

const long = 'A'.repeat(1_000);

describe('content parts', () => {
  it('are joined into one text without merging words and without other changes', () => {
    const text = (...parts: string[]) => readContent({ role: 'user', content: parts.map((one) => ({ type: 'text', text: one })) }).text;
    expect(text('Who founded the', 'mill?')).toBe('Who founded the\nmill?');
    expect(text('Who ', 'founded', ' it?', '', '')).toBe('Who founded it?');
  });

  it('are written to the audit without the bytes of images and files', () => {
    const parts = [
      { type: 'text', text: long },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${long}`, detail: 'low' } },
      { type: 'input_audio', input_audio: { data: long } },
    ];
    const tool = { role: 'tool', tool_call_id: 'x', content: long };
    expect(withoutBodies({ n: 2, messages: [{ role: 'user', name: 'a', content: parts }, tool, null] })).toEqual({
      n: 2,
      messages: [
        {
          role: 'user',
          name: 'a',
          content: [
            parts[0],
            { type: 'image_url', image_url: { url: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), detail: 'low' } },
            { type: 'input_audio', input_audio: { data: expect.stringMatching(/^sha256:/) } },
          ],
        },
        tool,
        null,
      ],
    });
    expect(withoutBodies({ messages: 'x' })).toEqual({ messages: 'x' });
  });

  it('are left out of the count of characters when they are images or files, not text', () => {
    const image = { type: 'image_url', image_url: { url: long } };
    expect(bodyCharacters({ messages: [{ content: [image, { type: 'text', text: long }] }, { content: long }] })).toBe(1_000);
    expect(bodyCharacters({ messages: [null, 7, { content: [null, 'x', { type: 'image_url', image_url: long }] }] })).toBe(1_000);
    expect(bodyCharacters({ messages: 'x', more: long })).toBe(0);
    const returned = [
      { type: 'input_image', image_url: long },
      { type: 'input_text', text: long },
    ];
    expect(
      bodyCharacters({
        input: [
          { type: 'function_call_output', output: returned },
          { type: 'function_call_output', output: long },
        ],
      }),
    ).toBe(1_000);
    const blocks = [
      { type: 'image', source: { type: 'base64', data: long } },
      { type: 'text', text: long },
    ];
    expect(bodyCharacters({ messages: [{ role: 'user', content: [{ type: 'tool_result', content: blocks }] }] })).toBe(1_000);
  });
});
