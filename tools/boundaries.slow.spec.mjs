import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { ESLint } from 'eslint';
import { layerRules } from '../eslint.config.mjs';
import typescript from 'typescript-eslint';
import { layers } from '../layers.mjs';
import { projects, workspaceRoot } from './workspace.mjs';

jest.setTimeout(60_000);

// A boundary rule whose resolver or patterns match nothing passes every file. So these tests lint forbidden imports and
// expect refusals.

const workspace = projects();
/** A project of the layer that others can import, if there is one; programs and the console export nothing. */
const projectOf = (layer) => workspace.find(({ folder, ...project }) => project.layer === layer && existsSync(`${folder}/src/index.ts`));
/** Any shipped file of a project. */
const fileOf = ({ folder }) =>
  `${folder}/src/${readdirSync(`${folder}/src`, { recursive: true }).find((name) => /(?<!\.spec|\.contract|suites)\.ts$/.test(name))}`;

/** Without type-aware rules: boundaries do not need them, and they would read the whole project for one line of code. */
const wholeConfiguration = new ESLint({ cwd: workspaceRoot, overrideConfig: [typescript.configs.disableTypeChecked] });
const layersAlone = new ESLint({
  cwd: workspaceRoot,
  overrideConfigFile: true,
  overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parser: typescript.parser } }, layerRules],
});

/** The ids of the rules that refuse `code` as the content of `filePath`; the file has to exist. */
async function refusals(filePath, code, eslint = wholeConfiguration) {
  const [result] = await eslint.lintText(code, { filePath });
  const fatal = result.messages.find((message) => message.fatal);
  if (fatal) throw new Error(`${filePath}: ${fatal.message}`);
  return [...new Set(result.messages.map((message) => message.ruleId))];
}

