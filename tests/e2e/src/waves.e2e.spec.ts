import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Supervised, until } from '@conclave/test-support';
import { ask, cleared, System, freePorts, plainTemplate, readRun, user, workspaceRoot } from '@conclave/test-support/system';
import { describeOnce } from './harness/describe-once.js';
import { Warehouse, warehouseKey } from './harness/warehouse.js';
import { hotelScenarios } from './scenarios/hotel.js';
import { secretScenarios } from './scenarios/secrets.js';
import { plannedIn, wave, WaveScript, wavesIn } from './scenarios/wave-script.js';
import { waveScenarios } from './scenarios/waves.js';

const example = join(workspaceRoot, 'examples/hotel');
const hotelTools = ['calendar.check_is_weekend(', 'calendar.resolve_date_hint(', 'calendar.resolve_holiday(', 'pms.get_availability('];
const secrets = { PMS_TOKEN: 'pms-canary-2f90b1', STOCK_KEY: warehouseKey.value };
const hotelServer = (name: string) => ({ command: process.execPath, args: [join(example, 'server.mjs'), name], allow: true });
const caches = { answer: false, semantic: false, plan: false, search: false };

// One system for two worlds of tools, that of the worked example and an invented one: scenarios are distinguished by their questions.
/** What the log says of servers that a start no longer waits for. */
const lateServers = 'Ready without the tools of some servers';
let system: System;
let warehouse: Warehouse;

beforeAll(async () => {
  warehouse = await Warehouse.open();
  system = await System.start({
    configuration: {
      templates: {
        // One template as in the example, and one with everything that costs a committee calls.
        hotel: { strategy: 'waves', capabilities: ['mcp'], caches, learn: 'off' },
        stock: { ...plainTemplate, strategy: 'waves', capabilities: ['mcp'], tools: ['stock', 'stock.reserve'], task_timeout_s: 10 },
        shared: { ...plainTemplate, strategy: 'single-pass', split: { template: 'stock', share: 1 } },
      },
      mcp: {
        precision: { enabled: false },
        calendar: hotelServer('calendar'),
        pms: { ...hotelServer('pms'), env: { PMS_TOKEN: 'PMS_TOKEN' } },
        stock: { url: warehouse.url, headers_env: { [warehouseKey.name]: 'STOCK_KEY' } },
      },
    },
    env: secrets,
  });
  await toolsOffered([...hotelTools, 'stock.count(']);
}, 180_000);
afterAll(async () => {
  await system?.stop();
  await warehouse?.close();
});
let known = 0;
afterEach(() => {
  const violations = system?.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models received calls that no step answers:\n${violations.join('\n')}`);
});

/**
 * The first question after the start: its planner knows the tools of all servers. On a slow machine a server may take longer than a start
 * waits for it; then the log names it, and a later question finds its tools.
 */
async function toolsOffered(tools: readonly string[]): Promise<void> {
  const s = new WaveScript(system, 'Which tools are there?');
  s.wave(wave('done', 'There is nothing to look up.'), Infinity).composer({ text: 'These.' }, Infinity);
  const missing = async (): Promise<readonly string[]> => {
    await ask(system.url(), { model: 'hotel', messages: user(s.question) });
    const prompt = s.prompts.at(-1)!;
    return tools.filter((tool) => !prompt.includes(tool));
  };
  if ((await missing()).length === 0) return;
  expect(system.output()).toContain(lateServers);
  await until('the tools of all servers', async () => (await missing()).length === 0, { timeoutMs: 90_000, everyMs: 1_000 });
}

hotelScenarios(() => system);
waveScenarios(
  () => system,
  () => warehouse,
);
secretScenarios(() => system, secrets);

describeOnce('the example of the hotel', () => {
  it('starts as its README says, and its questions take the waves and planning calls listed there', async () => {
    const home = mkdtempSync(join(tmpdir(), 'conclave-example-'));
    const [port, modelPort] = await freePorts(2);
    const url = `http://127.0.0.1:${port}`;
    const model = await Supervised.start({
      name: 'the stand-in for a model',
      args: [join(example, 'model.mjs'), String(modelPort)],
      ready: /^OPENAI_BASE_URL=/m,
    });
    const env = {
      CONCLAVE_CONFIG: 'examples/hotel/conclave.yaml',
      PMS_TOKEN: secrets.PMS_TOKEN,
      OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    };
    const standalone = await Supervised.start({
      name: 'the example',
      args: [join(workspaceRoot, 'dist/standalone.js')],
      cwd: workspaceRoot,
      env: { ...cleared, ...env, CONCLAVE_HOME: home, PORT: String(port) },
      ready: `${url}/health/ready`,
      readyTimeoutMs: 60_000,
    });
    try {
      const answered = async (question: string) => {
        const { status, body } = await ask(url, { model: 'hotel', messages: user(question) });
        const run = await readRun(url, body.conclave!.run_id);
        const text = String(body.choices[0]!.message.content);
        return { status, text, waves: wavesIn(run), planned: plannedIn(run), outcome: run.outcome };
      };
      // The first question after it is ready finds the tools of its servers, or the log says that they are late.
      const finds = async (): Promise<boolean> => (await answered('Is tomorrow free?')).text.includes('standard');
      if (!(await finds())) {
        expect(standalone.output()).toContain(lateServers);
        await until('the tools of its servers', finds, { timeoutMs: 90_000, everyMs: 1_000 });
      }
      const figures = { status: 200, outcome: 'completed' };
      expect(await answered('one night in Hanukkah')).toMatchObject({ ...figures, waves: [['holiday1'], ['rooms1']], planned: 3 });
      const both = await answered('I need availability for Hanukkah and also next weekend');
      expect(both).toMatchObject({
        ...figures,
        waves: [expect.arrayContaining(['holiday1', 'hint1']), expect.arrayContaining(['rooms1', 'rooms2'])],
        planned: 3,
      });
      expect(both.text).toMatch(/2026-12-04 to 2026-12-05: 5 standard[^]*2025-01-17 to 2025-01-19: 2 standard/);
      expect(await answered('January 17-19')).toMatchObject({ ...figures, waves: [['rooms1']], planned: 2 });
      expect(standalone.output()).not.toContain(secrets.PMS_TOKEN);
    } finally {
      await standalone.stop();
      await model.stop();
      rmSync(home, { recursive: true, force: true });
    }
  }, 240_000);
});
