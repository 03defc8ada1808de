import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { openSqlite } from '@conclave/adapter-sqlite';
import { topicsFor, type Event, type StepRecorded } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes } from './ask.js';
import { replayCommand } from './replay.js';
import { up } from './up.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-replay-children-'));
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };

async function replayed(runId: string | null, recorded: boolean) {
  let text = '';
  const out = { write: (more: string) => void (text += more) };
  const code = await replayCommand({ loaded: load(), runId, recorded, out, terminal: out });
  return { code, text, lines: text.trimEnd().split('\n') };
}

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

/** A run whose child run started another one, and so on to the deepest. */
let root: string;
let family: readonly string[];
beforeAll(async () => {
  // The demo model splits no question, so each run works on the whole of it as one sub-topic.
  writeFileSync(join(home, 'conclave.yaml'), 'templates:\n  deep:\n    strategy: decompose\n    options: { child: deep }\n');
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  try {
    const signal = new AbortController().signal;
    await ask({ loaded: load(), question: sampleQuestion(), model: 'deep', answer: sink, progress: sink, localServers, signal });
  } finally {
    await running.close();
  }
  family = (await recordsOf('plan.requested')).map(({ runId }) => runId);
  root = family[0]!;
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the replay of a run with child runs', () => {
  it('drives the run and each child run under it, and shows them indented', async () => {
    expect(family).toEqual([root, `${root}~0.t1`, `${root}~0.t1~0.t1`, `${root}~0.t1~0.t1~0.t1`]);
    const { code, lines } = await replayed(root, true);
    expect(lines).toEqual(
      family.map((runId, depth) =>
        expect.stringMatching(new RegExp(`^${' '.repeat(2 * depth)}${runId}: same decisions, same state: \\d+ steps, \\d+ calls, `)),
      ),
    );
    expect(code).toBe(exitCodes.answered);
    expect((await replayed(null, true)).lines).toEqual([...lines, expect.stringMatching(/^4 recorded runs in .*: all the same/)]);
  }, 30_000);

  it('follows only a child run if its id is given', async () => {
    const { code, lines } = await replayed(family[2]!, true);
    expect(lines.map((line) => line.trim().split(': ')[0])).toEqual(family.slice(2));
    expect(code).toBe(exitCodes.answered);
  }, 30_000);

  it('shows the records of child runs in the timeline, indented and named', async () => {
    const all = (await recordsOf(...topicsFor().map(({ name }) => name))).filter(({ runId }) => family.includes(runId));
    const { lines } = await replayed(root, false);
    expect(lines).toHaveLength(1 + all.length);
    const ends = lines.filter((line) => /\bRunCompleted {2}/.test(line));
    expect(ends).toEqual(
      family
        .map((runId, depth) => {
          const name = runId.slice(root.length);
          return expect.stringMatching(new RegExp(` s {2}${' '.repeat(2 * depth)}RunCompleted .*  ${name === '' ? '' : `${name} · `}\\w`));
        })
        .reverse(),
    );
  }, 30_000);

  it('names the child run that decides otherwise, and fails', async () => {
    const youngest = family.at(-1)!;
    const steps = (await recordsOf('audit')).filter(
      (event): event is StepRecorded => event.type === 'StepRecorded' && family.includes(event.runId),
    );
    const copy = 'run_copied000';
    const renamed = (event: Event): Event => JSON.parse(JSON.stringify(event).replaceAll(root, copy)) as Event;
    const dispatched = (await recordsOf('tasks.dispatched.judge')).map((event) => ({ ...renamed(event), topic: 'tasks.dispatched.judge' }));
    await withLog((log) => log.publish([...steps.map((step) => ({ ...renamed(step), topic: 'audit' })), ...dispatched]));
    const { code, text } = await replayed(copy, true);
    expect(code).toBe(exitCodes.failed);
    expect(text).toMatch(new RegExp(`\n {6}${renamed({ id: youngest } as Event).id}: step 1 differs in hash`));
  }, 30_000);
});
