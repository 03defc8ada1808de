import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import type { RunView } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes } from './ask.js';
import { alignedTasks, type ComparedSide, comparedText, firstDifference } from './compared-runs.js';
import { replayCommand } from './replay.js';
import { rerunCommand, versusCommand } from './rerun.js';
import { findGateway } from './running-gateway.js';
import { up } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-rerun-'));
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };
const signal = new AbortController().signal;
let original: RunView;

beforeAll(async () => {
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  await ask({ loaded: load(), question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const client = (await findGateway(load()))!;
  original = await client.run((await client.list()).data[0]!.id);
  await running.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function said(command: (out: { write(text: string): unknown }) => Promise<number>) {
  let text = '';
  const code = await command({ write: (more) => void (text += more) });
  return { code, text };
}
const rerun = (template: string, json = false, runId = original.id) =>
  said((out) => rerunCommand({ loaded: load(), runId, template, json, out, terminal: sink, localServers, signal }));

describe('replay --template', () => {
  it('asks the question of a run again with another template, and shows both side by side', async () => {
    const { code, text } = await rerun('conclave-fast');
    expect(code).toBe(exitCodes.answered);
    const id = /conclave-fast \((run_\w+)\)/.exec(text)![1]!;
    expect(id).not.toBe(original.id);
    expect(text).toMatch(new RegExp(`^ +conclave \\(${original.id}\\) +conclave-fast \\(${id}\\)\n`));
    expect(text).toMatch(new RegExp(`\nmodel calls +${original.usage.total.calls} +\\d+\n`));
    expect(text).toMatch(/\nFirst difference: .*round 1 · /);
    expect(text).toContain(original.answer!);
    // A separate run: it is replayed from its own records.
    const replayed = await said((out) => replayCommand({ loaded: load(), runId: id, recorded: true, out, terminal: sink }));
    expect(replayed).toMatchObject({ code: exitCodes.answered, text: expect.stringMatching(/same decisions, same state/) });
  });

  it('prints both as one object, and takes no answer from a cache', async () => {
    const { text } = await rerun('conclave', true);
    const { left, right } = JSON.parse(text) as { left: ComparedSide; right: ComparedSide };
    expect(left.name).toBe(`conclave (${original.id})`);
    expect(right.calls).toBeGreaterThan(1);
    expect(right.answer).toContain('Saint Orrin');
  });

  it('refuses an unknown run or template', async () => {
    await expect(rerun('conclave', false, 'run_unknown000')).rejects.toThrow(/No run has this id/);
    await expect(rerun('nobody')).rejects.toThrow(/No template or model has this id/);
  });
});

describe('ask --versus', () => {
  it('asks a template and a single model the same question, side by side', async () => {
    const models = ['conclave', 'conclave-demo@demo'] as const;
    const { code, text } = await said((out) =>
      versusCommand({ loaded: load(), question: sampleQuestion(), models, out, terminal: sink, localServers, signal }),
    );
    expect(code).toBe(exitCodes.answered);
    expect(text).toMatch(/conclave \(run_\w+\) +conclave-demo@demo\n/);
    expect(text).toMatch(/\nrounds +\d+ +-\n/);
    expect(text).toMatch(/\nmodel calls +\d+ +1\n/);
  });
});

describe('the comparison', () => {
  const task = (round: number, capability: string, status = 'ok', text = 'x') => ({ round, capability, status, text, model: null });

  it('aligns tasks of the same kind within their round, and names the first that differs', () => {
    const left = [task(1, 'research'), task(1, 'expert'), task(2, 'expert', 'timeout')];
    const right = [task(1, 'expert'), task(2, 'math'), task(2, 'expert')];
    const pairs = alignedTasks(left, right);
    expect(pairs.map(({ left: a, right: b }) => [a?.capability, b?.capability])).toEqual([
      ['research', undefined],
      ['expert', 'expert'],
      [undefined, 'math'],
      ['expert', 'expert'],
    ]);
    expect(firstDifference(pairs)).toEqual({ left: left[0], right: null });
    const side = (name: string, tasks: readonly ReturnType<typeof task>[]): ComparedSide => ({
      ...{ name, outcome: 'completed', rule: 'D3', rounds: 2, calls: 3, tokens: 40, cost: 0.5, seconds: 1.25, answer: name },
      tasks: [...tasks],
    });
    const text = comparedText(side('a', left), side('b', right));
    expect(text).toMatch(/First difference: round 1 · research · ok · x {2}\| {2}nothing/);
    expect(text).toMatch(/\n~ round 2 · expert · timeout · x\n {2}round 2 · expert · ok · x\n/);
    expect(text).toMatch(/\ncost +0\.5000 +0\.5000\n/);
    expect(comparedText(side('a', left), { ...side('b', left), answer: 'a' })).toMatch(
      /No task differs\.\n\nBoth answers are the same\na\n/,
    );
  });
});
