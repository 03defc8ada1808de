import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadExtensions } from '@conclave/extensions';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { exitCodes } from './ask.js';
import { findGateway } from './running-gateway.js';
import { templatesCommand } from './templates.js';
import { up, type RunningServer } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-templates-'));
const categories = { categories: Object.keys(expertPrompts) };
const load = (file?: string) =>
  loadConfiguration({ CONCLAVE_HOME: home, PORT: '0', ...(file ? { CONCLAVE_CONFIG: file } : {}) }, home, categories);
let running: RunningServer;
beforeAll(async () => {
  const sink = { write: () => undefined };
  writeFileSync(join(home, 'conclave.yaml'), 'templates: { critical: { strategy: reflective-rag } }\n');
  running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
});
afterAll(async () => {
  await running?.close();
  rmSync(home, { recursive: true, force: true });
});

async function templates(...args: string[]) {
  let [text, told] = ['', ''];
  const code = await templatesCommand({
    gateway: async () => (await findGateway(load()))!,
    load: async (file) => {
      const loaded = load(file);
      await loadExtensions(loaded.configuration);
      return loaded;
    },
    args,
    out: { write: (more) => void (text += more) },
    terminal: { write: (more) => void (told += more) },
  });
  return { code, text, told };
}
const file = (name: string, content: string): string => {
  writeFileSync(join(home, name), content);
  return join(home, name);
};

describe('templates at the command line', () => {
  it('are listed, shown, compared with a file, changed and set back', async () => {
    const { text } = await templates('list');
    expect(text.split('\n')).toEqual(expect.arrayContaining(['critical']));
    const id = 'critical';
    const shown = JSON.parse((await templates('show', id, '--json')).text) as { version: number; options: Record<string, unknown> };
    const [name, value] = Object.entries(shown.options).find(([, one]) => typeof one === 'number' && one > 1)! as [string, number];
    const options = file('options.json', JSON.stringify({ [name]: value - 1 }));
    expect(await templates('diff', id, options)).toMatchObject({
      code: exitCodes.failed,
      text: `- ${name}: ${value}\n+ ${name}: ${value - 1}\n`,
    });
    expect(await templates('apply', id, options, '--version', String(shown.version))).toMatchObject({ code: exitCodes.answered });
    expect(await templates('diff', id, options)).toMatchObject({ code: exitCodes.answered, text: 'No option differs.\n' });
    const none = file('none.json', '{}');
    await expect(templates('apply', id, none, '--version', '0')).rejects.toThrow(/Its current version is 1/);
    await templates('apply', id, none);
    expect((await templates('diff', id, options)).code).toBe(exitCodes.failed);
    // Back to the state before the last change, then to a version by its number.
    expect((await templates('rollback', id)).code).toBe(exitCodes.answered);
    expect((await templates('diff', id, options)).code).toBe(exitCodes.answered);
    expect(JSON.parse((await templates('rollback', id, '--version', '2', '--json')).text)).toMatchObject({ version: 4 });
    expect((await templates('diff', id, options)).code).toBe(exitCodes.failed);
    await expect(templates('rollback', id, '--version', '99')).rejects.toThrow(/99|version/);
  });

  it('of a file are checked as at a start, and mistakes are reported', async () => {
    const good = file('good.yaml', 'templates: { mine: { strategy: agentic, experts: { general: { t1: [m@openai] } } } }\n');
    expect(await templates('validate', good)).toMatchObject({ code: exitCodes.answered, text: `${good} has no mistake: mine.\n` });
    const bad = file('bad.yaml', 'templates: { mine: { strategy: agentik } }\n');
    await expect(templates('validate', bad)).rejects.toMatchObject({
      code: 'CONFIGURATION_INVALID',
      message: expect.stringMatching(/agentik|strategy/),
    });
    const module = file('own.mjs', "export default (kit) => ({ strategies: [kit.strategy({ id: 'own-way', next: () => [] })] });");
    const own = (template: string) => file('own.yaml', `extensions: [${module}]\ntemplates: { mine: { ${template} } }\n`);
    expect(await templates('validate', own('strategy: own-way'))).toMatchObject({ code: exitCodes.answered });
    await expect(templates('validate', own('strategy: own-wey'))).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID' });
    await expect(templates('validate', own('strategy: own-way, options: { looks: 1 }'))).rejects.toThrow('looks');
    const broken = file('broken.yaml', `extensions: [${file('broken.mjs', 'export default () => ({')}]\n`);
    await expect(templates('validate', broken)).rejects.toThrow('broken.mjs cannot be used');
    await expect(templates('apply', 'conclave', join(home, 'nowhere'))).rejects.toThrow(/There is no file/);
    await expect(templates('show', 'nobody')).rejects.toThrow(/No template/);
    await expect(templates('rollback')).rejects.toThrow(/needs other words/);
    expect(await templates('undo')).toMatchObject({
      code: exitCodes.usage,
      told: expect.stringMatching(/no command "templates undo"/),
    });
  });
});
