import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { openSqlite } from '@conclave/adapter-sqlite';
import { topicsFor, type CallRecorded, type Event, type StepRecorded } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ScriptedModelServer } from '@conclave/test-support';
import { ask, exitCodes } from './ask.js';
import { replayCommand } from './replay.js';
import { up } from './up.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-replay-'));
/** A server without replies: it reveals any model call. */
let models: ScriptedModelServer;
let agentic: string;
let fast: string;

const load = (variables: Record<string, string> = {}, folder = home): Loaded =>
  loadConfiguration({ CONCLAVE_HOME: folder, PORT: '0', ...variables }, folder, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };

async function replayed(runId: string | null, recorded: boolean, loaded = load({ OPENAI_BASE_URL: models.url })) {
  let text = '';
  const out = { write: (more: string) => void (text += more) };
  const code = await replayCommand({ loaded, runId, recorded, out, terminal: out });
  return { code, text };
}

/** Opens the log of the stopped server for `work`. */
async function withLog<T>(work: (log: ReturnType<typeof openSqlite>['log']) => Promise<T>): Promise<T> {
  const sqlite = openSqlite({ home, processId: 'test', durability: 'process' });
  try {
    return await work(sqlite.log);
  } finally {
    await sqlite.close();
  }
}
const recordsOf = (...topics: readonly string[]) =>
  withLog(async (log) => {
    const found: Event[] = [];
    for (const topic of topics) for await (const { event } of log.read(topic)) if (event) found.push(event);
    return found;
  });
const stepsOf = async (runId: string): Promise<StepRecorded[]> =>
  (await recordsOf('audit')).filter((event): event is StepRecorded => event.type === 'StepRecorded' && event.runId === runId);

beforeAll(async () => {
  models = await ScriptedModelServer.start({ script: [] });
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  try {
    for (const model of ['conclave', 'conclave-fast']) {
      const signal = new AbortController().signal;
      expect(await ask({ loaded: load(), question: sampleQuestion(), model, answer: sink, progress: sink, localServers, signal })).toBe(0);
    }
    await expect(replayed(null, true)).rejects.toMatchObject({
      code: 'DATA_FOLDER_IN_USE',
      message: expect.stringMatching(/stop the server first/),
    });
  } finally {
    await running.close();
  }
  const accepted = await recordsOf('plan.requested');
  [agentic, fast] = accepted.map(({ runId }) => runId) as [string, string];
}, 60_000);
afterAll(async () => {
  await models.close();
  rmSync(home, { recursive: true, force: true });
});

describe('replay --recorded of a stopped data folder', () => {
  it('replays every step of a run, any number of times, without a model call or a new record', async () => {
    const topics = topicsFor().map(({ name }) => name);
    const before = await recordsOf(...topics);
    const steps = await stepsOf(agentic);
    expect(steps.some(({ data }) => data.rule === 'D9')).toBe(true);
    const once = await replayed(agentic, true);
    const made = (await recordsOf('audit')).filter(({ type, runId }) => type === 'CallRecorded' && runId === agentic);
    const calls = made.length;
    // The planner makes two calls, a lookup and a model call, for one outcome.
    const outcomes = made.filter((event) => (event as CallRecorded).data.purpose !== 'plan.lookup').length;
    expect(once).toEqual({
      code: exitCodes.answered,
      text: expect.stringMatching(
        `^${agentic}: same decisions, same state: ${steps.length} steps, ${calls} calls, ${outcomes} outcomes · hash [0-9a-f]{16}\n$`,
      ),
    });
    expect(await replayed(agentic, true)).toEqual(once);
    expect(models.calls).toEqual([]);
    expect(await recordsOf(...topics)).toEqual(before);
  }, 30_000);

  it('replays all recorded runs with --all', async () => {
    const { code, text } = await replayed(null, true);
    expect(code).toBe(exitCodes.answered);
    expect(text.split('\n')).toEqual([
      expect.stringMatching(`^${agentic}: same decisions, same state: \\d+ steps, \\d+ calls, \\d+ outcomes · hash `),
      expect.stringMatching(`^${fast}: same decisions, same state: \\d+ steps, \\d+ calls, \\d+ outcomes · hash `),
      expect.stringMatching(`^2 recorded runs in the data folder ${home}: all the same · hash [0-9a-f]{16}$`),
      '',
    ]);
    expect(models.calls).toEqual([]);
  }, 30_000);

  it('reports an unrecorded run as unknown, and creates no data folder', async () => {
    await expect(replayed('run_unknown000', true)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(replayed('run_unknown000', false)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    const nowhere = join(home, 'nowhere');
    await expect(replayed(null, true, load({}, nowhere))).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: expect.stringMatching(/Nothing is recorded/),
    });
  });
});

