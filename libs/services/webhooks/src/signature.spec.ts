import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signed } from './signature.js';

const first = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const second = 'whsec_Q29uY2xhdmUgdGVzdHMgc2lnbiB3aXRoIHRoaXMgb25lIQ==';
const id = 'run_00000001_ops';
const body = JSON.stringify({ type: 'run.completed', data: { answer: 'Grüße, 你好 🦁' } });

describe('a signature', () => {
  it('is that of the published example of Standard Webhooks', () => {
    const at = 1_614_265_330_000;
    const headers = signed(first, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, body: '{"test": 2432232314}' });
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('is valid for the reference implementation, and invalid for any other body, id, time and secret', () => {
    const headers = { ...signed(first, { id, at: Date.now() + 999, body }) };
    expect(new Webhook(first).verify(body, headers)).toEqual(JSON.parse(body));
    const verify = (secret: string, text: string, changed: object) => () => new Webhook(secret).verify(text, { ...headers, ...changed });
    expect(verify(first, body.replace('run', 'ran'), {})).toThrow('No matching signature');
    expect(verify(first, body, { 'webhook-id': `${id}2` })).toThrow('No matching signature');
    expect(verify(first, body, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) })).toThrow('No matching signature');
    expect(verify(second, body, {})).toThrow('No matching signature');
  });

  it('is made with each of several secrets, so that a receiver can change from one to the other', () => {
    const headers = { ...signed(`${first} ${second}`, { id, at: Date.now(), body }) };
    for (const secret of [first, second]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });
});
