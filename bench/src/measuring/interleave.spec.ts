import { describe, expect, it } from '@jest/globals';
import { interleave } from './interleave.js';

describe('interleaved rounds', () => {
  it('measures each subject once a round, in rotated order, and discards the warm-up', async () => {
    const order: string[] = [];
    const subject = (name: string) => ({
      name,
      measure: async (round: number) => {
        order.push(`${name}${round}`);
        return round;
      },
    });
    const measured = await interleave([subject('a'), subject('b')], 3);
    expect(order).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2', 'b3', 'a3']);
    expect([...measured]).toEqual([
      ['a', [1, 2, 3]],
      ['b', [1, 2, 3]],
    ]);
  });

  it('fails with the error of a subject instead of leaving its round out', async () => {
    const broken = { name: 'broken', measure: async () => Promise.reject(new Error('it broke')) };
    await expect(interleave([broken], 1)).rejects.toThrow('it broke');
  });
});
