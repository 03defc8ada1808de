import { describe, expect, it } from '@jest/globals';
import { Configuration, toolOffersSetting } from '@conclave/contracts';
import { MemoryStores } from '@conclave/ports';
import { awaitedTools, type AwaitedTools } from './awaited-tools.js';

const { mcp } = Configuration.parse({ mcp: { precision: { builtin: 'precision-tools' }, pms: { url: 'http://pms.example/mcp' } } });

function world(more: Partial<AwaitedTools> = {}) {
  const { state } = new MemoryStores().connect('one');
  const named: unknown[] = [];
  const seen: unknown[] = [];
  const logger = { warn: (_line: string, about?: object) => void named.push(about) };
  const refresh = async (): Promise<void> => void seen.push((await state.settings.read(toolOffersSetting))?.value ?? null);
  const list = (...names: string[]) => {
    const tools = names.map((name) => ({ name, description: 'c', signature: 'd' }));
    return state.settings.write(toolOffersSetting, 0, { tools });
  };
  return { check: awaitedTools({ configuration: { mcp }, state, logger, refresh, ...more }), list, named, seen };
}

describe('the tools that readiness waits for', () => {
  it('are those of each configured server, and then stand in the templates', async () => {
    const { check, list, named, seen } = world();
    expect(await check()).toBe('waits for the tools of pms.');
    expect(seen).toEqual([]);
    await list('pms.rooms');
    expect([await check(), await check()]).toEqual([null, null]);
    expect([seen, named]).toEqual([[{ tools: [expect.objectContaining({ name: 'pms.rooms' })] }], []]);
  });

  it('are given up, and their server is named once, when it was asked in vain', async () => {
    let say = (): void => undefined;
    const asked = new Promise<void>((resolve) => (say = resolve));
    const { check, named, seen } = world({ asked });
    expect(await check()).toBe('waits for the tools of pms.');
    say();
    await asked;
    expect([await check(), await check()]).toEqual([null, null]);
    expect([named, seen]).toEqual([[{ servers: ['pms'] }], [null]]);
  });

  it('are given up after a while if no process asks', async () => {
    const { check, named } = world({ patienceMs: 0 });
    expect([await check(), named]).toEqual([null, [{ servers: ['pms'] }]]);
  });

  it('are not those of servers that come with the product', async () => {
    const { precision } = mcp;
    const { check, seen } = world({ configuration: { mcp: { precision: precision! } } });
    expect([await check(), seen]).toEqual([null, []]);
  });
});
