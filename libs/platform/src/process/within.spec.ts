import { describe, expect, it, jest } from '@jest/globals';
import { within } from './within.js';

const never = new Promise<never>(() => undefined);

describe('work within a time', () => {
  it('gives what the work gives, or throws what it throws', async () => {
    await expect(within(1_000, Promise.resolve(1), () => 2)).resolves.toBe(1);
    await expect(within(1_000, Promise.reject(new Error('broken')), () => 2)).rejects.toThrow('broken');
  });

  it('gives or throws what it is to be when that takes longer, at that moment and not before', async () => {
    jest.useFakeTimers();
    try {
      const late = jest.fn(() => 'late');
      const waiting = within(50, never, late);
      await jest.advanceTimersByTimeAsync(49);
      expect(late).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      await expect(waiting).resolves.toBe('late');
      const failing = within(50, never, () => {
        throw new Error('too late');
      });
      const seen = expect(failing).rejects.toThrow('too late');
      await jest.advanceTimersByTimeAsync(50);
      await seen;
    } finally {
      jest.useRealTimers();
    }
  });

  it('leaves no timer behind, and no failure of late work', async () => {
    jest.useFakeTimers();
    try {
      await within(50, Promise.resolve(1), () => 2);
      expect(jest.getTimerCount()).toBe(0);
      let fail: (error: Error) => void = () => undefined;
      const waiting = within(50, new Promise<never>((_resolve, reject) => (fail = reject)), () => 'late');
      await jest.advanceTimersByTimeAsync(50);
      await expect(waiting).resolves.toBe('late');
      fail(new Error('nobody hears it'));
      await jest.advanceTimersByTimeAsync(1);
    } finally {
      jest.useRealTimers();
    }
  });
});
