import { describe, expect, it } from '@jest/globals';
import { Configuration, type ToolOffer } from '@conclave/contracts';
import { offeredTools, withheldTools } from './offered-tools.js';

const tool = (name: string, readOnly?: boolean): ToolOffer => ({
  ...{ name, description: '', signature: '' },
  ...(readOnly === undefined ? {} : { readOnly }),
});
const offered = [
  tool('tickets.list', true),
  tool('tickets.close', false),
  tool('tickets.close.all', false),
  tool('files.read', true),
  tool('files.write', false),
];
const servers = { tickets: { url: 'http://127.0.0.1:9/mcp' }, files: { url: 'http://127.0.0.1:8/mcp' } };
const names = (tools?: readonly string[], files: object = {}, named?: readonly string[]) =>
  offeredTools(
    'desk',
    tools ? { tools: [...tools] } : {},
    Configuration.parse({ mcp: { ...servers, files: { ...servers.files, ...files } } }),
    offered,
    named,
  ).map(({ name }) => name);

describe('the tools of a template', () => {
  it('are those that declare that they change nothing, of every server', () => {
    expect(names()).toEqual(['tickets.list', 'files.read']);
  });

  it('are those of the servers and tools it names, and a tool that may change something only if it is named itself', () => {
    expect(names(['tickets'])).toEqual(['tickets.list']);
    expect(names(['files.read'])).toEqual(['files.read']);
    expect(names(['tickets.close'])).toEqual(['tickets.close']);
    expect(names(['tickets', 'tickets.close.all'])).toEqual(['tickets.list', 'tickets.close.all']);
    expect(names([])).toEqual([]);
    expect(names(['files.gone'])).toEqual([]);
  });

  it('may change something if their server may', () => {
    expect(names(undefined, { may_write: true })).toEqual(['tickets.list', 'files.read', 'files.write']);
    expect(names(['tickets'], { may_write: true })).toEqual(['tickets.list']);
    expect(names(undefined, { may_write: false })).toEqual(['tickets.list', 'files.read']);
  });

  it('may change something if the options of the strategy name them, unless the template has a list of its own', () => {
    expect(names(undefined, {}, ['files.write', 'files'])).toEqual(['tickets.list', 'files.read', 'files.write']);
    expect(names(['files'], {}, ['files.write'])).toEqual(['files.read']);
  });

  it('are refused if their server is not configured', () => {
    expect(() => names(['shop.buy'])).toThrow(
      'templates.desk.tools: there is no tool server for shop.buy. Servers under `mcp`: tickets, files.',
    );
  });

  it('that no template may call are reported once', () => {
    expect(withheldTools(offered, [{ tools: [tool('files.write')] }, {}])).toEqual([
      expect.stringContaining('tickets.close, tickets.close.all. Name them under `tools`'),
    ]);
    expect(withheldTools([tool('a.b', true)], [])).toEqual([]);
    expect(withheldTools([tool('old.tool')], [])).toEqual([]);
  });
});
