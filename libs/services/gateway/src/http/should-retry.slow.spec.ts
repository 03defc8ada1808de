import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Failure, type FailureCode, failures } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { completed, reply, World } from '../__fixtures__/world.js';

/** The status codes that SDKs retry by themselves unless the response forbids it. */
const isRepeated = (status: number): boolean => [408, 409, 429].includes(status) || status >= 500;
const codes = Object.keys(failures) as FailureCode[];
const used = { calls: 1, prompt: 40, completion: 2, reasoning: 0, cost: 0, estimated: false };

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(() => {
  for (const runId of world.runs()) if (!world.stores.stored.get(runId)?.terminal) world.stores.write(runId, [completed()]);
});

const direct = (): Promise<Response> => world.chat({ model: 'm@fake', stream: false });
const askTools = { model: 'conclave', stream: false, tools: [{ type: 'function', function: { name: 'look' } }] };

/** Whether an SDK would retry a request that got this response. */
async function isAgain(response: Response): Promise<boolean> {
  await response.arrayBuffer();
  return isRepeated(response.status) && response.headers.get('x-should-retry') !== 'false';
}

describe.each(codes)('%s', (code) => {
  const { retriable, paid } = failures[code];

  it('before anything was paid is retried when that can help', async () => {
    const { runs } = world.stores.state;
    const accept = runs.accept;
    runs.accept = () => Promise.reject(new Failure(code));
    const isRefused = await isAgain(await world.chat({ stream: false }));
    runs.accept = accept;
    expect(isRefused).toBe(retriable && !paid && isRepeated(failures[code].status));
  });

  it('of a model that had used tokens is never retried, and of one that had not when that can help', async () => {
    world.models.next(() => Promise.reject(new Failure(code, undefined, { context: { usage: used } })));
    expect(await isAgain(await direct())).toBe(false);
    world.models.next(() => Promise.reject(new Failure(code)));
    expect(await isAgain(await direct())).toBe(retriable && !paid && isRepeated(failures[code].status));
  });

  it('of a run, which has paid for its calls, is never retried', async () => {
    const before = world.runs().length;
    const answer = world.chat({ stream: false });
    await until('the run', () => world.runs().length > before);
    const failure = { code, message: failures[code].message, retriable };
    world.stores.write(world.runs().at(-1)!, [completed({ outcome: 'failed', answer: null, failure })]);
    expect(await isAgain(await answer)).toBe(false);
  });
});

describe('a cost before the failure', () => {
  it('is not paid again by a retry: the tool model had been called when the run was refused', async () => {
    const asked = await World.open({ template: { client_tools: 'ask_first', tool_model: 'm@fake' } });
    try {
      asked.models.next(async (): Promise<ModelReply> => reply());
      asked.stores.state.runs.accept = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
      const response = await asked.chat(askTools);
      expect([response.status, await isAgain(response)]).toEqual([503, false]);
    } finally {
      await asked.close();
    }
  });

  it('does not arise when too many runs are open: the tool model is not called', async () => {
    const full = await World.open({ limits: { openRuns: 0 }, template: { client_tools: 'ask_first', tool_model: 'm@fake' } });
    try {
      const response = await full.chat(askTools);
      expect([response.status, await isAgain(response), full.models.calls.length]).toEqual([429, true, 0]);
    } finally {
      await full.close();
    }
  });
});
