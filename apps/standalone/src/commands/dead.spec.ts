import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openSqlite } from '@conclave/adapter-sqlite';
import { DeadLetterList, DeadLetterView } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { exitCodes } from './ask.js';
import { deadCommand } from './dead.js';
import { up } from './up.js';
import { commandPrefix } from './typed.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-dead-'));
const sink = { write: () => undefined };
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const broken = Buffer.from('{"epoch": 0, "tasks": [\u001b[31m');

async function dead(...args: readonly string[]) {
  const bytes: Buffer[] = [];
  let warned = '';
  const code = await deadCommand({
    loaded: load,
    args,
    out: { write: (more) => void bytes.push(Buffer.from(more)) },
    terminal: { write: (more) => void (warned += more) },
  });
  const raw = Buffer.concat(bytes);
  return { code, raw, text: raw.toString(), warned };
}
const listed = async (...args: readonly string[]) => DeadLetterList.parse(JSON.parse((await dead('list', '--json', ...args)).text));

/** Opens the log of the stopped server for `work`. */
async function withLog<T>(work: (log: ReturnType<typeof openSqlite>['log']) => Promise<T>): Promise<T> {
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process' });
  try {
    return await work(sqlite.log);
  } finally {
    await sqlite.close();
  }
}

/** Runs the server until its log contains this many dead letters, and `work` in the meantime. */
async function whileRunning(letters: number, work: () => Promise<void>): Promise<void> {
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  try {
    const end = Date.now() + 10_000;
    while ((await listed('--all')).total < letters) {
      if (Date.now() > end) throw new Error(`There were not ${letters} letters within 10 s.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await work();
  } finally {
    await running.close();
  }
}

beforeAll(() =>
  withLog(async (log) => {
    // Read only by the merger.
    await log.publishRaw!({
      topic: 'plan.created',
      key: 'run_poison',
      headers: { ce_type: 'PlanCreated', ce_runid: 'run_poison' },
      raw: broken,
    });
    // Read by the merger and by the planner.
    await log.publishRaw!({ topic: 'plan.requested', key: null, headers: {}, raw: Buffer.from([0, 1, 2, 255]) });
  }),
);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('dead letters at the command line', () => {
  it('are settled through the gateway that runs', async () => {
    await whileRunning(3, async () => {
      const { code, text } = await dead('list');
      expect(code).toBe(exitCodes.answered);
      expect(text).toMatch(/^3 open dead letters in the gateway at http/);
      expect(text).toContain('plan.created');
      const [letter] = (await listed('--topic', 'plan.created')).data;
      const shown = await dead('show', letter!.id);
      expect(shown.text).toContain('group merger');
      expect(shown.text).toContain('undecodable: ');
      expect(shown.text).toContain('no task or run was ended because of it');
      // Terminal control characters are escaped.
      expect(shown.text).toContain('{"epoch": 0, "tasks": [\\u001b[31m');
      expect(shown.raw.includes(0x1b)).toBe(false);
      expect((await dead('show', letter!.id, '--raw')).raw.equals(broken)).toBe(true);
      expect(DeadLetterView.parse(JSON.parse((await dead('show', letter!.id, '--json')).text)).raw.text).toBe(broken.toString());

      const again = await dead('redrive', letter!.id, '--note', 'to see');
      expect(again).toMatchObject({ code: exitCodes.answered, warned: '' });
      expect(again.text).toContain(`Letter ${letter!.id} was published again on plan.created for the group merger alone.`);
      const end = Date.now() + 10_000;
      while (!(await listed()).data.some(({ redriveOf }) => redriveOf === letter!.id)) {
        if (Date.now() > end) throw new Error('It did not die again within 10 s.');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const refused = await dead('redrive', letter!.id);
      expect(refused).toMatchObject({ code: exitCodes.failed, text: '' });
      expect(refused.warned).toMatch(/already settled.*redriven by admin\.key/);
      expect((await dead('redrive', '7-7')).warned).toContain('No dead letter has this id');
    });
  }, 60_000);

  it('are settled in the data folder of a stopped server, which handles what was re-driven when it starts', async () => {
    const all = await listed('--all');
    expect(all.data.filter(({ settled }) => settled)).toMatchObject([{ settled: { action: 'redriven', note: 'to see' } }]);
    expect((await dead('list')).text).toMatch(/^3 open dead letters in the data folder/);
    const planner = all.data.find(({ group }) => group === 'planner')!;
    const merger = all.data.find(({ group, topic }) => group === 'merger' && topic === 'plan.requested')!;
    expect((await dead('show', planner.id)).text).toContain('000000  00 01 02 ff');
    expect(await dead('redrive', planner.id, '99-99', '--json')).toMatchObject({ code: exitCodes.failed });
    expect(await dead('discard', merger.id, '--note', 'noise')).toMatchObject({ code: exitCodes.answered });
    expect((await listed()).total).toBe(1);
    await whileRunning(5, async () => {
      const after = (await listed('--all')).data.filter(({ redriveOf }) => redriveOf === planner.id);
      // The merger reads the same topic and has skipped it.
      expect(after).toMatchObject([{ group: 'planner', topic: 'plan.requested', settled: null }]);
    });
    expect((await dead('list', '--all')).text).toMatch(/discarded by local:.*: noise/);
  }, 60_000);

  it.each([[[]], [['bury']], [['show']], [['show', '1-1', '2-2']], [['redrive']], [['list', '1-1']], [['list', '--limit', '0']]])(
    'that are requested as %j print the usage and exit with its code',
    async (args) => {
      const { code, warned } = await dead(...args);
      expect(code).toBe(exitCodes.usage);
      expect(warned).toContain(`${commandPrefix} dead redrive <id>`);
    },
  );

  it('refuse unknown options', async () => {
    await expect(dead('list', '--everything')).rejects.toMatchObject({ code: expect.stringContaining('ERR_PARSE_ARGS') });
  });
});
