import { describe, expect, it } from '@jest/globals';
import { Configuration, toolOffersSetting } from '@conclave/contracts';
import { MemoryStores, MemoryToolServers, type MemoryTool, type ToolServers } from '@conclave/ports';
import { publishToolOffers } from './publish-tool-offers.js';

const tool: MemoryTool = {
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
  run: async () => '1',
};
const configured = Configuration.parse({ mcp: { precision: { builtin: 'precision-tools' } } });

function world(tools: ToolServers | null, configuration: Pick<Configuration, 'mcp'> = configured) {
  const { state } = new MemoryStores().connect('one');
  const said: string[] = [];
  const logger = { info: (line: string) => void said.push(line), warn: (line: string) => void said.push(line) };
  const stored = () => state.settings.read(toolOffersSetting);
  const begin = (everyMs = 60_000) => publishToolOffers({ configuration, ports: { state, tools }, logger, everyMs });
  return { state, said, stored, begin };
}

describe('the offered tools', () => {
  it('are stored once, as planners read them', async () => {
    const { stored, begin } = world(new MemoryToolServers({ precision: { add: tool } }));
    for (let again = 0; again < 2; again += 1) {
      const published = begin();
      while (!(await stored())) await new Promise((resolve) => setImmediate(resolve));
      await published.close();
    }
    expect(await stored()).toEqual({
      version: 1,
      value: { tools: [{ name: 'precision.add', description: 'Adds.', signature: expect.stringContaining('a'), repeatable: false }] },
    });
  });

  it('follow changes, also after the store was unavailable', async () => {
    const offers: { now: readonly { name: string; description: string; signature: string }[] } = { now: [] };
    const one = { name: 'a.b', description: 'c', signature: 'd' };
    const { state, stored, begin, said } = world({ offers: async () => offers.now, status: () => [] } as unknown as ToolServers);
    const { read } = state.settings;
    const published = begin(1);
    const until = async (there: () => boolean | Promise<boolean>) => {
      while (!(await there())) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    offers.now = [one];
    await until(async () => (await stored())?.version === 1);
    state.settings.read = () => Promise.reject(new Error('away'));
    await until(() => said.some((line) => line.includes('retried')));
    state.settings.read = read;
    offers.now = [];
    await until(async () => (await read(toolOffersSetting))?.version === 2);
    await published.close();
    expect((await read(toolOffersSetting))?.value).toEqual({ tools: [] });
  });

  it('are available soon after a slow server answers, not a minute later', async () => {
    let looks = 0;
    const slow = {
      offers: async () => ((looks += 1) > 1 ? [{ name: 'a.b', description: 'c', signature: 'd' }] : []),
      status: () => [{ name: 'a', ok: looks > 1, error: null, tools: 0 }],
    } as unknown as ToolServers;
    const { stored, begin } = world(slow);
    const began = performance.now();
    const published = begin();
    while (!(await stored())) await new Promise((resolve) => setTimeout(resolve, 20));
    await published.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('stay while their server is still starting, and go when it has failed', async () => {
    const status = { name: 'a', ok: false, error: null as string | null, tools: 0 };
    let looks = 0;
    const server = { offers: async () => ((looks += 1), []), status: () => [status] } as unknown as ToolServers;
    const { state, stored, begin } = world(server);
    const before = { tools: [{ name: 'a.b', description: 'c', signature: 'd' }] };
    await state.settings.write(toolOffersSetting, 0, before);
    const published = begin(1);
    while (looks < 3) await new Promise((resolve) => setImmediate(resolve));
    expect(await stored()).toEqual({ version: 1, value: before });
    status.error = 'It ended with code 1.';
    while ((await stored())?.version !== 2) await new Promise((resolve) => setImmediate(resolve));
    await published.close();
    expect((await stored())?.value).toEqual({ tools: [] });
  });

  it('are those of the servers that answer, and the stored ones of servers that are still starting', async () => {
    const status = ['new', 'old', 'gone'].map((name) => ({ name, ok: name === 'new', error: name === 'gone' ? 'x' : null, tools: 1 }));
    const tool = (name: string) => ({ name, description: 'c', signature: 'd' });
    const { state, stored, begin } = world({ offers: async () => [tool('new.b')], status: () => status } as unknown as ToolServers);
    await state.settings.write(toolOffersSetting, 0, { tools: ['gone.a', 'new.a', 'old.a'].map(tool) });
    const published = begin();
    await published.asked;
    await published.close();
    expect((await stored())?.value).toEqual({ tools: [tool('new.b'), tool('old.a')] });
  });

  it('are none if no server is configured, even if one was configured before, and no server is asked', async () => {
    const asked = { offers: () => Promise.reject(new Error('asked')) } as unknown as ToolServers;
    const { state, stored, begin, said } = world(asked, { mcp: {} });
    await begin(1).close();
    expect(await stored()).toBeNull();
    await state.settings.write(toolOffersSetting, 0, { tools: [{ name: 'a.b', description: 'c', signature: 'd' }] });
    const published = begin(1);
    while ((await stored())?.version !== 2) await new Promise((resolve) => setImmediate(resolve));
    await published.close();
    expect([await stored(), said.filter((line) => line.includes('retried'))]).toEqual([{ version: 2, value: { tools: [] } }, []]);
  });
});
