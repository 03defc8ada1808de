import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Embedder } from './embedder.js';

export interface EmbedderWorld {
  readonly embedder: Embedder;
  /** The same embedder, opened by another process. */
  another(): Promise<Embedder>;
  dispose(): Promise<void>;
}

/** Every promise of `Embedder`; each test gets a new one. */
export function describeEmbedder(name: string, open: () => Promise<EmbedderWorld>): void {
  describe(`${name} is an embedder that`, () => {
    let world: EmbedderWorld;
    let embedder: Embedder;
    beforeEach(async () => {
      world = await open();
      embedder = world.embedder;
    });
    afterEach(() => world.dispose());
    const { signal } = new AbortController();
    const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);

    it('returns one vector of length 1 and of its dimension per text, in order', async () => {
      const texts = ['The ferry leaves at nine.', 'a', 'Das Schiff fährt um neun.', '42', 'The ferry leaves at nine.'];
      const vectors = await embedder.embed(texts, { signal });
      expect(vectors).toHaveLength(5);
      for (const vector of vectors) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector.length).toBe(embedder.dimension);
        expect(Math.abs(lengthOf(vector) - 1)).toBeLessThan(1e-5);
      }
      expect(vectors[0]).toEqual(vectors[4]);
      expect(vectors[0]).not.toEqual(vectors[2]);
    });

    it('returns the same vectors in another process, under the same id', async () => {
      const other = await world.another();
      expect(other.id).toBe(embedder.id);
      const [one] = await embedder.embed(['The harbour is frozen.'], { signal });
      expect(await other.embed(['The harbour is frozen.'], { signal })).toEqual([one]);
    });

    it('returns for many texts the same vectors as for each alone', async () => {
      const texts = Array.from({ length: 150 }, (_, n) => `sentence number ${n}`);
      const together = await embedder.embed(texts, { signal });
      expect(together).toHaveLength(150);
      for (const at of [0, 64, 149]) expect(await embedder.embed([texts[at]!], { signal })).toEqual([together[at]]);
    });

    it('takes no texts, texts without words, and hostile ones', async () => {
      expect(await embedder.embed([], { signal })).toEqual([]);
      const hostile = ['', '   ', '?!', '😀', '\ud800', '\u0000', '__proto__ constructor', 'x'.repeat(20_000), '中文字', '\u202e<script>'];
      const vectors = await embedder.embed(hostile, { signal });
      expect(vectors).toHaveLength(hostile.length);
      for (const vector of vectors) expect(Math.abs(lengthOf(vector) - 1)).toBeLessThan(1e-5);
    });

    it('says CALL_CANCELLED when the signal has aborted', async () => {
      await expect(embedder.embed(['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    });

    it('is healthy', async () => {
      expect(await embedder.health()).toBeNull();
    });
  });
}
