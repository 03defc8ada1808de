import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import type { MemoryTool } from './memory-tools.js';
import { longestToolContent, longestToolDescription, type ToolServers } from './tools.js';

export interface ToolsWorld {
  readonly tools: ToolServers;
  dispose(): Promise<void>;
}

export interface ToolsUnderTest {
  /** A server `sample` with the tools of `sampleTools()`, and a server `away` that does not answer. */
  open(): Promise<ToolsWorld>;
}

const object = (properties: Record<string, unknown>, required: readonly string[] = []): MemoryTool['inputSchema'] => ({
  type: 'object',
  properties,
  required,
});

/** Tools of the suite's server `sample`; an adapter serves them from a real server. */
export function sampleTools(): Readonly<Record<string, MemoryTool>> {
  let cancelled = 0;
  return {
    echo: {
      description: `Says a text again.\u0007\n\n${'Very useful. '.repeat(100)}`,
      inputSchema: object({ text: { type: 'string' }, times: { type: 'integer' } }, ['text']),
      repeatable: true,
      run: async ({ text, times = 1 }) => Array.from({ length: Number(times) }, () => String(text)).join(' '),
    },
    refuse: {
      description: 'Always refuses.',
      inputSchema: object({}),
      run: async () => ({ content: 'There is no such account.', isError: true }),
    },
    wait: {
      description: 'Answers when it is cancelled, which is never heard.',
      inputSchema: object({}),
      run: (_args, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => ((cancelled += 1), resolve('too late')), { once: true })),
    },
    cancelled: { description: 'How many calls of wait were cancelled.', inputSchema: object({}), run: async () => String(cancelled) },
    long: {
      description: 'A long result.',
      inputSchema: object({}),
      run: async () => `start\u0000${'x'.repeat(2 * longestToolContent)}`,
    },
    measure: {
      description: 'A structured result.',
      inputSchema: object({ unit: { type: 'string', enum: ['m', 'ft'] } }, ['unit']),
      run: async ({ unit }) => ({ content: '', structured: { value: 12, unit } }),
    },
  };
}

