import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import type { AuditLine } from '@conclave/contracts';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ask, exitCodes } from './ask.js';
import { auditCommand } from './audit.js';
import { findGateway } from './running-gateway.js';
import { up } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-audit-command-'));
const load = (): Loaded => loadConfiguration({ CONCLAVE_HOME: home, PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };
let runId: string;

async function audit(...args: string[]) {
  let [text, told] = ['', ''];
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => ((text += chunk.toString()), done()) });
  const terminal = { write: (said: string) => void (told += said) };
  const signal = new AbortController().signal;
  const code = await auditCommand({ loaded: load, args, input: new PassThrough(), out, terminal, signal });
  return { code, text, told };
}
const file = (name: string): string => join(home, name);
const linesOf = (name: string): AuditLine[] =>
  readFileSync(file(name), 'utf8')
    .trim()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditLine);

let whileRunning: Awaited<ReturnType<typeof audit>>;
let refusedKey: unknown;
beforeAll(async () => {
  const running = await up({ loaded: load(), out: sink, terminal: sink, localServers });
  const signal = new AbortController().signal;
  await ask({ loaded: load(), question: sampleQuestion(), model: 'conclave', answer: sink, progress: sink, localServers, signal });
  const client = (await findGateway(load()))!;
  runId = (await client.list()).data[0]!.id;
  await client.json('POST', '/v1/admin/keys', { name: 'front end', tenant: 'research' });
  whileRunning = await audit('export', '--out', file('running.ndjson'));
  refusedKey = await audit('export', '--key', file('mine.key')).catch((error: unknown) => error);
  await client.json('DELETE', `/v1/runs/${runId}`);
  await running.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('audit export and verify', () => {
  it('export through the running gateway, with prompts, settings and who asked, and are whole', async () => {
    expect(whileRunning).toMatchObject({ code: exitCodes.answered, text: '' });
    expect(whileRunning.told).toMatch(
      /Exporting from the gateway at http.*\n\d+ records of all tenants from .*; exported .* by admin\.key\nSigned with the key /s,
    );
    expect(statSync(file('running.ndjson')).mode & 0o777).toBe(0o600);
    const lines = linesOf('running.ndjson');
    const types = new Set(lines.map(({ type }) => type));
    expect([...types].sort()).toEqual(['CallRecorded', 'DetailRead', 'SettingChanged', 'StepRecorded']);
    expect(lines.find(({ type }) => type === 'SettingChanged')).toMatchObject({
      tenant: 'research',
      data: { actor: 'admin.key', before: null, after: { name: 'front end' } },
    });
    expect(lines.find(({ type }) => type === 'CallRecorded')).toMatchObject({
      tenant: 'default',
      run: runId,
      data: { purpose: expect.any(String), status: 'ok' },
    });
    const key = /Signed with the key (\S+)/.exec(whileRunning.told)![1]!;
    expect((await audit('key')).text.trim()).toBe(key);
    expect(await audit('verify', file('running.ndjson'), '--public-key', key)).toMatchObject({
      code: exitCodes.answered,
      text: expect.stringMatching(/Whole, and signed with the key that you named/),
    });
    expect((await audit('verify', file('running.ndjson'))).text).toMatch(/Whole by itself.*--public-key/s);
    expect(refusedKey).toMatchObject({ message: expect.stringMatching(/signs with its own key/) });
  });

  it('export from the data folder of a stopped server, where a deleted run keeps its lines and hashes', async () => {
    const exported = await audit('export', '--out', file('stopped.ndjson'), '--key', file('mine.key'));
    expect(exported.code).toBe(exitCodes.answered);
    expect(exported.told).toMatch(/Created the key .*mine\.key/);
    const before = linesOf('running.ndjson');
    const after = linesOf('stopped.ndjson');
    // The lines that follow are the deletion and the readings; all earlier ones are at the same places with the same hashes.
    expect(after.slice(0, before.length).map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    expect(after.slice(before.length).map(({ type }) => type)).toEqual(['RunErased', 'DetailRead']);
    const ofRun = after.filter(({ run, type }) => run === runId && type !== 'RunErased');
    expect(ofRun.length).toBeGreaterThan(10);
    expect(ofRun.every(({ body, data }) => body === 'erased' && data === null)).toBe(true);
    expect(readFileSync(file('stopped.ndjson'), 'utf8')).not.toContain('Northlight');
    expect((await audit('verify', file('stopped.ndjson'), '--public-key', file('mine.key'))).code).toBe(exitCodes.answered);
    expect((await audit('export', '--run', runId, '--out', file('one.ndjson'))).code).toBe(exitCodes.answered);
    expect(linesOf('one.ndjson').length).toBeGreaterThan(ofRun.length);
  });

  it('say which line was edited, with exit code 1, and refuse what they cannot do', async () => {
    const whole = readFileSync(file('running.ndjson'), 'utf8').split('\n');
    writeFileSync(file('edited.ndjson'), whole.map((line, n) => (n === 3 ? line.replace('"type":"', '"type":"X') : line)).join('\n'));
    expect(await audit('verify', file('edited.ndjson'))).toMatchObject({
      code: exitCodes.failed,
      text: expect.stringMatching(/^Line 4: its record was edited/),
    });
    writeFileSync(file('cut.ndjson'), whole.slice(0, 5).join('\n'));
    const cut = await audit('verify', file('cut.ndjson'), '--json');
    expect([cut.code, JSON.parse(cut.text)]).toEqual([exitCodes.failed, { whole: false, line: 6, why: expect.stringMatching(/cut off/) }]);
    await expect(audit('export', '--out', file('running.ndjson'))).rejects.toThrow(/exists. Name a new file/);
    await expect(audit('verify', file('nothing.ndjson'))).rejects.toThrow(/cannot be read \(ENOENT\)/);
    await expect(audit('verify', file('cut.ndjson'), '--public-key', 'nobody')).rejects.toThrow(/is an Ed25519 public key/);
    await expect(audit('verify', file('cut.ndjson'), '--tenant', 'a')).rejects.toThrow(/does not take --tenant/);
  });
});
