import { describe, expect, it } from '@jest/globals';
import { MemoryToolServers } from './memory-tools.js';
import { describeToolServers, sampleTools } from './tools.contract.js';

describeToolServers('MemoryToolServers', {
  open: async () => ({ tools: new MemoryToolServers({ sample: sampleTools(), away: null }), dispose: async () => undefined }),
});

describe('a tool in memory', () => {
  it('fails with the error that its function throws', async () => {
    const run = (): Promise<string> => Promise.reject(new Error('no luck'));
    const tools = new MemoryToolServers({ own: { roll: { description: 'Rolls.', inputSchema: { type: 'object' }, run } } });
    const calling = tools.call({ tool: 'own.roll', args: {}, signal: new AbortController().signal, timeoutMs: 1_000 });
    await expect(calling).rejects.toMatchObject({ code: 'TOOL_FAILED', detail: expect.stringContaining('no luck') });
  });
});
