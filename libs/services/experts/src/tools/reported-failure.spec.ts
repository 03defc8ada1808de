import { describe, expect, it } from '@jest/globals';
import { reportedFailure } from './reported-failure.js';

const of = (structured: unknown): string | null => reportedFailure({ structured, content: '' });

describe('a failure that a tool reports as its result', () => {
  it.each([
    [{ error: 'No such order.' }, 'No such order.'],
    [{ ok: false, error: 'No such order.' }, 'No such order.'],
    [{ error: 'Too many requests', retry_after: 5 }, '{"error":"Too many requests","retry_after":5}'],
    [{ error: { code: 404, message: 'gone' } }, '{"error":{"code":404,"message":"gone"}}'],
    [{ error: 'Not found', statusCode: 404, success: false }, '{"error":"Not found","statusCode":404,"success":false}'],
  ])('is read: %j', (value, said) => {
    expect(of(value)).toBe(said);
    expect(reportedFailure({ structured: null, content: ` ${JSON.stringify(value)}\n` })).toBe(said);
  });

  it.each([
    [{ error: null, rooms: 3 }],
    [{ error: '' }],
    [{ error: false, ok: true }],
    [{ ok: true, error: 'none' }],
    [{ job: 'j1', state: 'failed', error: 'disk full' }],
    [{ error: 'one of ten failed', sent: 9 }],
    [[{ error: 'x' }]],
    [null],
    ['{"error"'],
  ])('is not what a result says about something else: %j', (value) => {
    expect(of(value)).toBeNull();
  });

  it.each(["Error: Invalid formula syntax: Formula must start with '='", ' Database error: no such table: t\n'])(
    'is a line that says nothing else, of a tool that may change something: %j',
    (content) => {
      expect(reportedFailure({ structured: null, content })).toBe(content.trim());
      expect(reportedFailure({ structured: null, content }, true)).toBeNull();
    },
  );

  it.each([
    'Error: one\nof many lines',
    `Error: ${'x'.repeat(500)}`,
    'The job ended with an error: disk full',
    'error codes: 4, 5',
    'Error:',
  ])('is no text in which an error occurs: %j', (content) => {
    expect(reportedFailure({ structured: null, content })).toBeNull();
  });

  it('is not a text that only begins like an object, or a long one', () => {
    expect(reportedFailure({ structured: null, content: '{"error": "x"' })).toBeNull();
    expect(reportedFailure({ structured: null, content: JSON.stringify({ error: 'x'.repeat(5_000) }) })).toBeNull();
  });
});
