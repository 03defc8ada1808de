import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask } from './ask.js';
import { GatewayClient } from './gateway-client.js';
import { runCommand } from './run.js';
import { findGateway } from './running-gateway.js';
import { up } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-run-'));
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };
let running: Awaited<ReturnType<typeof up>>;
let runId: string;

async function shown(id: string, timeline: boolean, facts = false) {
  let text = '';
  let terminal = '';
  const code = await runCommand({
    loaded: load(),
    runId: id,
    timeline,
    facts,
    out: { write: (more) => void (text += more) },
    terminal: { write: (more) => void (terminal += more) },
  });
  return { code, text, terminal };
}

beforeAll(async () => {
  running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  const signal = new AbortController().signal;
  await ask({ loaded: load(), question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const client = await findGateway(load());
  expect(client).toBeInstanceOf(GatewayClient);
  runId = (await client!.list()).data[0]!.id;
});
afterAll(async () => {
  await running.close();
  rmSync(home, { recursive: true, force: true });
});

describe('conclave run', () => {
  it('shows the run from its gateway, and a timeline on request', async () => {
    const { code, text, terminal } = await shown(runId, false);
    expect({ code, terminal }).toEqual({ code: 0, terminal: '' });
    expect(text).toMatch(new RegExp(`^${runId}  conclave \\(agentic, version `));
    expect(text).not.toContain('Timeline');
    const both = (await shown(runId, true)).text;
    const [view, timeline] = both.split('\nTimeline\n') as [string, string];
    expect(view).toBe(text.trimEnd() + '\n');
    const lines = timeline.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ +\+0\.000 s {2}run\.started +/);
    expect(lines.at(-1)).toMatch(/s {2}run\.completed +completed: .*\., \d+ characters were shown$/);
    expect(lines.filter((line) => line.includes('  decided '))).toHaveLength(2);
    expect(lines.filter((line) => line.includes('  chunk '))).toHaveLength(1);
    const offsets = lines.map((line) => Number(/\+([\d.]+) s/.exec(line)![1]));
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  });

  it('reports an unknown run', async () => {
    await expect(shown('run_unknown000', false)).rejects.toThrow(/run_unknown000|no run|not found/i);
  });

  it('shows the events of the log when no gateway runs', async () => {
    await running.close();
    const { code, text, terminal } = await shown(runId, false);
    expect(code).toBe(0);
    expect(terminal).toContain('No gateway is running here');
    expect(text).toMatch(new RegExp(`^${runId} in the data folder .*: \\d+ records\n +\\+0\\.000 s {2}PlanRequested`));
    expect(text).toContain('RunCompleted');
  });

  it('prints every fact of the run as one sentence with its time and step', async () => {
    await running.close();
    const { code, text } = await shown(runId, false, true);
    expect(code).toBe(0);
    const [head, ...lines] = text.trimEnd().split('\n');
    expect(head).toMatch(
      new RegExp(
        `^${runId} in the data folder .*: ${lines.length} facts, without \\d+ that say nothing by themselves\\. 0/x1 is the task x1 of plan 0\\.$`,
      ),
    );
    expect(lines[0]).toMatch(/^ +\+0\.000 s {2}step 1 +The run began for .* with the template .*, whose strategy makes up to 4 rounds: /);
    expect(lines.filter((line) => line.includes('was added')).length).toBeGreaterThan(3);
    expect(lines.filter((line) => /By rule D9, the run plans again: /.test(line))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/ {2}The run ended as completed: .* Its answer: /);
    const steps = lines.map((line) => Number(/step (\d+)/.exec(line)![1]));
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    await expect(shown('run_unknown000', false, true)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
