import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, ChatStream, cleared, System, inventedName, readRun, twoHops, user, workspaceRoot } from '@conclave/test-support/system';

// There is no provider: the built-in demo model answers, over documents that were just generated. Each test that needs a new question has
// its own case, because what one run learned shortens the next.
const [hops, twice, typed] = [twoHops(), twoHops(), twoHops()];
const alone = { thing: `${inventedName()} Lighthouse`, keeper: `${inventedName()} ${inventedName()}` };
let system: System;

beforeAll(async () => {
  const lighthouse = `# ${alone.thing}\n\nThe ${alone.thing} was founded by ${alone.keeper} in 1902.\n`;
  const cases = [hops, twice, typed].flatMap(({ documents }, n) => Object.entries(documents).map(([name, text]) => [`${n}-${name}`, text]));
  const told = Object.fromEntries(cases) as Record<string, string>;
  system = await System.start({ demo: true, corpus: { ...told, 'lighthouse.md': lighthouse } });
});
afterAll(() => system?.stop());

describe('the demo model on generated documents', () => {
  it('answers a question in two hops with sources, after exactly one visible re-plan', async () => {
    const chat = await (await ChatStream.open(system.url(), { model: 'conclave', messages: user(hops.question) })).end();
    expect(chat.error).toBeUndefined();
    expect(chat.reasoning).toContain('🔄 Agentic Loop — Iteration 1/3');
    expect(chat.reasoning).not.toContain('Iteration 2/3');
    expect(chat.content).toContain(hops.place);
    expect(chat.content).toContain('Sources:');
    const run = await readRun(system.url(), chat.runId);
    expect(run).toMatchObject({ outcome: 'completed', rule: 'D3' });
    expect(run.rounds).toHaveLength(2);
    expect(run.sources.length).toBeGreaterThan(0);
  });

  it('reports the gap when the second document is missing', async () => {
    const question = `In which town was the founder of the ${alone.thing} born?`;
    const { status, body } = await ask(system.url(), { model: 'conclave', messages: user(question) });
    expect(status).toBe(200);
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.outcome).not.toBe('completed');
    expect(run.history[0]!.gap).toContain(alone.keeper);
    expect(run.reason).toContain(alone.keeper);
    expect(body.choices[0]!.message.content).toContain(alone.keeper);
    expect(body.choices[0]!.message.content).not.toContain(hops.place);
  });

  it('says in one call what it cannot do, and what to connect', async () => {
    for (const [question, words] of [
      [`Compose a birthday song for my aunt ${inventedName()}.`, 'connect a real model'],
      ['Wie lange muss Hefeteig gehen?', 'ein richtiges Modell verbinden'],
    ] as const) {
      const { body } = await ask(system.url(), { model: 'conclave', messages: user(question) });
      expect(body.choices[0]!.message.content).toContain(words);
      const run = await readRun(system.url(), body.conclave!.run_id);
      expect([run.outcome, run.usage.total.calls, run.reason]).toEqual(['completed', 1, expect.not.stringContaining('sufficient')]);
    }
  });

  it('returns the same answer to the same question', async () => {
    const anew = { model: 'conclave', messages: user(twice.question), conclave: { cache: false } };
    const [one, two] = await Promise.all([ask(system.url(), anew), ask(system.url(), anew)]);
    expect(one.body.conclave!.rounds).toBe(2);
    expect(one.body.choices[0]!.message.content).toBe(two.body.choices[0]!.message.content);
    expect(one.body.usage).toEqual(two.body.usage);
  });

  it('returns the title that a chat front end requests: JSON, in one call, without a run', async () => {
    const prompt = `### Task:\nGenerate a concise title.\n### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: ${hops.question}\nASSISTANT: In ${hops.place}.\n</chat_history>`;
    const { status, body, headers } = await ask(system.url(), { model: 'conclave', messages: user(prompt) });
    expect([status, headers.get('x-conclave-utility'), headers.get('x-run-id')]).toEqual([200, 'conclave-demo@demo', null]);
    expect(JSON.parse(body.choices[0]!.message.content!)).toEqual({ title: expect.stringMatching(/\w/) });
    expect(body.conclave).toBeUndefined();
  });

  it('follows a strict schema, or says that it cannot', async () => {
    const asked = (properties: object) => ({
      model: 'conclave',
      messages: user(hops.question),
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'x',
          strict: true,
          schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
        },
      },
    });
    const { body } = await ask(system.url(), asked({ town: { type: 'string' } }));
    expect(JSON.parse(body.choices[0]!.message.content!)).toEqual({ town: expect.stringContaining(hops.place) });
    const refused = await ask(system.url(), asked({ town: { type: 'string' }, inhabitants: { type: 'integer' } }));
    expect([refused.status, refused.headers.get('x-should-retry'), refused.body]).toMatchObject([
      502,
      'false',
      { error: { code: 'ANSWER_NOT_IN_SCHEMA' } },
    ]);
  });

  it('answers in a terminal: progress on stderr, only the answer on stdout', async () => {
    const { code, stdout, stderr } = await conclave(['ask', typed.question, '--no-cache']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Agentic Loop — Iteration 1/3')]);
    expect(stdout).toContain(typed.place);
    expect(stdout).not.toContain('Iteration');
    const runs = await conclave(['runs']);
    expect([runs.code, runs.stdout]).toEqual([0, expect.stringContaining(typed.question.slice(0, 40))]);
  });

  it('says that it is a demo in the list of models', async () => {
    const list = (await (await fetch(`${system.url()}/v1/models`)).json()) as { data: { id: string; description?: string }[] };
    const demo = list.data.filter((model) => model.id.endsWith('@demo'));
    expect(demo).toHaveLength(1);
    expect(demo[0]!.description).toMatch(/demo/i);
  });

  it('contains no document of its bundled corpus in its code', () => {
    const names = corpusNames();
    expect(names.length).toBeGreaterThan(3);
    const code = sourcesUnder(join(workspaceRoot, 'libs')).concat(sourcesUnder(join(workspaceRoot, 'apps')));
    for (const name of names) expect(code.filter(({ text }) => text.includes(name)).map(({ path }) => path)).toEqual([]);
  });
});

/** The command line of the product, talking to the running system. */
async function conclave(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  // A folder without any settings: a terminal on another machine knows only the address.
  const cwd = join(system.folder, 'terminal');
  mkdirSync(cwd, { recursive: true });
  const child = spawn(process.execPath, [join(workspaceRoot, 'dist/standalone.js'), ...args], {
    cwd,
    env: { ...process.env, ...cleared, CONCLAVE_URL: system.url() },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** Titles of the sample documents, as a reader would quote them. */
function corpusNames(): readonly string[] {
  const folder = join(workspaceRoot, 'libs/adapters/demo');
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
    /^(?!.*(node_modules|dist)).*\.(md|txt)$/.test(name),
  );
  return files.flatMap((name) => /^# (.+)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? []);
}

function sourcesUnder(folder: string): readonly { path: string; text: string }[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => name.endsWith('.ts') && !/(node_modules|dist|\.spec\.ts|\.contract\.ts|__fixtures__)/.test(name))
    .map((name) => ({ path: name, text: readFileSync(join(folder, name), 'utf8') }));
}
