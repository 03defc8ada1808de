import { describe, expect, it } from '@jest/globals';
import { citations } from './chat-shapes.js';

describe('citations of an answer', () => {
  it('have the same number as in the text of the answer', () => {
    const sources = [
      { kind: 'web', title: 'One', url: 'http://127.0.0.1/one', n: 1 },
      { kind: 'web', title: 'Three', url: 'http://127.0.0.1/three', n: 3 },
      { kind: 'corpus', title: 'Four', url: null, n: 4 },
    ] as const;
    expect(citations(sources, 'A [1]. B [3]. C [4].').map(({ url_citation: { title, start_index } }) => [title, start_index])).toEqual([
      ['One', 2],
      ['Three', 9],
    ]);
  });
});
