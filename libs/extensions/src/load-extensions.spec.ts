import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { capabilityOf, knownStrategy } from '@conclave/strategies';
import { loadExtensions } from './load-extensions.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-extension-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let n = 0;
const file = (code: string): string => {
  const path = join(folder, `extension-${(n += 1)}.mjs`);
  writeFileSync(path, code);
  return path;
};
const strategy = (id: string, rest = 'next: () => []') =>
  `export default (kit) => ({ strategies: [kit.strategy({ id: '${id}', ${rest} })] });`;
const capability = (name: string, rest = "forPlanner: 'x', perform: async () => ({ facts: [] })") =>
  `export default (kit) => ({ capabilities: [kit.capability({ name: '${name}', ${rest} })] });`;

describe('an extension', () => {
  it('adds strategies and capabilities, once', async () => {
    const paths = [file(strategy('own-loop')), file(capability('own_source'))];
    await loadExtensions(paths);
    await loadExtensions(paths);
    expect(knownStrategy('own-loop')).toMatchObject({ id: 'own-loop', commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'] });
    expect(capabilityOf('own_source')).toMatchObject({ taskClass: 'evidence', forPlanner: 'x' });
  });

  it.each([
    ['that is not there', () => join(folder, 'nothing.mjs'), 'Cannot find'],
    ['that is no JavaScript', () => file('export default ('), 'cannot be used'],
    ['that throws', () => file("throw new Error('no key')"), 'no key'],
    ['that exports no function', () => file('export default {};'), 'exports no function'],
    ['that returns nothing', () => file('export default () => undefined;'), 'does not return an object'],
    ['that returns no lists', () => file('export default () => ({ strategies: {} });'), 'does not return an object'],
    ['with a strategy of the product', () => file(strategy('agentic')), 'The strategy "agentic" is there already'],
    ['with a strategy that has no id', () => file(strategy('Own Loop')), 'needs an id'],
    ['with a strategy without next', () => file(strategy('no-next', '')), 'has no function `next`'],
    ['with a capability of the product', () => file(capability('research')), 'The capability "research" is there already'],
    ['with a name that models use for another', () => file(capability('web_search')), 'is there already'],
    ['with a capability that has no name', () => file(capability('a b')), 'needs a name'],
    ['with a capability that is for nothing', () => file(capability('idle', 'perform: async () => ({ facts: [] })')), '`forPlanner`'],
    ['with a capability that cannot be done', () => file(capability('idle', "forPlanner: 'x'")), 'has no function `perform`'],
  ])('%s is refused with its path', async (_what, path, words) => {
    const at = path();
    await expect(loadExtensions([at])).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID', message: expect.stringContaining(words) });
    await expect(loadExtensions([at])).rejects.toThrow(at);
  });
});
