import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { up, type RunningServer } from './commands/up.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const quiet = { write: () => true };
let home: string;
let running: RunningServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'conclave-large-'));
  const loaded = loadConfiguration({ CONCLAVE_HOME: home, PORT: '0', LOG_LEVEL: 'silent' }, home);
  running = await up({ loaded, out: quiet, terminal: quiet, localServers });
  // Patterns are compiled on first use.
  await ask(question('What is the harbour of the old town called?'));
}, 60_000);
afterAll(async () => {
  await running.close();
  rmSync(home, { recursive: true, force: true });
});

const question = (content: string): string => JSON.stringify({ model: 'conclave-fast', messages: [{ role: 'user', content }] });
const ask = (body: string): Promise<{ status: number; code: string | null }> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(`${running.listening.url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () => {
        const { error } = JSON.parse(text) as { error?: { code: string } };
        resolve({ status: response.statusCode ?? 0, code: error?.code ?? null });
      });
    });
    sent.on('error', reject).end(body);
  });
/** Waits in milliseconds of another client that requests the list of models repeatedly while `work` runs. */
async function waitsDuring(work: () => Promise<unknown>): Promise<readonly number[]> {
  const waits: number[] = [];
  let going = true;
  const others = (async () => {
    while (going) {
      const began = performance.now();
      expect((await fetch(`${running.listening.url}/v1/models`)).status).toBe(200);
      waits.push(performance.now() - began);
      await delay(5);
    }
  })();
  await work().finally(() => (going = false));
  await others;
  return waits;
}
const middle = (waits: readonly number[]): number => [...waits].sort((a, b) => a - b)[Math.floor(waits.length / 2)]!;
const long = (part: string, bytes: number): string => part.repeat(Math.ceil(bytes / part.length)).slice(0, bytes);
const words = 'What does the harbour master say about the 42 ships of May 1871? ';

describe('a request of many bytes', () => {
  it.each([
    ['a question of 3 MB', question(long(words, 3_000_000)), 400, 'context_length_exceeded'],
    ['a question of 1 MB', question(long('x', 1_000_000)), 400, 'context_length_exceeded'],
    ['100,000 nested lists', `{"model":"conclave","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, 'REQUEST_TOO_COMPLEX'],
    [
      '50,000 names',
      JSON.stringify({ x: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])) }),
      400,
      'REQUEST_TOO_COMPLEX',
    ],
    ['a question that no run can pay for', question(long(words, 280_000)), 400, 'context_length_exceeded'],
    ['a question of 100 KB', question(long(words, 100_000)), 200, null],
    ['100 KB full of names', question(long('Is the red clock of Anna older, or not? ', 100_000)), 200, null],
    ['100 KB of opened fences', question(long('<<<DATA ', 100_000)), 200, null],
    ['100 KB of closed fences', question(long('DATA>', 100_000)), 200, null],
    ['100 KB of brackets', question(long('<', 100_000)), 200, null],
    ['a sum of 100 KB', question(long('50 % ', 100_000)), 200, null],
    ['an enumeration without an end', question(long('a, ', 2_500)), 200, null],
  ])(
    'delays no other request and never becomes a dead letter: %s',
    async (_what, body, status, code) => {
      const usual = await waitsDuring(() => delay(200));
      const before = process.cpuUsage();
      const waits = await waitsDuring(async () => expect(await ask(body)).toEqual({ status, code }));
      const { user, system } = process.cpuUsage(before);
      // Generous, for busy machines; the bug this guards against took seconds to minutes of processor time.
      expect(middle(waits)).toBeLessThan(2_500 + 20 * middle(usual));
      expect((user + system) / 1_000).toBeLessThan(10_000);
      expect(Math.max(...waits)).toBeLessThan(5_000 + 20 * Math.max(...usual));
    },
    30_000,
  );
});
