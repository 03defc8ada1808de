import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strategies } from '@conclave/strategies';
import { ScriptedModelServer } from '@conclave/test-support';
import { cleared, CommitteeScript, expert, workspaceRoot } from '@conclave/test-support/system';

interface Ran {
  readonly code: number | null;
  readonly answer: string;
  readonly progress: string;
}

/** `npm run example -- ...`, from its built program. */
function example(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const program = join(workspaceRoot, 'dist/run-example.js');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: workspaceRoot,
    env: { ...process.env, ...cleared, ...env },
    timeout: 120_000,
  });
  let [answer, progress] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (answer += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (progress += part));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, answer, progress })));
}

/** What the progress and the answer of an example show of its strategy. */
const shown: Readonly<Record<string, { readonly progress: readonly RegExp[]; readonly answer: readonly RegExp[] }>> = {
  'single-pass': { progress: [/strategy single-pass/, /Plan: 2 tasks/], answer: [/Ilse Brandvold/] },
  agentic: { progress: [/strategy agentic/, /Agentic Loop — Iteration 1\/3/, /Complete: nothing is missing/], answer: [/Saint Orrin/] },
  waves: { progress: [/strategy waves/, /Wave 2 of at most 5/], answer: [/From 2026-12-04/, /From 2025-01-17/] },
  reasoning: { progress: [/strategy reasoning/, /good \(\d/, /2 rounds/], answer: [/Saint Orrin/] },
  'reflective-rag': { progress: [/strategy reflective-rag/, /Looks in research/, /2 rounds/], answer: [/Saint Orrin/, /\[\d\]/] },
  decompose: { progress: [/strategy decompose/, /Northlight Clock Company/, /Tidewater Clock Company/], answer: [/1902/, /1887/] },
  adaptive: { progress: [/strategy adaptive/, /comparative question .*decompose/], answer: [/1902/, /1887/] },
};

describe('the example of each strategy', () => {
  it('exists for every shipped strategy', () => {
    expect(Object.keys(shown).sort()).toEqual(
      strategies()
        .map(({ id }) => id)
        .sort(),
    );
  });

  it.each(Object.entries(shown))('%s answers its question with the stand-in, and shows how', async (strategy, expected) => {
    const { code, answer, progress } = await example([strategy]);
    expect([code, progress]).toEqual([0, expect.stringContaining('🏁 Done')]);
    for (const part of expected.progress) expect(progress).toMatch(part);
    for (const part of expected.answer) expect(answer).toMatch(part);
  });

  it('lists the examples when none, or an unknown one, is named', async () => {
    expect(await example([])).toMatchObject({ code: 0, answer: expect.stringContaining('reflective-rag') });
    expect((await example(['toString'])).code).toBe(2);
  });
});

describe('with its own model server', () => {
  let models: ScriptedModelServer;
  beforeAll(async () => {
    models = await ScriptedModelServer.start({ models: ['theirs'], apiKey: 'sk-of-the-user' });
  });
  afterAll(() => models?.close());

  it('an example asks that server, with a question of the user', async () => {
    const script = new CommitteeScript(models, 'What does my own model say of the Tidewater Clock Company?');
    script.plan([expert('x1', 'Say it.')]).expert('Mine says that it ticks.', { confidence: 0.95 });
    const env = { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: 'sk-of-the-user' };
    const { code, answer, progress } = await example(['single-pass', script.question], env);
    expect([code, answer, progress]).toEqual([0, expect.stringContaining('Mine says that it ticks.'), expect.stringContaining(models.url)]);
    expect(models.violations()).toEqual([]);
  });
});

describe('the costs on the page about templates', () => {
  /** Calls and tokens by row and column. */
  const figures = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => ({
        name: line.split('|')[1]!.trim(),
        calls: [...line.matchAll(/(\d+) calls/g)].map(([, calls]) => Number(calls)),
        tokens: [...line.matchAll(/(\d+) tokens/g)].map(([, tokens]) => Number(tokens)),
        unanswered: line.split('|').map((cell) => cell.includes('not answered')),
      }));

  it('are those that the command measures: calls exactly, tokens within a twentieth', async () => {
    const page = readFileSync(join(workspaceRoot, 'docs/guides/templates.md'), 'utf8');
    const written = figures(/<!-- costs -->\n([\s\S]*)\n<!-- end of costs -->/.exec(page)![1]!);
    const { code, answer, progress } = await example(['costs']);
    expect([code, progress]).toEqual([0, expect.anything()]);
    const measured = figures(answer);
    expect(measured.map(({ tokens: _, ...row }) => row)).toEqual(written.map(({ tokens: _, ...row }) => row));
    expect(written.length).toBe(strategies().length);
    measured.forEach(({ name, tokens }, row) =>
      tokens.forEach((count, column) => {
        const said = written[row]!.tokens[column]!;
        expect([name, column, Math.abs(count - said) <= 0.05 * said]).toEqual([name, column, true]);
      }),
    );
  }, 150_000);
});
