import { describe, expect, it } from '@jest/globals';
import { LongMessage } from './long-message.js';

/** The message in parts of this many bytes. */
function read(message: object | string, size = 64): LongMessage {
  const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  const long = new LongMessage();
  for (let at = 0; at < bytes.length; at += size) long.add(bytes.subarray(at, at + size));
  expect(long.bytes).toBe(bytes.length);
  return long;
}
const result = { content: [{ type: 'text', text: 'x'.repeat(1_000) }] };

describe('a message that is too long', () => {
  it.each([
    ['behind the version, as SDKs for Python write it', { jsonrpc: '2.0', id: 7, result }],
    ['at the beginning', { id: 7, jsonrpc: '2.0', result }],
    ['at the end, as the SDK for TypeScript writes it', { result, jsonrpc: '2.0', id: 7 }],
    ['before the version', { result, id: 7, jsonrpc: '2.0' }],
  ])('tells which call it answers by an id %s', (_, message) => {
    for (const size of [1, 64, 5_000]) expect(read(message, size).id).toBe(7);
  });

  it('is not believed if its id is inside a result, a word, or missing', () => {
    expect(read({ jsonrpc: '2.0', result: { ...result, row: { id: 7 } } }).id).toBeNull();
    expect(read({ jsonrpc: '2.0', id: 'seven', result }).id).toBeNull();
    expect(read({ result: { text: `${'x'.repeat(1_000)},"id":7}` }, jsonrpc: '2.0' }).id).toBeNull();
    expect(read('x'.repeat(1_000)).id).toBeNull();
  });
});