describe('replay of a run as a timeline', () => {
  it('shows every record of the run over all topics, with route, attempt, tokens and decisions', async () => {
    const { code, text } = await replayed(agentic, false);
    expect(code).toBe(exitCodes.answered);
    const all = (await recordsOf(...topicsFor().map(({ name }) => name))).filter(({ runId }) => runId === agentic);
    const lines = text.trim().split('\n').slice(1);
    expect(lines).toHaveLength(all.length);
    expect(lines[0]).toMatch(/^ +\+0\.000 s {2}PlanRequested +gateway -> merger, planner +template conclave \(agentic\) · /);
    expect(text).toMatch(/StepRecorded +merger -> replay +step \d+ on ResultReady returned GapDetected · D9 /);
    expect(text).toMatch(/CallRecorded .* judge\.gap · .* · ok · attempt 1 · \d+ ms · 1 call · \d+ tokens/);
    expect(lines.filter((line) => line.includes('RunCompleted  '))).toHaveLength(1);
    const offsets = lines.map((line) => Number(/\+([\d.]+) s/.exec(line)![1]));
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  }, 30_000);
});

describe('replay of recordings that differ', () => {
  const changed = 'run_changed000';
  const gappy = 'run_gappy00000';
  const garbled = 'run_garbled000';
  const asRun = (steps: readonly StepRecorded[], runId: string): Event[] =>
    steps.map((step) => ({ ...(JSON.parse(JSON.stringify(step).replaceAll(fast, runId)) as Event), topic: 'audit' }));

  beforeAll(async () => {
    const steps = await stepsOf(fast);
    const garbage: Event = { ...asRun(steps.slice(0, 1), garbled)[0]!, id: `${garbled}/step/1`, data: { version: 'one\u001b[31m' } };
    await withLog(async (log) => {
      await log.publish([...asRun(steps, changed), ...asRun(steps.slice(2), gappy), garbage]);
    });
  });

  it('shows the first step that differs, the recorded and the new outcome, and fails', async () => {
    // A step's hash includes the id of its input, so the recorded one belongs to another run.
    const [first] = await stepsOf(fast);
    const { code, text } = await replayed(changed, true);
    expect(code).toBe(exitCodes.failed);
    expect(text).toMatch(
      new RegExp(
        `^${changed}: step 1 differs in hash, after 0 steps, 0 calls, 0 outcomes that are the same · hash .*\n  input     PlanRequested`,
      ),
    );
    expect(text).toMatch(new RegExp(`hash    ${first!.data.hash}\n  now       fact    none; it has ${first!.data.facts.length} facts\n`));
  });

  it('names missing steps and records that cannot be decoded, and fails', async () => {
    const gaps = await replayed(gappy, true);
    expect(gaps.code).toBe(exitCodes.failed);
    expect(gaps.text).toMatch(new RegExp(`^${gappy}: the recording is incomplete; .*\n  lacks     steps 1 to 2 missing\n`));
    const { code, text } = await replayed(garbled, true);
    expect(code).toBe(exitCodes.failed);
    expect(text).toContain(`lacks     ${garbled}/step/1 cannot be decoded`);
    expect((await replayed(garbled, false)).text).toMatch(/StepRecorded +merger -> unknown +cannot be decoded: \d+ bytes at audit\//);
  });

  it('fails with --all when one run of several is not the same', async () => {
    const { code, text } = await replayed(null, true);
    expect(code).toBe(exitCodes.failed);
    expect(text).toContain(`5 recorded runs in the data folder ${home}: 3 not the same`);
  });
});