/** Every promise of `ToolServers`; each test gets a new world. */
export function describeToolServers(name: string, { open }: ToolsUnderTest): void {
  describe(`${name} are tool servers that`, () => {
    let world: ToolsWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const call = (tool: string, args: Record<string, unknown> = {}, { signal = new AbortController().signal, timeoutMs = 10_000 } = {}) =>
      world.tools.call({ tool, args, signal, timeoutMs });
    const failureOf = (calling: Promise<unknown>): Promise<Failure> =>
      calling.then(
        (value) => Promise.reject(new Error(`It did not fail: ${JSON.stringify(value)}`)),
        (error: unknown) => error as Failure,
      );

    it('offer the tools of every server that answers, each in one bounded line', async () => {
      const offers = await world.tools.offers();
      expect(offers.map((offer) => offer.name)).toEqual(
        ['cancelled', 'echo', 'long', 'measure', 'refuse', 'wait'].map((tool) => `sample.${tool}`),
      );
      const echo = offers.find((offer) => offer.name === 'sample.echo')!;
      expect(echo.signature).toBe('text: string, times?: integer');
      expect(echo.description).toMatch(/^Says a text again\. Very useful\. .*…$/);
      expect(echo.description.length).toBeLessThanOrEqual(longestToolDescription);
      expect(offers.find((offer) => offer.name === 'sample.measure')!.signature).toBe('unit: "m" | "ft"');
    });

    it('report which servers answer and which do not, and never fail for an unavailable one', async () => {
      await world.tools.offers();
      const [away, sample] = [...world.tools.status()].sort((a, b) => (a.name < b.name ? -1 : 1));
      expect(sample).toEqual({ name: 'sample', ok: true, error: null, tools: 6 });
      expect(away).toEqual({ name: 'away', ok: false, error: expect.stringMatching(/\w.*\.$/), tools: 0 });
    });

    it('call a tool with its arguments', async () => {
      expect(await call('sample.echo', { text: 'tea', times: 2 })).toEqual({ content: 'tea tea', structured: null, isError: false });
    });

    it('accept a name without its server if only one tool has it', async () => {
      expect((await call('echo', { text: 'tea' })).content).toBe('tea');
      expect((await world.tools.describe('echo')).name).toBe('sample.echo');
    });

    it('describe a tool with its schema and whether it may be repeated', async () => {
      expect(await world.tools.describe('sample.echo')).toMatchObject({
        name: 'sample.echo',
        signature: 'text: string, times?: integer',
        inputSchema: { type: 'object', properties: { times: { type: 'integer' } }, required: ['text'] },
        repeatable: true,
      });
      expect((await world.tools.describe('sample.refuse')).repeatable).toBe(false);
    });

    it('make many calls at the same time, and return to each its own answer', async () => {
      const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => call('sample.echo', { text: `number ${n}` })));
      expect(replies.map((reply) => reply.content)).toEqual(Array.from({ length: 40 }, (_, n) => `number ${n}`));
    });

    it('name the nearest tool if one is unknown', async () => {
      expect(await failureOf(call('sample.ecko'))).toMatchObject({
        code: 'TOOL_UNKNOWN',
        detail: expect.stringContaining('`sample.echo`'),
      });
      expect(await failureOf(world.tools.describe('other.measure'))).toMatchObject({
        code: 'TOOL_UNKNOWN',
        detail: expect.stringContaining('`sample.measure`'),
      });
      expect((await failureOf(call(`sample.\u0000${'x'.repeat(10_000)}`))).message.length).toBeLessThan(400);
    });

    it('refuse invalid arguments before anything runs, with path and what is expected', async () => {
      expect(await failureOf(call('sample.echo', { text: 'tea', times: 'two' }))).toMatchObject({
        code: 'TOOL_ARGUMENTS_INVALID',
        detail: expect.stringMatching(/`times` must be integer.*text: string, times\?: integer/),
      });
      expect(await failureOf(call('sample.echo'))).toMatchObject({
        code: 'TOOL_ARGUMENTS_INVALID',
        detail: expect.stringContaining('`text`'),
      });
    });

    it('return the sentence of a tool that refuses as its reply', async () => {
      expect(await call('sample.refuse')).toEqual({ content: 'There is no such account.', structured: null, isError: true });
    });

    it('cut a long result, and say so', async () => {
      const { content } = await call('sample.long');
      expect(content.length).toBeLessThanOrEqual(longestToolContent);
      expect(content).toMatch(/^startx+\n\[The result is cut: \d+ characters, cut to 65536\.\]$/);
    });

    it('return a structured result', async () => {
      expect((await call('sample.measure', { unit: 'ft' })).structured).toEqual({ value: 12, unit: 'ft' });
    });

    it('give up a call after its time limit', async () => {
      expect((await failureOf(call('sample.wait', {}, { timeoutMs: 50 }))).code).toBe('CALL_TIMEOUT');
      expect((await call('sample.echo', { text: 'on' })).content).toBe('on');
    });

    it('notify a server that its call is cancelled', async () => {
      const leaving = new AbortController();
      const failing = failureOf(call('sample.wait', {}, { signal: leaving.signal }));
      await call('sample.echo', { text: 'the call before has arrived' });
      leaving.abort();
      expect((await failing).code).toBe('CALL_CANCELLED');
      await expect(call('sample.cancelled')).resolves.toMatchObject({ content: '1' });
      expect((await failureOf(call('sample.echo', { text: 'x' }, { signal: AbortSignal.abort() }))).code).toBe('CALL_CANCELLED');
    });

    it('fail for tools of an unavailable server, and for every tool once they are closed', async () => {
      expect((await failureOf(call('away.anything'))).code).toBe('TOOL_SERVER_UNAVAILABLE');
      expect((await failureOf(world.tools.describe('away.anything'))).code).toBe('TOOL_SERVER_UNAVAILABLE');
      await world.tools.close();
      await world.tools.close();
      expect((await failureOf(call('sample.echo', { text: 'tea' }))).code).toBe('TOOL_SERVER_UNAVAILABLE');
      expect(await world.tools.offers()).toEqual([]);
    });
  });
}
