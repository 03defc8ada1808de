import { connect } from 'node:net';
import { until } from '@conclave/test-support';
import { readRun, type Role } from '@conclave/test-support/system';
import type { ScriptedReply } from '@conclave/test-support';
import { rightAnswer } from '../world/committee.js';
import type { World } from '../world/world.js';
import type { Scenario } from './scenario.js';

/** Follows a run's events and reads one byte a second from the connection. Resolves with how the connection ended. */
function creep(world: World, runId: string, forMs: number): Promise<'cut' | 'still open'> {
  const { hostname, port } = new URL(world.system.url());
  const socket = connect({ host: hostname, port: Number(port), highWaterMark: 1 } as never);
  socket.write(`GET /v1/runs/${runId}/events HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  socket.pause();
  const reading = setInterval(() => socket.read(1), 1_000);
  return new Promise((resolve) => {
    const over = (how: 'cut' | 'still open') => {
      clearInterval(reading);
      clearTimeout(timer);
      socket.destroy();
      resolve(how);
    };
    const timer = setTimeout(() => over('still open'), forMs);
    socket.on('close', () => over('cut'));
    // The gateway drops it with a reset; `close` follows.
    socket.on('error', () => undefined);
  });
}

/**
 * A stream is at most as long as the longest answer, some hundred kilobytes: the sockets of the kernel may hold all of it, so this shows
 * nothing about memory. slow-client.spec.ts of the gateway shows with a stream of 25 MB that memory is bounded and the reader is dropped.
 */
export const slowReader: Scenario = {
  name: 'slow-reader',
  promise: 'Clients that read too slowly do not hold up others.',
  fault: 'a hundred clients read the stream of the longest possible answer at 1 byte/s',
  modes: ['embedded', 'distributed'],
  controls: [],
  limitS: 150,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    const readers = 100;
    const words = 'word '.repeat(200);
    world.behave({
      instead: (role, question) =>
        role === 'composer' && question.includes('slow')
          ? {
              chunks: [
                { text: rightAnswer(question), afterMs: 1_500 },
                ...Array.from({ length: 150 }, () => ({ text: words, afterMs: 10 })),
              ],
              usage: { prompt_tokens: 509, completion_tokens: 53 },
            }
          : null,
    });
    const load = world.load.run({ runs: 1, atOnce: 1, name: 'slow', patienceMs: 60_000 });
    await until('the question', () => world.load.asked.at(-1)?.runId, { timeoutMs: 20_000 });
    const runId = world.load.asked.at(-1)!.runId!;
    world.fault(`${readers} slow readers`);
    const creeping = Promise.all(Array.from({ length: readers }, () => creep(world, runId, world.short ? 15_000 : 60_000)));
    // Other clients ask in the meantime: the slow ones must not affect them.
    await Promise.all([load, world.load.run({ runs: 3, atOnce: 3, name: 'others', patienceMs: 30_000 })]);
    const dropped = (await creeping).filter((end) => end === 'cut').length;
    world.row({
      name: `${readers} readers`,
      outcome: `${dropped} dropped, others answered`,
      recoveryMs: null,
      runs: [runId],
    });
  },
};

const error = (status: number, headers: Readonly<Record<string, string>> = {}): ScriptedReply => ({
  status,
  headers,
  body: { error: { message: 'a fault of the model server', type: 'server_error' } },
});

/** Faults of a model server; each hits the first call of one role of one question, the next call is answered as usual. */
const faults: readonly { readonly name: string; readonly role: Exclude<Role, 'direct'>; readonly reply: ScriptedReply }[] = [
  { name: 'busy', role: 'planner', reply: error(429, { 'retry-after': '1' }) },
  { name: 'broken', role: 'expert', reply: error(500) },
  { name: 'stalled', role: 'expert', reply: { stallAfter: [{ text: 'It is' }] } },
  { name: 'truncated', role: 'composer', reply: { truncateAfter: [{ text: 'The committee ' }], cleanly: true } },
  { name: 'cut', role: 'expert', reply: { truncateAfter: [{ text: 'It is' }] } },
  { name: 'nonsense', role: 'planner', reply: { text: 'no JSON at all {"tasks": [' } },
  {
    name: 'not-json',
    role: 'expert',
    reply: { status: 200, headers: { 'content-type': 'application/json' }, body: '<html>proxy error</html>' },
  },
  { name: 'silent', role: 'expert', reply: { hang: true } },
];

export const modelFaults: Scenario = {
  name: 'model-faults',
  promise: 'Whatever a model server does, the run ends in time with what the other models found, and says what is missing.',
  fault:
    '429 with Retry-After, 500, a stall in mid-stream, a truncated and a cut stream, nonsense, wrong JSON, and no answer for 120 s (20 s in the short form)',
  modes: ['embedded', 'distributed'],
  controls: [],
  // A call that never ends is given up when the wall time of its run (120 s in the long form) is nearly over.
  bounds: { answered: 0.7, terminalMs: 130_000 },
  limitS: 180,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    world.upstreamFaults = true;
    const hit = new Set<string>();
    world.behave({
      instead: (role, question) => {
        const fault = faults.find((one) => question.includes(`${one.name}-`) && one.role === role);
        if (!fault || hit.has(question)) return null;
        hit.add(question);
        return fault.reply;
      },
    });
    const began = world.fault('faults of the model server');
    // A stalled call is given up when the time of the run is nearly over; the short form does not wait the 120 s of a patient user for that.
    await Promise.all(
      faults.map(({ name }) => world.load.run({ runs: 1, atOnce: 1, name, wallTimeS: world.short ? 20 : 120, patienceMs: 130_000 })),
    );
    if (hit.size < faults.length) throw new Error(`Only ${hit.size} of ${faults.length} faults were met.`);
    for (const { name } of faults) {
      const asked = world.load.asked.find(({ question }) => question.includes(`question ${name}-`))!;
      const run = asked.runId ? await readRun(world.system.url(), asked.runId) : null;
      const end = asked.runId ? world.load.ended.get(asked.runId) : undefined;
      world.row({
        name,
        outcome: run ? `${run.status}${run.rule ? ` (${run.rule})` : ''}` : 'not accepted',
        recoveryMs: end === undefined ? null : end - began,
        runs: asked.runId ? [asked.runId] : [],
      });
    }
  },
};