describe('layer boundaries', () => {
  it('has a project for every layer and a rule for the layer of every project', () => {
    const used = new Set(workspace.map(({ layer }) => layer));
    expect([...used].sort()).toEqual(Object.keys(layers).sort());
  });

  it('refuses every import between two projects that the table does not allow, and no other', async () => {
    const wrong = [];
    for (const from of workspace) {
      for (const to of Object.keys(layers).map(projectOf).filter(Boolean)) {
        if (to === from) continue;
        const refused = (await refusals(fileOf(from), `import '${to.name}';`, layersAlone)).includes('boundaries/dependencies');
        if (refused === layers[from.layer].includes(to.layer)) wrong.push(`${from.name} -> ${to.name} ${refused ? 'refused' : 'allowed'}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['a service that imports an adapter', 'libs/services/merger/src/index.ts', `import '@conclave/adapter-kafka';`],
    ['a type import of an adapter by a service', 'libs/services/planner/src/index.ts', `import type {} from '@conclave/adapter-redis';`],
    ['a re-export of an adapter by a service', 'libs/services/planner/src/index.ts', `export * from '@conclave/adapter-redis';`],
    [
      'a lazy import of an adapter by a service',
      'libs/services/planner/src/index.ts',
      `export const lazy = () => import('@conclave/adapter-redis');`,
    ],
    ['a service that imports another service', 'libs/services/merger/src/index.ts', `import '@conclave/service-planner';`],
    ['an adapter that imports another adapter', 'libs/adapters/kafka/src/index.ts', `import '@conclave/adapter-sqlite';`],
    ['the loop that imports a port', 'libs/loop/src/index.ts', `import '@conclave/ports';`],
  ])('refuses %s', async (_name, filePath, code) => {
    expect(await refusals(filePath, code)).toContain('boundaries/dependencies');
  });

  it('lets a spec import the test support, but not the code next to it', async () => {
    const code = `import '@conclave/test-support';`;
    expect(await refusals('libs/adapters/openai/src/any.spec.ts', code, layersAlone)).toEqual([]);
    expect(await refusals('libs/adapters/openai/src/any.ts', code, layersAlone)).toEqual(['boundaries/dependencies']);
  });

  it('refuses imports that bypass the package name', async () => {
    const code = `import '../../../adapters/kafka/src/index.js';`;
    expect(await refusals('libs/services/merger/src/index.ts', code)).toEqual(
      expect.arrayContaining(['boundaries/dependencies', 'no-restricted-imports']),
    );
  });

  it.each([
    ['Nest in the loop', 'libs/loop/src/index.ts', `import '@nestjs/common';`, 'no-restricted-imports'],
    ['kafkajs in a strategy', 'libs/strategies/src/index.ts', `import 'kafkajs';`, 'no-restricted-imports'],
    ['the file system in the loop', 'libs/loop/src/index.ts', `import 'node:fs';`, 'no-restricted-imports'],
    ['zod in the loop', 'libs/loop/src/index.ts', `import 'zod';`, 'no-restricted-imports'],
    ['yaml in the contracts', 'libs/contracts/src/index.ts', `import 'yaml';`, 'no-restricted-imports'],
    ['Jest in shipped code of the loop', 'libs/loop/src/index.ts', `import '@jest/globals';`, 'no-restricted-imports'],
    ['the clock in the loop', 'libs/loop/src/index.ts', `export const now = Date.now();`, 'no-restricted-properties'],
    ['a new Date in a strategy', 'libs/strategies/src/index.ts', `export const now = new Date();`, 'no-restricted-syntax'],
    ['chance in a strategy', 'libs/strategies/src/index.ts', `export const draw = Math.random();`, 'no-restricted-properties'],
    [
      'the whole of zod in the contracts',
      'libs/contracts/src/index.ts',
      `import { z } from 'zod'; export const name = z.string();`,
      'no-restricted-syntax',
    ],
    [
      'the whole of zod in an adapter',
      'libs/adapters/mcp/src/index.ts',
      `import { type z } from 'zod'; export type Of<T extends z.ZodType> = z.infer<T>;`,
      'no-restricted-syntax',
    ],
    ['a timer in the loop', 'libs/loop/src/index.ts', `setTimeout(() => undefined, 1);`, 'no-restricted-globals'],
    [
      'the environment in a service',
      'libs/services/merger/src/index.ts',
      `export const port = process.env.PORT;`,
      'no-restricted-properties',
    ],
  ])('refuses %s', async (_name, filePath, code, rule) => {
    expect(await refusals(filePath, code)).toEqual([rule]);
  });

  // One file of each kind with further syntax rules, and one without: the last configuration block for a file wins.
  it.each([
    'libs/contracts/src/index.ts',
    'libs/loop/src/index.ts',
    'libs/loop/src/pipeline.spec.ts',
    'libs/services/merger/src/index.ts',
    'libs/adapters/sqlite/src/__fixtures__/folder.ts',
    'apps/planner/src/main.ts',
    'tests/faults/src/main.ts',
    'bench/src/main.ts',
  ])('refuses a member whose name begins with # in %s', async (filePath) => {
    const code = 'export class One { #two = 1; three() { return this.#two; } static is(one: object) { return #two in one; } }';
    expect(await refusals(filePath, code)).toEqual(['no-restricted-syntax']);
    expect(await refusals(filePath, 'export class One { private two = 1; three() { return this.two; } }')).toEqual([]);
  });

  it.each(['bury', 'withoutTwins', 'Asked', 'patiently'])('refuses the name %s, which the glossary forbids', async (name) => {
    expect(await refusals('libs/loop/src/index.ts', `export const ${name} = 1;`)).toEqual(['id-denylist']);
  });

  it.each([
    ['zod in the contracts', 'libs/contracts/src/index.ts', `import 'zod';`],
    ['zod by its names in the contracts', 'libs/contracts/src/index.ts', `import * as z from 'zod'; export const name = z.string();`],
    ['a date from a given time in the loop', 'libs/loop/src/index.ts', `export const at = (now: number) => new Date(now);`],
    ['an adapter in an app', 'apps/standalone/src/main.ts', `import '@conclave/host';`],
  ])('lets %s pass', async (_name, filePath, code) => {
    expect(await refusals(filePath, code)).toEqual([]);
  });
});
