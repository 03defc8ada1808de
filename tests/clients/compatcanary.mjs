import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { address, apiKey, models, tell, versionOf } from './capabilities.mjs';

const cli = join(dirname(createRequire(import.meta.url).resolve('compatcanary')), 'cli.js');
/** The probes of compatcanary for each of our capabilities. */
const probes = {
  chat: ['chat.basic'],
  'chat, streamed': ['chat.streaming'],
  'tools, template': ['chat.tool_call'],
  'structured output': ['chat.structured_output'],
  models: ['models.list'],
  responses: ['responses.basic', 'responses.streaming'],
};
tell({ client: 'CompatCanary', version: versionOf('compatcanary') });

const scan = (profile) => {
  const args = [
    'scan',
    '--base-url',
    `${address}/v1`,
    '--model',
    models.passing,
    '--profile',
    profile,
    '--format',
    'json',
    '--fail-on',
    'never',
  ];
  const env = { ...process.env, OPENAI_API_KEY: apiKey };
  const { stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8', env, timeout: 120_000 });
  if (!stdout.startsWith('{')) throw new Error(`${stdout}${stderr}`);
  return JSON.parse(stdout).results;
};
const results = ['chat', 'modern'].flatMap(scan);
for (const [capability, ids] of Object.entries(probes)) {
  const found = results.filter(({ id }) => ids.includes(id));
  const bad = found.filter(({ status }) => status !== 'pass');
  tell({ capability, passes: found.length > 0 && bad.length === 0, reason: JSON.stringify(bad) });
}
