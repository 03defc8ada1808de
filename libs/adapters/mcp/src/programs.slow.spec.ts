import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { describeToolServers } from '@conclave/ports/suites';
import { until } from '@conclave/test-support';
import { closeOpened, open, runs, type Opened } from './__fixtures__/opened.js';
import { plainProgram, sampleProgram } from './__fixtures__/programs.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));

describeToolServers('programs', {
  async open() {
    const { tools } = open({ sample: plainProgram(), away: { command: 'no-such-program', allow: true } });
    return { tools, dispose: closeOpened };
  },
});

describe('a program made with the SDK', () => {
  let sample: Opened;
  beforeAll(() => {
    const environment = { ...process.env, OWN_KEY: 'sk-for-this-one', OPENAI_API_KEY: 'sk-secret', NODE_OPTIONS: '--no-warnings' };
    sample = open({ sample: { ...sampleProgram, env: { SERVICE_KEY: 'OWN_KEY' } } }, { environment, folder });
  });
  afterAll(closeOpened);

  it('is not started before its tools are requested', async () => {
    expect(sample.tools.status()).toEqual([{ name: 'sample', ok: false, error: null, tools: 0 }]);
    expect((await sample.tools.offers()).length).toBe(14);
    expect(sample.tools.status()).toEqual([{ name: 'sample', ok: true, error: null, tools: 14 }]);
  });

  it('sees only PATH, HOME and the configured variables of our environment, and starts in the given folder', async () => {
    const { env, cwd } = JSON.parse((await sample.call('sample.environment')).content) as { env: Record<string, string>; cwd: string };
    expect(Object.keys(env).sort()).toEqual(['HOME', 'PATH', 'SERVICE_KEY']);
    expect(env.SERVICE_KEY).toBe('sk-for-this-one');
    expect(cwd).toBe(folder);
  });

  it('offers a new tool once it says that its list changed', async () => {
    await expect(sample.failure('sample.grown')).resolves.toMatchObject({ code: 'TOOL_UNKNOWN' });
    await sample.call('sample.grow');
    const offered = await until('the new tool', async () => (await sample.tools.offers()).some(({ name }) => name === 'sample.grown'));
    expect(offered).toBe(true);
    expect((await sample.call('sample.grown')).content).toBe('here');
  });

  it('fails a call whose structured result does not match its own schema', async () => {
    expect(await sample.failure('sample.lie')).toMatchObject({
      code: 'TOOL_FAILED',
      detail: expect.stringContaining('`value` must be number'),
    });
  });

  it('returns every kind of content as text', async () => {
    expect((await sample.call('sample.picture')).content).toBe('See:\n[image, image/png, 3 bytes]\nall of it\n[b: file:///b.txt]');
  });

  it('reports the message of its error on one line', async () => {
    expect(await sample.failure('sample.raise')).toMatchObject({ code: 'TOOL_FAILED', detail: expect.stringMatching(/says: .*disk full/) });
  });

  it('fails a call that needs what no client here gives, with a sentence that says so', async () => {
    const needs = async (method: string) => (await sample.failure('sample.ask', { for: method })).detail;
    expect(await needs('elicitation/create')).toMatch(
      /Method not found\. Meanwhile its server asked for the answer of a person \(elicitation\), which is not/,
    );
    expect(await needs('roots/list')).toMatch(/ asked for the folders of its client \(roots\), which is not supported\.$/);
    expect(await sample.call('sample.ask-and-tell')).toMatchObject({
      isError: true,
      content: 'Not confirmed. Meanwhile its server asked for the answer of a person (elicitation), which is not supported.',
    });
    expect((await sample.failure('sample.raise')).detail).not.toContain('asked for');
  });

  it('says of a call that took too long whether it may have run', async () => {
    expect((await sample.failure('sample.wait', {}, { timeoutMs: 100 })).detail).toMatch(/within \d+ ms\. It may have run; /);
  });

  it('is started again after it was killed during a call', async () => {
    const before = JSON.parse((await sample.call('sample.environment')).content) as { pid: number };
    expect(await sample.failure('sample.die')).toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      detail: expect.stringMatching(/`sample`: .*SIGKILL.*may have run/),
    });
    expect(sample.tools.status()).toMatchObject([{ ok: false, error: expect.stringContaining('SIGKILL') }]);
    const after = JSON.parse((await sample.call('sample.environment')).content) as { pid: number };
    expect(after.pid).not.toBe(before.pid);
    expect(runs(before.pid)).toBe(false);
    expect(sample.tools.status()).toMatchObject([{ ok: true, error: null }]);
  });

  it('ends with its connection', async () => {
    const { pid } = JSON.parse((await sample.call('sample.environment')).content) as { pid: number };
    await sample.tools.close();
    expect(runs(pid)).toBe(false);
  });
});

