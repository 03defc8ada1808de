import { describe, expect, it } from '@jest/globals';
import { thoughtSignatureOf, signedId, unsignedId, withoutSignatures } from './signed-calls.js';

const signature = { google: { thought_signature: 'EjQ+KMg/EMOdbHJC==' } };
const signed = signedId('call_7', { id: 'call_7', extra_content: signature });

describe('the id of a signed call', () => {
  it('contains the signature, in characters that every API allows in ids', () => {
    expect(signed).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(unsignedId(signed)).toEqual({ id: 'call_7', signature });
  });

  it('is left alone if there is no signature, whatever else the call has', () => {
    for (const extra of [undefined, null, 'x', {}, { google: {} }, { google: { thought_signature: 7 } }]) {
      expect(thoughtSignatureOf({ extra_content: extra })).toBeNull();
      expect(signedId('call_7', { extra_content: extra })).toBe('call_7');
    }
    expect(unsignedId('functions.look:0')).toEqual({ id: 'functions.look:0', signature: null });
  });

  it.each([
    ['cut', signed.slice(0, 64)],
    ['cut at its end', signed.slice(0, -1)],
    ['with another beginning', `x${signed}`],
    ['in small letters', signed.toLowerCase()],
  ])('is an id like any other if a client has changed it: %s', (_name, id) => expect(unsignedId(id)).toEqual({ id, signature: null }));

  it('may be an id that another gateway has signed', () => {
    const again = signedId(signed, { extra_content: signature });
    expect(unsignedId(again)).toEqual({ id: signed, signature });
  });

  it('of a text has no signature where its size counts', () => {
    expect(withoutSignatures(JSON.stringify({ id: signed, name: 'look' }))).toBe('{"id":"call_7","name":"look"}');
  });
});
