import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { twoTenants, World } from '../__fixtures__/world.js';

const origin = 'https://chat.example.org';
const preflight = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization, content-type, x-stainless-os',
};

describe.each([
  ['without keys', null],
  ['with keys', twoTenants],
] as const)('pages of another origin, %s', (_, keys) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ keys, access: { origins: [origin] } });
  });
  afterAll(() => world.close());
  const chat = (headers: Record<string, string>, method = 'OPTIONS'): Promise<Response> =>
    fetch(`${world.url}/v1/chat/completions`, { method, headers });

  it('may send requests, with headers of their own, when their origin is allowed', async () => {
    const response = await chat({ origin, ...preflight });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': preflight['access-control-request-headers'],
      'access-control-max-age': '600',
    });
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('may read answers, refusals and our headers', async () => {
    const response = await chat({ origin, 'content-type': 'application/json' }, 'POST');
    expect([400, 401]).toContain(response.status);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')).toContain('x-run-id');
    expect(response.headers.get('vary')).toMatch(/origin/i);
  });

  it('are refused when their origin is not allowed', async () => {
    for (const other of ['https://evil.example', 'https://chat.example.org.evil.example', 'http://chat.example.org', 'null']) {
      const response = await chat({ origin: other, ...preflight });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect([response.status, other]).toEqual([keys === null ? 403 : 204, other]);
    }
  });
});
