import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Finding } from '@conclave/host';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ScriptedModelServer } from '@conclave/test-support';
import { exitCodes } from './ask.js';
import { doctorCommand } from './doctor.js';
import { up } from './up.js';

// Servers that do not answer are waited for.
jest.setTimeout(120_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const folder = mkdtempSync(join(tmpdir(), 'conclave-doctor-'));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Found = Finding & { readonly check: string };
let homes = 0;
async function doctor(yaml: string, variables: Record<string, string> = {}, home = join(folder, `home-${(homes += 1)}`)) {
  writeFileSync(join(folder, 'conclave.yaml'), yaml);
  const all = { CONCLAVE_HOME: home, PORT: '0', ...variables };
  const load = () => loadConfiguration(all, folder, { categories: Object.keys(expertPrompts) });
  let text = '';
  const code = await doctorCommand({ loaded: load, args: ['--json'], out: { write: (more) => void (text += more) }, localServers });
  const { findings } = JSON.parse(text) as { findings: Found[] };
  const of = (check: string): string[] =>
    findings.filter((finding) => finding.check === check).map(({ status, says }) => `${status}: ${says}`);
  return { code, of, findings, home, load };
}

describe('doctor, embedded', () => {
  it('finds nothing wrong with a fresh folder, and prints a line for each check', async () => {
    const { code, of, findings, load } = await doctor('');
    expect([findings.filter(({ status }) => status === 'problem'), code]).toEqual([[], exitCodes.answered]);
    expect(of('node')).toEqual([expect.stringMatching(/^ok: Node\.js \d+/)]);
    expect(of('models')).toEqual([
      expect.stringMatching(/^ok: demo answers/),
      expect.stringMatching(/^warning: Only the built-in demo model/),
    ]);
    expect(of('tools')).toEqual([expect.stringMatching(/^ok: precision offers \d+ tools/)]);
    let text = '';
    await doctorCommand({ loaded: load, args: [], out: { write: (more) => void (text += more) }, localServers });
    expect(text).toMatch(/^ok {7}node {10}Node/);
    expect(text).toMatch(/\n0 problems, \d+ warnings?\n$/);
  });

  it('lists every mistake of the configuration', async () => {
    const { code, of } = await doctor('gatway: {}\nretention_days: 0\nretention: { audit: 1, dead: 3 }\n');
    expect(code).toBe(exitCodes.failed);
    expect(of('configuration')[0]).toMatch(/^problem: .*gatway.*retention_days/s);
    const { of: later } = await doctor('retention: { audits: 20, audit: 3 }\n');
    expect(later('configuration')[0]).toMatch(
      /no topic is called `audits`.*Did you mean `audit`\?.*the audit is kept for a shorter time than plan\.requested/s,
    );
  });

  it('warns of a folder and a key that others can read, and reports a taken port', async () => {
    const home = join(folder, 'open');
    mkdirSync(home);
    chmodSync(home, 0o755);
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => taken.close(resolve)));
    const { port } = taken.address() as { port: number };
    writeFileSync(join(home, 'admin.key'), 'sk-conclave-0123456789abcdef\n');
    chmodSync(join(home, 'admin.key'), 0o644);
    const { code, of } = await doctor('', { PORT: String(port) }, home);
    expect(code).toBe(exitCodes.failed);
    expect(of('data folder')).toEqual([
      expect.stringMatching(/^warning: Others can read .*chmod 700/),
      expect.stringMatching(/^ok: .* no data yet/),
    ]);
    expect(of('ports')).toEqual([expect.stringMatching(/^problem: 127\.0\.0\.1:\d+ is taken by another program: end it, or set PORT/)]);
    expect(of('keys')[0]).toMatch(/^warning: Others can read the admin key .*chmod 600/);
  });

  it('names a folder whose file is missing or empty beside its write-ahead log', async () => {
    const home = mkdtempSync(join(folder, 'log-alone-'));
    writeFileSync(join(home, 'conclave.db-wal'), 'a log');
    for (const damage of [() => undefined, () => writeFileSync(join(home, 'conclave.db'), '')]) {
      damage();
      const { code, of } = await doctor('', {}, home);
      expect(code).toBe(exitCodes.failed);
      expect(of('data folder')).toContainEqual(
        expect.stringMatching(/^problem: .*conclave\.db is missing or empty, but .* restore a backup/),
      );
    }
  });

  it('knows the folder of a running server and its gateway, and says that its store is damaged', async () => {
    const { load, home } = await doctor('');
    const running = await up({ loaded: load(), out: { write: () => undefined }, terminal: { write: () => undefined }, localServers });
    const { code, of } = await doctor('', {}, home);
    await running.close();
    expect([code, of('gateway')]).toEqual([exitCodes.answered, [expect.stringMatching(/^ok: http.* is ready/)]]);
    expect(of('data folder')).toEqual([expect.stringMatching(/^ok: .* is whole, and holds 0 runs/)]);
    expect(of('dead letters')).toEqual(['ok: None is open.']);
    writeFileSync(join(home, 'conclave.db'), 'no database');
    const damaged = await doctor('', {}, home);
    expect([damaged.code, damaged.of('data folder')]).toEqual([
      exitCodes.failed,
      [expect.stringMatching(/^problem: .*not a store of Conclave, or it is damaged/)],
    ]);
  });

  it('checks providers, tool servers, SymPy and documents, and says which do not answer', async () => {
    mkdirSync(join(folder, 'empty'));
    const models = await ScriptedModelServer.start({ models: ['scripted', 'other'], apiKey: 'sk-x' });
    closing.push(() => models.close());
    const { code, of } = await doctor(
      [
        'providers:',
        `  good: { base_url: "${models.url}", api_key_env: GOOD }`,
        '  away: { base_url: "http://127.0.0.1:9/v1" }',
        'mcp:',
        '  gone: { url: "http://127.0.0.1:9/mcp" }',
        '  late: { command: node, args: ["-e", "setTimeout(() => {}, 60000)"], allow: true }',
        'math: { python: /nowhere/python }',
        'search: { corpus: ./empty }',
      ].join('\n'),
      { GOOD: 'sk-x' },
    );
    expect([of('configuration'), code]).toEqual([[expect.stringMatching(/^ok: /)], exitCodes.failed]);
    expect(of('models')).toEqual(['ok: good answers with 2 models.', expect.stringMatching(/^problem: away does not answer .*base_url/)]);
    expect(of('tools')).toContainEqual(expect.stringMatching(/^problem: gone: .*under `mcp`/));
    expect(of('tools')).toContainEqual(expect.stringMatching(/^warning: late has not listed its tools yet\. .*check again/));
    expect(of('mathematics')).toEqual([expect.stringMatching(/^problem: \/nowhere\/python has no SymPy.*math\.python/)]);
    expect(of('search')).toEqual([expect.stringMatching(/^warning: .*empty contains no file to search/)]);
  });

  it('says of each store of a cluster that it does not answer', async () => {
    const { code, of } = await doctor(
      [
        'stores:',
        '  kafka: { brokers: ["127.0.0.1:9"] }',
        '  redis: { url: "redis://127.0.0.1:9" }',
        '  neo4j: { url: "bolt://127.0.0.1:9" }',
        '  chroma: { url: "http://127.0.0.1:9" }',
        'search: { searxng: "http://127.0.0.1:9" }',
      ].join('\n'),
      { NEO4J_USER: 'neo4j', NEO4J_PASSWORD: 'x' },
    );
    expect(code).toBe(exitCodes.failed);
    for (const check of ['kafka', 'redis', 'neo4j', 'chroma', 'search'])
      expect([check, of(check)]).toEqual([check, [expect.stringMatching(/^problem: /)]]);
    expect(of('keys')).toContainEqual(expect.stringMatching(/^problem: No key of the role admin: set CONCLAVE_ADMIN_KEY_FILE/));
    expect(of('keys')).toContainEqual(expect.stringMatching(/^warning: The log is not sealed/));
  });
});
