import { afterAll, beforeAll, jest } from '@jest/globals';
import { serverForTests } from './__fixtures__/redis-server.js';
import { describePortsOn } from './__fixtures__/suites-on.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

let server: Awaited<ReturnType<typeof serverForTests>>;
beforeAll(async () => {
  server = await serverForTests();
});
afterAll(() => server.dispose());

describePortsOn('Redis', () => ({ url: server.url, urls: [server.url] }));