describe('a program', () => {
  afterEach(closeOpened);

  it('is started only when its configuration allows it, and is reported otherwise', async () => {
    const { allow, ...server } = plainProgram();
    const { tools, log, failure } = open({ files: server, denied: { ...server, allow: false }, good: plainProgram() });
    expect(allow).toBe(true);
    expect(log.map(({ level, message }) => `${level} ${message}`)).toEqual(
      ['files', 'denied'].map((name) => expect.stringMatching(new RegExp(`^warn mcp\\.${name}: .* is not started\\. Add \`allow: true\``))),
    );
    expect((await tools.offers()).every(({ name }) => name.startsWith('good.'))).toBe(true);
    expect(await failure('files.echo', { text: 'x' })).toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      detail: expect.stringContaining('allow: true'),
    });
    expect(tools.status()[0]).toEqual({ name: 'files', ok: false, error: expect.stringContaining('allow: true'), tools: 0 });
  });

  it('that comes with the product needs no permission', async () => {
    const { command, args } = plainProgram();
    const builtins = { 'precision-tools': { command: command!, args: args! } };
    const { call } = open({ precision: { builtin: 'precision-tools' } }, { builtins });
    expect((await call('precision.echo', { text: 'tea' })).content).toBe('tea');
  });

  it('is called once more when its tool may be repeated, and only then', async () => {
    const { call, failure } = open({ one: plainProgram('dying', join(folder, 'one')), two: plainProgram('dying', join(folder, 'two')) });
    expect((await call('one.once')).content).toBe('done in another life');
    expect((await failure('two.unsafe')).code).toBe('TOOL_SERVER_UNAVAILABLE');
    expect((await call('two.well')).content).toBe('done');
  });

  it('is not affected by a signal that aborts after its call', async () => {
    const { tools, call } = open({ one: plainProgram('answers') });
    await tools.offers();
    const later = new AbortController();
    await call('one.stray', {}, { signal: later.signal });
    later.abort();
    expect((await call('one.notices')).content).toBe('0');
  });

  it('is restarted after growing pauses when it dies with every call', async () => {
    const { tools, failure } = open({ one: plainProgram('dying') });
    expect((await failure('one.always')).code).toBe('TOOL_SERVER_UNAVAILABLE');
    const refused = await until('a pause', async () => {
      const failed = await failure('one.always');
      return failed.options.retryAfterMs === undefined ? null : failed;
    });
    expect(refused.detail).toMatch(/`one`: .*SIGKILL.* It is retried in \d+ s\./);
    expect(tools.status()[0]!.ok).toBe(false);
    const recovered = await until('the next start', () => tools.offers().then((offers) => offers.length > 0));
    expect(recovered).toBe(true);
  });

  it('is logged with its output when it is missing or ends at once, without telling the caller', async () => {
    const { tools, failure, log } = open({
      gone: { command: 'no-such-program', allow: true },
      ends: plainProgram('ends-at-once'),
      whole: { command: 'npx -y some-server', allow: true },
    });
    expect((await failure('gone.x')).detail).toBe('`gone`: There is no program `no-such-program`.');
    expect((await failure('whole.x')).detail).toMatch(/no program `npx -y some-server`\. Its arguments belong under `args`/);
    expect((await failure('ends.x')).detail).toBe('`ends`: Its program ended with code 3.');
    expect(tools.status()[1]!.error).toContain('It said: the key');
    // The log redacts what looks like a key.
    expect(log.some(({ message }) => message.includes('the key sk-[redacted] is missing'))).toBe(true);
  });

  it('may take longer to start than an address to answer; when it takes too long, its last line is reported', async () => {
    const slow = open({ one: plainProgram('late') }, { bounds: { connectMs: 300 } });
    expect((await slow.call('one.echo', { text: 'tea' })).content).toBe('tea');
    const { tools, failure } = open({ one: plainProgram('never-ready') }, { bounds: { startMs: 3_000 } });
    expect((await failure('one.echo', { text: 'tea' })).detail).toBe('`one`: It was not ready within 3000 ms.');
    expect(tools.status()[0]!.error).toMatch(/It said: fetching packages$/);
  });

  it('does not outlive its connection, even if it ignores signals, and neither do its children', async () => {
    const file = join(folder, 'stubborn');
    const { tools, call } = open({ one: plainProgram('stubborn', file) });
    await call('one.echo', { text: 'on' });
    const pids = JSON.parse(readFileSync(file, 'utf8')) as number[];
    expect(pids.map(runs)).toEqual([true, true]);
    await tools.close();
    expect(await until('the end of both', () => pids.every((pid) => !runs(pid)))).toBe(true);
  });

  it('is cut short in the log when it prints very much on standard error', async () => {
    const { call, log } = open({ one: plainProgram('loud') });
    await call('one.echo', { text: 'on' });
    await until('the last line', () => log.some(({ message }) => message.includes('left out')));
    expect(log.filter(({ message }) => message.includes('says:')).length).toBe(30);
    expect(Math.max(...log.map(({ message }) => message.length))).toBeLessThan(500);
  });

  it('is not awaited when it is closed during its start', async () => {
    const { tools, failure } = open({ one: plainProgram('never-answers') });
    const calling = failure('one.x');
    await new Promise((resolve) => setImmediate(resolve));
    await tools.close();
    expect((await calling).code).toBe('TOOL_SERVER_UNAVAILABLE');
  });
});
