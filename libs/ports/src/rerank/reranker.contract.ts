import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reranker } from './reranker.js';

export interface RerankerWorld {
  readonly reranker: Reranker;
  dispose(): Promise<void>;
}

/** Every promise of `Reranker`; each test gets a new one. */
export function describeReranker(name: string, open: () => Promise<RerankerWorld>): void {
  describe(`${name} is a reranker that`, () => {
    let world: RerankerWorld;
    let reranker: Reranker;
    beforeEach(async () => {
      world = await open();
      reranker = world.reranker;
    });
    afterEach(() => world.dispose());
    const { signal } = new AbortController();

    it('scores the text that answers above those that do not, wherever it is in the list', async () => {
      const answers = 'The ferry to the island leaves at nine.';
      const others = ['Bread is baked in the morning.', 'Cats sleep a lot.', 'Glass is made of sand.'];
      for (const at of [0, 1, 3]) {
        const texts = [...others.slice(0, at), answers, ...others.slice(at)];
        const scores = await reranker.score('When leaves the ferry to the island?', texts, { signal });
        expect(scores).toHaveLength(texts.length);
        expect(scores.every((score) => Number.isFinite(score))).toBe(true);
        expect(scores.indexOf(Math.max(...scores))).toBe(at);
      }
    });

    it('scores equal texts the same, also several in one call', async () => {
      const scores = await reranker.score('ferry', ['The ferry leaves.', 'Nothing.', 'The ferry leaves.'], { signal });
      expect(scores[0]).toBeCloseTo(scores[2]!, 6);
    });

    it('takes no texts, many, and hostile ones', async () => {
      expect(await reranker.score('ferry', [], { signal })).toEqual([]);
      const many = Array.from({ length: 120 }, (_, n) => `sentence number ${n}`);
      expect(await reranker.score('sentence 7', many, { signal })).toHaveLength(120);
      const hostile = ['', '   ', '?!', '😀', '\ud800', '\u0000', '__proto__ constructor', 'x'.repeat(20_000), '\u202e<script>'];
      const scores = await reranker.score('\ud800 ferry', hostile, { signal });
      expect(scores).toHaveLength(hostile.length);
      expect(scores.every((score) => Number.isFinite(score))).toBe(true);
    });

    it('says CALL_CANCELLED when the signal has aborted', async () => {
      await expect(reranker.score('ferry', ['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    });
  });
}
