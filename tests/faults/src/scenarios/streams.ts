import { connect } from 'node:net';
import { until } from '@conclave/test-support';
import { readRun, type Role } from '@conclave/test-support/system';
import type { ScriptedReply } from '@conclave/test-support';
import { connectionHeader } from '../programs/full-connections.js';
import { rightAnswer } from '../questions.js';
import type { World } from '../world/world.js';
import type { Scenario } from './scenario.js';

type End = 'cut' | 'still open';

/**
 * Follows a run's events on a connection of its own, at 1 byte/s for at most `forMs`; resolves with how the connection ended. A client that
 * does not even try to read would not notice its end.
 */
function follow(world: World, runId: string, forMs: number, header = ''): Promise<End> {
  const { hostname, port } = new URL(world.system.url());
  const socket = connect({ host: hostname, port: Number(port), highWaterMark: 1 } as never);
  socket.write(`GET /v1/runs/${runId}/events HTTP/1.1\r\nHost: ${hostname}\r\n${header}Connection: close\r\n\r\n`);
  socket.pause();
  const reading = setInterval(() => socket.read(1), 1_000);
  return new Promise((resolve) => {
    const over = (how: End) => {
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

/** A thousand characters of an answer, different each time: a model that repeats itself is cut off. */
const wordsOf = (n: number): string =>
  Array.from({ length: 100 }, (_, word) => `${((n * 100 + word) * 7_919).toString(36).padStart(9, 'w')} `).join('');

/** Bytes that the gateway may keep for a client that reads nothing: the events of a moment, not those of a stream. */
const mostKept = 60_000;
/** Within this time the gateway drops a client that reads nothing. */
const droppedAfterMs = 35_000;
/** The longest time from the question to the end of the run, as its client sees it, while others do not read. */
const shownWithinMs = 25_000;

/** What the gateway kept for clients that read nothing. */
async function checkKept(world: World, readers: number): Promise<number> {
  const closed = () => world.system.history().filter(({ op }) => op === 'full-connection');
  await until('the end of the connections', () => closed().length >= readers, { timeoutMs: 10_000 });
  const kept = closed().map(({ data }) => (data as { kept: number }).kept);
  for (const [n, bytes] of kept.entries())
    if (bytes > mostKept) world.breaks(`reader ${n + 1}`, `The gateway kept ${bytes} bytes for it, although it read nothing.`);
  return Math.max(...kept);
}

/**
 * A stream is at most as long as the longest answer, some hundred kilobytes, and the sockets of the kernel hold all of it: clients that read
 * slowly are never behind for the gateway. So there are also clients whose connection takes nothing.
 */
export const slowReader: Scenario = {
  name: 'slow-reader',
  promise:
    'Clients that read too slowly do not hold up others, and the gateway keeps nearly nothing for them; one that reads nothing is dropped (the long form waits for it).',
  fault: 'a hundred clients read the stream of the longest possible answer at 1 byte/s, and the connections of twenty more take nothing',
  modes: ['embedded', 'distributed'],
  controls: [{ without: 'backpressure', check: 'own-promise' }],
  limitS: 150,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    const [readers, stuck] = [100, 20];
    world.behave({
      instead: (role, question) =>
        role === 'composer' && question.includes('slow')
          ? {
              chunks: [
                { text: rightAnswer(question), afterMs: 1_500 },
                ...Array.from({ length: 300 }, (_, n) => ({ text: wordsOf(n), afterMs: 10 })),
              ],
              usage: { prompt_tokens: 509, completion_tokens: 53 },
            }
          : null,
    });
    const load = world.load.run({ runs: 1, atOnce: 1, name: 'slow', patienceMs: 60_000 });
    await until('the question', () => world.load.asked.at(-1)?.runId, { timeoutMs: 20_000 });
    const runId = world.load.asked.at(-1)!.runId!;
    world.fault(`${readers} slow readers, ${stuck} that read nothing`);
    const forMs = world.controlled ? 6_000 : world.short ? 15_000 : 60_000;
    const header = `${connectionHeader}: full\r\n`;
    const blocked = Promise.all(Array.from({ length: stuck }, () => follow(world, runId, forMs, header)));
    const creeping = Promise.all(Array.from({ length: readers }, () => follow(world, runId, forMs)));
    // Other clients ask in the meantime: the slow ones must not affect them.
    const others = await Promise.all([load, world.load.run({ runs: 3, atOnce: 3, name: 'others', patienceMs: 30_000 })]);
    for (const { runId: asked, acceptedAt } of others.flat()) {
      const shownMs = (world.load.ended.get(asked ?? '') ?? Infinity) - (acceptedAt ?? 0);
      if (asked !== null && shownMs > shownWithinMs) world.breaks(asked, `Its own client was shown its end after ${shownMs} ms.`);
    }
    const dropped = (await creeping).filter((end) => end === 'cut').length;
    const ends = await blocked;
    if (forMs > droppedAfterMs)
      for (const [n, end] of ends.entries())
        if (end !== 'cut') world.breaks(`reader ${n + 1}`, `It read nothing for ${forMs} ms and was not dropped.`);
    const kept = await checkKept(world, stuck);
    world.row({
      name: `${readers} slow, ${stuck} reading nothing`,
      outcome: `${dropped} and ${ends.filter((end) => end === 'cut').length} dropped, at most ${kept} bytes kept, others answered`,
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
  controls: [{ without: 'whole-replies', check: 'right-answer' }],
  // A call that never ends is given up when the wall time of its run (120 s in the long form) is nearly over.
  bounds: { answered: 0.7, terminalMs: 130_000 },
  limitS: 180,
  ci: ['embedded'],
  async run(world) {
    await world.warmUp();
    world.upstreamFaults = true;
    // Without a protection, only the faults that leave part of an answer matter; the others would be awaited for 20 s.
    const caused = world.controlled ? faults.filter(({ name }) => name === 'truncated' || name === 'cut') : faults;
    const hit = new Set<string>();
    world.behave({
      instead: (role, question) => {
        const fault = caused.find((one) => question.includes(`${one.name}-`) && one.role === role);
        if (!fault || hit.has(question)) return null;
        hit.add(question);
        return fault.reply;
      },
    });
    const began = world.fault('faults of the model server');
    // A stalled call is given up when the time of the run is nearly over; the short form does not wait the 120 s of a patient user for that.
    await Promise.all(
      caused.map(({ name }) => world.load.run({ runs: 1, atOnce: 1, name, wallTimeS: world.short ? 20 : 120, patienceMs: 130_000 })),
    );
    if (hit.size < caused.length) throw new Error(`Only ${hit.size} of ${caused.length} faults were met.`);
    for (const { name } of caused) {
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
