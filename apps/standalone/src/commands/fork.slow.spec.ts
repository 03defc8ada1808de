import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import type { RunView } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes } from './ask.js';
import { forkCommand } from './fork.js';
import { comparedFacts, forkText } from './fork-text.js';
import { replayCommand } from './replay.js';
import type { ToldFact } from './run-facts.js';
import { findGateway } from './running-gateway.js';
import { up } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-fork-'));
const load = (folder = home): Loaded =>
  loadConfiguration({ CONCLAVE_HOME: folder, PORT: '0' }, folder, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };
let original: RunView;
/** Step in which the run decided to plan a second round. */
let step: number;

async function forked(more: Partial<Parameters<typeof forkCommand>[0]> = {}) {
  let text = '';
  let progress = '';
  const code = await forkCommand({
    ...{ loaded: load(), runId: original.id, step, model: null, localServers, signal: new AbortController().signal },
    out: { write: (said) => void (text += said) },
    terminal: { write: (said) => void (progress += said) },
    ...more,
  });
  return { code, text, progress };
}

beforeAll(async () => {
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  const signal = new AbortController().signal;
  await ask({ loaded: load(), question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const client = (await findGateway(load()))!;
  original = await client.run((await client.list()).data[0]!.id);
  const { data } = await client.facts(original.id);
  step = data.find(({ sentence }) => sentence.startsWith('By rule D9,'))!.step;
  await running.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('replay --fork on the data folder of a stopped server', () => {
  it('continues live from the step, shows progress, then both runs side by side', async () => {
    const { code, text, progress } = await forked();
    expect(code).toBe(exitCodes.answered);
    expect(progress).toMatch(new RegExp(`Up to here as ${original.id} up to its step ${step}; from here on live`));
    const [head] = text.split('\n');
    const id = /^(run_\w+) is /.exec(head!)![1]!;
    expect(head).toBe(`${id} is ${original.id} up to step ${step}, and live from there on.`);
    expect(text).toMatch(new RegExp(`${original.id} \\(original\\) +${id} \\(fork\\)`));
    const { calls } = original.usage.total;
    // The demo model replies the same again, so both runs cost the same after the step. The fork may cite what the original has taught.
    expect(text).toMatch(new RegExp(`\nmodel calls +${calls}, (\\d+) after step ${step} +${calls}, \\1 after step ${step}\n`));
    expect(text).toContain(`\n${original.answer}\n`);
    expect(text).toMatch(/(?:Both answers are the same|Answer of the fork)\nSaint Orrin/);
  });

  it('leaves a run that replays the same', async () => {
    const { text } = await forked({ json: true });
    const { fork } = JSON.parse(text) as { fork: RunView };
    expect(fork.fork).toMatchObject({ of: original.id, step });
    let said = '';
    const out = { write: (more: string) => void (said += more) };
    expect(await replayCommand({ loaded: load(), runId: fork.id, recorded: true, out, terminal: out })).toBe(exitCodes.answered);
    expect(said).toMatch(new RegExp(`^${fork.id}: same decisions, same state: `));
  });

  it('cancels the fork when the user interrupts it', async () => {
    const { code, text } = await forked({ signal: AbortSignal.abort() });
    expect(code).toBe(exitCodes.cancelled);
    expect(text).toMatch(/outcome .* cancelled/);
  });

  it('reports an invalid step, run or model', async () => {
    await expect(forked({ step: 999 })).rejects.toThrow(/It has \d+ steps, so there is no step 999\./);
    await expect(forked({ runId: 'run_unknown000' })).rejects.toThrow(/No run has this id/);
    await expect(forked({ model: 'nobody' })).rejects.toThrow(/No template or model has this id/);
    const nowhere = join(home, 'nowhere');
    await expect(forked({ loaded: load(nowhere) })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});

describe('the comparison', () => {
  const fact = (at: number, sentence: string, kind = 'Decided'): ToldFact => ({ step: at, at, kind, sentence });
  const view = (id: string, answer: string, calls: number): RunView => {
    const usage = { ...original.usage.total, calls, prompt: calls * 10, completion: 0 };
    return { ...original, id, answer, usage: { ...original.usage, total: usage } };
  };

  it('aligns the facts of both, whatever their durations and child runs, and marks facts that only one has', () => {
    const pair = {
      step: 2,
      original: view('run_a', 'Brest.', 9),
      fork: {
        ...view('run_b', 'Paris.', 8),
        fork: { of: 'run_a', step: 2, before: { ...original.usage.total, calls: 4, prompt: 40, completion: 0 } },
      },
      originalFacts: [
        fact(1, 'shared'),
        fact(3, 'a'),
        fact(4, 'Task r (run run_a~0.r) ended ok after 1.2 s.'),
        { ...fact(4, 'said twice'), quiet: true },
        fact(5, 'c'),
      ],
      forkFacts: [
        fact(1, 'shared'),
        fact(1, 'forked', 'RunForked'),
        fact(1, 'b'),
        fact(2, 'Task r (run run_b~0.r) ended ok after 7 ms.'),
        fact(3, 'd'),
      ],
    };
    expect(comparedFacts(pair).map(({ sign, step: at, sentence }) => `${sign}${at} ${sentence}`)).toEqual([
      '-3 a',
      '+1 b',
      ' 4 Task r (run run_a~0.r) ended ok after 1.2 s.',
      '-5 c',
      '+3 d',
    ]);
    const text = forkText(pair);
    expect(text).toMatch(/model calls +9, 5 after step 2 +8, 4 after step 2/);
    expect(text).toMatch(/tokens +90, 50 after step 2 +80, 40 after step 2/);
    expect(text).not.toContain('Done again');
    expect(text).toMatch(/Answer of the original\nBrest\.\n\nAnswer of the fork\nParis\.\n$/);
  });

  it('names the tasks that were under way at the step, which the fork does again', () => {
    const added = fact(2, 'Task 0/k (mcp) was added: book (hotel.book {"room":7})', 'TaskAdmitted');
    const opened = (at: number, name: string): ToldFact => fact(at, `Task ${name} was sent to the workers.`, 'TaskOpened');
    const text = forkText({
      step: 2,
      original: view('run_a', 'Booked.', 3),
      fork: view('run_b', 'Booked.', 3),
      originalFacts: [opened(1, '0/l (mcp)'), added, opened(2, '0/k (mcp)'), opened(3, '0/g (mcp)')],
      // 0/l had ended by then, so that it is only a copy; 0/g is begun by both, later.
      forkFacts: [opened(1, '0/l (mcp)'), fact(1, 'forked', 'RunForked'), opened(1, '0/k (mcp)'), opened(2, '0/g (mcp)')],
    });
    expect(text).toMatch(/\nDone again, because .* by step 2: .* twice\n {2}0\/k \(mcp\): book \(hotel\.book \{"room":7\}\)\n\n/);
  });
});
