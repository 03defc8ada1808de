import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { PlannedTask, Template } from '@conclave/contracts';
import { capabilityOf, knownStrategy } from '@conclave/strategies';
import { loadExtensions as load } from './load-extensions.js';
import { isOfExtension } from './outlive.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-extension-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const loadExtensions = (extensions: string[], limitMs?: number) => load({ extensions, extension_timeout_s: 0, task_classes: {} }, limitMs);
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
    const brought = await loadExtensions(paths);
    expect(brought.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['strategy own-loop', 'capability own_source']);
    expect(knownStrategy('own-loop')).toMatchObject({ id: 'own-loop', commands: ['cancel', 'pause', 'resume', 'steer', 'add_context'] });
    expect(capabilityOf('own_source')).toMatchObject({ taskClass: 'evidence', forPlanner: 'x' });
  });

  it('has the version of its module, so that cached answers from before a change are not served after it', async () => {
    await loadExtensions([
      file(`${strategy('versioned-loop')}\n// one`),
      file(strategy('other-loop')),
      file(capability('versioned_source')),
    ]);
    const versions = [knownStrategy('versioned-loop'), knownStrategy('other-loop'), capabilityOf('versioned_source')].map(
      (one) => one?.version,
    );
    expect(versions).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{16}$/)));
    expect(new Set(versions).size).toBe(3);
  });

  it('in TypeScript is refused with the command that compiles it where Node.js does not run it', async () => {
    const path = join(folder, 'typed.ts');
    writeFileSync(path, `const id: string = 'typed-loop'; ${strategy('typed-loop')}`);
    const isRun = Boolean((process.features as { readonly typescript?: unknown }).typescript);
    if (isRun) await loadExtensions([path]);
    else
      await expect(loadExtensions([path])).rejects.toThrow(
        'npx esbuild typed.ts --bundle --format=esm --platform=node --outfile=typed.mjs',
      );
  });

  it('may name a class of workers that is configured, or whose capability is moved to another', async () => {
    const own = (name: string) => file(capability(name, "forPlanner: 'x', taskClass: 'own', perform: async () => ({ facts: [] })"));
    await load({ extensions: [own('of_own')], extension_timeout_s: 0, task_classes: { own: { capabilities: [] } } });
    await load({ extensions: [own('of_gpu')], extension_timeout_s: 0, task_classes: { gpu: { capabilities: ['of_gpu'] } } });
    expect(['of_own', 'of_gpu'].map((name) => capabilityOf(name)?.taskClass)).toEqual(['own', 'own']);
  });

  it('that never finishes loading is refused, so that the start does not hang without a message', async () => {
    const path = file('export default () => new Promise(() => {});');
    await expect(loadExtensions([path], 20)).rejects.toThrow('it was not loaded within 0.02 s');
  });

  it('whose schema of arguments never returns sends the plan back with a sentence', async () => {
    const path = file(
      `export default (kit) => ({ capabilities: [kit.capability({ name: 'spinning_source', forPlanner: 'x', perform: async () => ({ facts: [] }),
        args: kit.z.object({}).refine(() => { for (;;); }) })] });`,
    );
    await load({ extensions: [path], extension_timeout_s: 0.05, task_classes: {} });
    const task = { id: 't1', args: {} } as unknown as PlannedTask;
    expect(capabilityOf('spinning_source')!.faults!(task, {} as Template)).toEqual([
      expect.stringContaining('Arguments of task "t1": the schema of "spinning_source" failed: It did not return in time'),
    ]);
  });

  it('is blamed for an error whose stack names it, and for no other', async () => {
    const path = file(`export const fail = () => { throw new Error('late'); }; ${capability('late_source')}`);
    await loadExtensions([path]);
    const { fail } = (await import(pathToFileURL(path).href)) as { fail: () => void };
    const thrown = (call: () => void): unknown => {
      try {
        return call();
      } catch (error) {
        return error;
      }
    };
    expect(isOfExtension(thrown(fail))).toBe(true);
    expect(isOfExtension(new Error('ours'))).toBe(false);
    expect(isOfExtension('late')).toBe(false);
  });

  it.each([
    ['that is not there', () => join(folder, 'nothing.mjs'), 'Cannot find'],
    ['that is not JavaScript', () => file('\nexport default () => ({\n  a: = 1,\n});'), "Unexpected token '=' (extension-"],
    ['that contains a mistake', () => file('\nexport default (kit) => kit.nothing();'), '.mjs:2:'],
    ['that throws', () => file("throw new Error('no key')"), 'no key'],
    ['that exports no function', () => file('export default {};'), 'exports no function'],
    ['that returns nothing', () => file('export default () => undefined;'), 'does not return an object'],
    ['that returns another list', () => file('export default () => ({ strategy: [] });'), 'returns `strategy`, which is unknown'],
    ['that returns no lists', () => file('export default () => ({ strategies: {} });'), 'does not return an object'],
    [
      'with a strategy that the kit did not make',
      () => file("export default () => ({ strategies: [{ id: 'raw-loop', next: () => [] }] });"),
      '`strategies[0]` was not made by the kit: make it with `strategy({ … })`',
    ],
    [
      'with a changed copy of a strategy',
      () => file("export default (kit) => ({ strategies: [{ ...kit.strategy({ id: 'copied-loop', next: () => [] }), next: 1 }] });"),
      '`strategies[0]` was not made by the kit',
    ],
    [
      'with null for a capability',
      () => file('export default () => ({ capabilities: [null] });'),
      '`capabilities[0]` was not made by the kit',
    ],
    [
      'with a strategy among the capabilities',
      () => file("export default (kit) => ({ capabilities: [kit.strategy({ id: 'lost-loop', next: () => [] })] });"),
      '`capabilities[0]` is a strategy; put it into the other list',
    ],
    ['with a strategy of the product', () => file(strategy('agentic')), 'The strategy "agentic" already exists'],
    ['with a strategy that has no id', () => file(strategy('Own Loop')), 'needs an id'],
    ['with a strategy without next', () => file(strategy('no-next', '')), 'has no function `next`'],
    ['with a capability of the product', () => file(capability('research')), 'The capability "research" already exists'],
    ['with a name that models use for another', () => file(capability('web_search')), 'already exists'],
    ['with a capability that has no name', () => file(capability('a b')), 'needs a name'],
    [
      'with a capability without a description for the planner',
      () => file(capability('idle', 'perform: async () => ({ facts: [] })')),
      '`forPlanner`',
    ],
    [
      'with a capability of workers that are not configured',
      () => file(capability('far_away', "forPlanner: 'x', taskClass: 'gpu', perform: async () => ({ facts: [] })")),
      'the class "gpu", which is not configured: add `task_classes: { gpu: { capabilities: [far_away] } }`',
    ],
    [
      'with a capability that takes a text for arguments',
      () => file(capability('worded', "forPlanner: 'x', args: kit.z.string(), perform: async () => ({ facts: [] })")),
      'has `args` that are not a schema of `z` for objects',
    ],
    [
      'with a capability of several lines',
      () => file(capability('talkative', "forPlanner: 'a\\nb', perform: async () => ({ facts: [] })")),
      'has more than one line in `forPlanner`',
    ],
    ['that throws no Error', () => file('throw { code: 7 };'), 'it threw {"code":7}'],
    ['with a capability without perform', () => file(capability('idle', "forPlanner: 'x'")), 'has no function `perform`'],
  ])('%s is refused with its path', async (_what, path, words) => {
    const at = path();
    await expect(loadExtensions([at])).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID', message: expect.stringContaining(words) });
    await expect(loadExtensions([at])).rejects.toThrow(at);
  });
});
