// The third step of docs/guides/experts-and-models.md with scripted models in place of the local server: the models that answer are those
// on the page.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ScriptedModelServer } from '@conclave/test-support';
import { ask, CommitteeScript, System, expert, readRun, user } from '@conclave/test-support/system';
import { pageFolder, readPage, writeFiles } from './harness/page.js';

const page = readPage('docs/guides/experts-and-models.md');
const configuration = page.blocks.find(({ language, code }) => language === 'yaml' && code.includes('contracts: {'))!;
const question = 'May the landlord raise the rent twice a year?';
const folder = pageFolder();
let models: ScriptedModelServer;
let system: System;

beforeAll(async () => {
  models = await ScriptedModelServer.start({ models: ['qwen3:8b', 'qwen3:32b'] });
  writeFiles(page, folder);
  writeFileSync(join(folder, 'prompts/contracts.md'), 'You review contracts.\n');
  writeFileSync(join(folder, 'conclave.yaml'), configuration.code.replace('http://127.0.0.1:11434/v1', models.url));
  system = await System.start({ mode: 'embedded', demo: true, env: { CONCLAVE_CONFIG: join(folder, 'conclave.yaml') } });
});
afterAll(async () => {
  await system?.stop();
  await models?.close();
  rmSync(folder, { recursive: true });
});

it('asks the second tier when the first is unsure, and then checks for gaps', async () => {
  const reply = (confidence: number): string => `It may not.\nFINDING: It may not.\nCONFIDENCE: ${confidence}\nGAPS: none\nREFER: none`;
  const script = new CommitteeScript(models, question)
    .plan([expert('x1', question, 'contracts')])
    .expertReply({ text: reply(0.4) })
    .expertReply({ text: reply(0.9) })
    .complete();
  const answer = await ask(system.url(), { model: 'contracts', messages: user(question) });
  const calls = script.calls().map(({ model }) => model);
  expect(calls).toEqual(['qwen3:8b', 'qwen3:8b', 'qwen3:32b', 'qwen3:32b']);
  expect(script.unused()).toEqual([]);
  expect(JSON.stringify(script.calls('expert')[0]!.messages)).toContain('You review contracts.');
  expect(await readRun(system.url(), answer.headers.get('x-run-id')!)).toMatchObject({
    outcome: 'completed',
    answer: expect.stringContaining('It may not.'),
  });
});
