import { describe, expect, it } from '@jest/globals';
import { rateRefusal } from './rate-refusal.js';

const of = (value: unknown) => rateRefusal({ structured: null, content: typeof value === 'string' ? value : JSON.stringify(value) });

describe('a call that was refused for its rate', () => {
  it.each([
    [{ error: 'rate_limited', retry_after: 2 }, 2_000],
    [{ error: { code: 429, message: 'slow down' }, retryAfterMs: 250 }, 250],
    [{ status: 429, message: 'Please try again in 3 seconds.' }, 3_000],
    [{ error: 'Too Many Requests' }, null],
    [{ error: { type: 'rate_limit_error', message: 'wait 1 minute' } }, 60_000],
    ['Error: 429 Too Many Requests, retry after 5 s', 5_000],
    ['Rate limit exceeded. Try again in 1.5 seconds.', 1_500],
  ])('is recognised: %j', (value, retryAfterMs) => {
    expect(of(value)).toEqual({ retryAfterMs });
  });

  it.each([
    [{ error: 'No booking 429.' }],
    [{ error: 'The rate of the room is limited to guests.' }],
    [{ error: 'Payment failed', code: 402, retry_after: 2 }],
    ['The tool failed, try again in 3 seconds.'],
    ['Room 429 is taken.'],
    [`rate limit exceeded ${'x'.repeat(3_000)}`],
  ])('is no other failure: %j', (value) => {
    expect(of(value)).toBeNull();
  });
});
