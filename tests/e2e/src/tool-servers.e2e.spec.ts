// Tool servers that others wrote, configured as their instructions say, called by plans of the running program.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { freePorts } from '@conclave/test-support/real-servers';
import {
  ask,
  CommitteeScript,
  expert,
  plainTemplate,
  readRun,
  System,
  type Task,
  user,
  workspaceRoot,
} from '@conclave/test-support/system';
import { runtimes } from './harness/client-program.js';

const program = (name: string): string => join(workspaceRoot, 'tests/clients/node_modules/.bin', `mcp-server-${name}`);
const folder = mkdtempSync(join(tmpdir(), 'conclave-tool-servers-'));
const shared = join(folder, 'shared');
let system: System;

/** The reference server at an address, over one transport. */
class Remote {
  private child: ChildProcess | null = null;
  constructor(
    private readonly transport: 'streamableHttp' | 'sse',
    private readonly port: number,
  ) {}
  get url(): string {
    return `http://127.0.0.1:${this.port}/${this.transport === 'sse' ? 'sse' : 'mcp'}`;
  }
  start(): void {
    const { PATH, HOME } = process.env;
    this.child = spawn(program('everything'), [this.transport], { env: { PATH, HOME, PORT: String(this.port) }, stdio: 'ignore' });
  }
  async end(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}
let remotes: Readonly<Record<'remote' | 'older', Remote>>;

beforeAll(async () => {
  await runtimes.node();
  mkdirSync(shared);
  writeFileSync(join(shared, 'note.txt'), `begin ${'word '.repeat(500)}end`);
  writeFileSync(join(shared, 'huge.txt'), 'x'.repeat(6 * 1024 * 1024));
  const [port, olderPort] = (await freePorts(2)) as [number, number];
  remotes = { remote: new Remote('streamableHttp', port), older: new Remote('sse', olderPort) };
  for (const remote of Object.values(remotes)) remote.start();
  const template = { ...plainTemplate, strategy: 'single-pass', capabilities: ['mcp'], task_timeout_s: 20 };
  system = await System.start({
    configuration: {
      templates: {
        all: template,
        named: { ...template, tools: ['files', 'memory.create_entities', 'memory.read_graph'] },
      },
      mcp: {
        everything: { command: program('everything'), args: ['stdio'], allow: true, may_write: true },
        remote: { url: remotes.remote.url, may_write: true },
        older: { url: remotes.older.url, may_write: true },
        files: { command: program('filesystem'), args: [shared], allow: true },
        memory: { command: program('memory'), env: { MEMORY_FILE_PATH: 'MEMORY_OF_TOOLS' }, allow: true },
        thinking: { command: program('sequential-thinking'), allow: true },
        precision: { enabled: false },
      },
    },
    env: { MEMORY_OF_TOOLS: join(folder, 'memory.jsonl') },
  });
  const s = script('Which tools do the servers of others have?')
    .plan([expert('x1', 'Say it.')], { times: Infinity })
    .expertReply({ text: 'These.\nCONFIDENCE: 0.9' }, undefined, Infinity)
    .composer({ text: 'These.' }, Infinity);
  const wanted = ['everything.echo(', 'remote.echo(', 'older.echo(', 'files.read_text_file(', 'thinking.sequentialthinking('];
  await until(
    'the tools in the prompt',
    async () => {
      await ask(system.url(), { model: 'all', messages: user(s.question) });
      return wanted.every((name) => prompt(s, 'planner').includes(name));
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
}, 400_000);
afterAll(async () => {
  await system?.stop();
  for (const remote of Object.values(remotes ?? {})) await remote.end();
  rmSync(folder, { recursive: true });
});
let known = 0;
afterEach(() => {
  const violations = system?.models.violations().slice(known) ?? [];
  known += violations.length;
  if (violations.length > 0) throw new Error(`The models received calls that no step answers:\n${violations.join('\n')}`);
});

const script = (question: string): CommitteeScript => new CommitteeScript(system.models, question);
const prompt = (s: CommitteeScript, role: 'planner' | 'composer'): string =>
  s
    .calls(role)
    .at(-1)!
    .messages.map(({ content }) => String(content))
    .join('\n');
const call = (id: string, tool: string, args: Readonly<Record<string, unknown>> = {}): Task => ({
  ...{ id, task: `Run ${tool}`, capability: 'mcp', mcp_tool: tool, mcp_args: args },
});

/** A run of these calls: the composer's prompt, and its tasks as they are stored. */
async function asked(question: string, tasks: readonly Task[], model = 'all') {
  const s = script(question).plan(tasks).answer(['It is as the facts say.']);
  const { status, body } = await ask(system.url(), { model, messages: user(question) });
  expect(status).toBe(200);
  const run = await readRun(system.url(), body.conclave!.run_id);
  return {
    planner: prompt(s, 'planner'),
    facts: prompt(s, 'composer'),
    tasks: run.rounds[0]!.tasks.filter(({ capability }) => capability === 'mcp'),
  };
}

describe.each(['everything', 'remote', 'older'])('the reference server as %s', (server) => {
  it('returns text, pictures, resources, links and structures', async () => {
    const { facts } = await asked(`What kinds of results are there (${server})?`, [
      call('t1', `${server}.echo`, { message: 'grüße' }),
      call('t2', `${server}.get-tiny-image`),
      call('t3', `${server}.get-resource-reference`, { resourceType: 'Text', resourceId: 1 }),
      call('t4', `${server}.get-structured-content`, { location: 'Chicago' }),
    ]);
    expect(facts).toContain('Echo: grüße');
    expect(facts).toMatch(/\[image, image\/png, \d+ bytes\] The image above is the MCP logo/);
    expect(facts).toContain('This is a plaintext resource');
    expect(facts).toMatch(/\{"temperature":\d+,"conditions":"[^"]+","humidity":\d+\}/);
  });

  it('takes numbers that a model wrote as text, reports progress without harm, and its errors reach the answer', async () => {
    const { facts, tasks } = await asked(`What is two and three (${server})?`, [
      call('t1', `${server}.get-sum`, { a: 2, b: '3' }),
      call('t2', `${server}.trigger-long-running-operation`, { duration: 1, steps: 5 }),
      call('t3', `${server}.get-resource-reference`, { resourceType: 'Text', resourceId: -1 }),
    ]);
    expect(facts).toContain('The sum of 2 and 3 is 5');
    expect(facts).toContain('Long running operation completed');
    expect(tasks.map(({ status }) => status)).toEqual(['ok', 'ok', 'error']);
    expect(tasks[2]!.failure).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('resourceId') });
  });

  it('is asked for nothing with wrong arguments, which are no mistake of the client', async () => {
    const s = script(`What is the weather in Paris (${server})?`)
      .plan([call('t1', `${server}.get-structured-content`, { location: 'Paris' })])
      .answer(['Nobody could look.']);
    const { status, body } = await ask(system.url(), { model: 'all', messages: user(s.question) });
    expect([status, body.choices[0]!.message.content]).toEqual([
      200,
      expect.stringMatching(/^Nobody could look\.\n\nWhat was looked up or called for this answer failed\. /),
    ]);
    const run = await readRun(system.url(), body.conclave!.run_id);
    expect(run.rounds[0]!.tasks[0]).toMatchObject({ status: 'error', failure: { code: 'TOOL_ARGUMENTS_INVALID' } });
  });
});

it.each(['remote', 'older'] as const)(
  'a server (%s) that dies during a call fails that call, and is used again when it is back',
  async (server) => {
    const question = `What happens when the server ${server} dies?`;
    const dying = asked(question, [
      call('t1', `${server}.trigger-long-running-operation`, { duration: 20, steps: 2 }),
      call('t2', 'everything.echo', { message: 'still here' }),
    ]);
    await until('the other result', async () => {
      const response = await fetch(`${system.url()}/v1/runs?limit=1`);
      const { data } = (await response.json()) as { data: readonly { readonly id: string; readonly question: string }[] };
      const run = data[0]?.question.includes(question) ? await readRun(system.url(), data[0].id) : null;
      return run?.rounds[0]?.tasks.some(({ capability, status }) => capability === 'mcp' && status === 'ok');
    });
    await remotes[server].end();
    const { facts, tasks } = await dying;
    expect(tasks.map(({ status }) => status)).toEqual(['error', 'ok']);
    expect(tasks[0]!.failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE' });
    expect(facts).toContain('Echo: still here');
    remotes[server].start();
    await until(
      'its return',
      async () => {
        const echo = { message: 'back' };
        const { tasks: again } = await asked(`Is the server ${server} back at ${Date.now()}?`, [
          call('t1', `${server}.echo`, echo),
          call('t2', 'everything.echo', echo),
        ]);
        return again[0]!.status === 'ok';
      },
      { timeoutMs: 30_000, everyMs: 500 },
    );
  },
  90_000,
);

describe('the server for files', () => {
  it('reads a file whole, and refuses what is outside its folder', async () => {
    const { facts, tasks } = await asked('What is in the files?', [
      call('t1', 'files.read_text_file', { path: join(shared, 'note.txt') }),
      call('t2', 'files.list_directory', { path: shared }),
      call('t3', 'files.read_text_file', { path: '/etc/hostname' }),
    ]);
    expect(facts).toContain('word end — files.read_text_file');
    expect(facts).toContain('[FILE] note.txt');
    expect(tasks[2]!.failure).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('Access denied') });
  });

  it('loses only the call that reads a file that is too large', async () => {
    const { facts, tasks } = await asked('What is in the large file?', [
      call('t1', 'files.read_text_file', { path: join(shared, 'huge.txt') }),
      call('t2', 'files.get_file_info', { path: join(shared, 'huge.txt') }),
    ]);
    expect(tasks.map(({ status }) => status)).toEqual(['error', 'ok']);
    expect(tasks[0]!.failure).toMatchObject({ code: 'TOOL_RESULT_TOO_LARGE' });
    expect(facts).toContain('size: 6291456');
  });

  it('cannot write unless a template names the tool', async () => {
    const { planner } = await asked('What can be written?', [call('t1', 'files.list_allowed_directories')]);
    expect(planner).toContain('files.search_files(');
    expect(planner).not.toContain('files.write_file(');
    expect(planner).not.toContain('memory.create_entities(');
  });
});

it('the server for memory keeps its file where the configuration says, with the tools that the template names', async () => {
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }];
  const { tasks, planner } = await asked('Who is Ada (first)?', [call('t1', 'memory.create_entities', { entities })], 'named');
  expect(tasks[0]!.status).toBe('ok');
  expect(planner).not.toContain('memory.delete_entities(');
  const { facts } = await asked('Who is Ada (later)?', [call('t1', 'memory.read_graph')], 'named');
  expect(facts).toContain('likes tea');
  expect(readFileSync(join(folder, 'memory.jsonl'), 'utf8')).toContain('Ada');
});
