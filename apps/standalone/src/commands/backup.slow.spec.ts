import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sampleQuestion } from '@conclave/adapter-demo';
import { loadConfiguration, type Loaded } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { until } from '@conclave/test-support';
import { ask, exitCodes } from './ask.js';
import { backupCommand, restoreCommand } from './backup.js';
import { replayCommand } from './replay.js';
import { findGateway } from './running-gateway.js';
import { up } from './up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(90_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const folder = mkdtempSync(join(tmpdir(), 'conclave-backup-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const load = (home: string): Loaded =>
  loadConfiguration({ CONCLAVE_HOME: join(folder, home), PORT: '0' }, folder, { categories: Object.keys(expertPrompts) });
const sink = { write: () => undefined };
const signal = new AbortController().signal;
const start = (home: string) => up({ loaded: load(home), out: sink, terminal: sink, localServers });

async function said(command: typeof backupCommand, home: string, ...args: string[]) {
  let text = '';
  const code = await command({ loaded: () => load(home), args, out: { write: (more) => void (text += more) }, terminal: sink });
  return { code, text };
}
const inFolder = (name: string): string => join(folder, name);
const question = () => sampleQuestion();
const askOf = (home: string) =>
  ask({ loaded: load(home), question: question(), model: 'conclave', answer: sink, progress: sink, localServers, signal });

const insightsOf = async (client: NonNullable<Awaited<ReturnType<typeof findGateway>>>, run: string) =>
  ((await client.json('GET', `/v1/knowledge/insights?run=${run}`)) as { data: unknown[] }).data;
let changedPrompt: string;
let issued: { id: string; key: string };
beforeAll(async () => {
  const running = await start('one');
  const client = (await findGateway(load('one')))!;
  const { data: prompts } = (await client.json('GET', '/v1/admin/prompts')) as { data: { name: string }[] };
  changedPrompt = `/v1/admin/prompts/${encodeURIComponent(prompts[0]!.name)}`;
  const { shipped } = (await client.json('GET', changedPrompt)) as { shipped: string };
  await client.json('PUT', changedPrompt, { text: `${shipped}\nBe brief.` });
  await client.json('POST', '/v1/collections', { name: 'notes', description: 'Notes' });
  const document = (await client.json('POST', '/v1/collections/notes/documents', {
    ...{ name: 'a.md', mime: 'text/markdown', text: '# Quince\nA quince is a fruit.' },
  })) as { id: string };
  await until('the document to be taken in', async () => {
    const { status } = (await client.json('GET', `/v1/collections/notes/documents/${document.id}`)) as { status: string };
    return status === 'ready';
  });
  issued = (await client.json('POST', '/v1/admin/keys', { name: 'front end', tenant: 'research' })) as typeof issued;
  // Last, because prompts, collections and tools change the version of a template, and with it the cached answers that count. In a new data
  // folder the tools come when their server has started; afterwards they are stored.
  await until('the tools to be listed', async () =>
    readFileSync(join(folder, 'one', 'conclave.log'), 'utf8').includes('The list of offered tools has changed.'),
  );
  await askOf('one');
  const first = (await client.list()).data[0]!.id;
  await until('the run to be learned from', async () => (await insightsOf(client, first)).length > 0);
  await until('its answer to be kept', async () => {
    await askOf('one');
    return (await client.run((await client.list()).data[0]!.id)).cached !== null;
  });
  // The folder is written to while it is copied.
  const meanwhile = askOf('one');
  const made = await said(backupCommand, 'one', '--to', inFolder('copy'));
  expect(made).toMatchObject({ code: exitCodes.answered, text: expect.stringMatching(/copy: the data folder .*, checked\.\n/) });
  await meanwhile;
  expect((await said(backupCommand, 'one', '--to', inFolder('copy.tgz'))).code).toBe(exitCodes.answered);
  await running.close();
});

describe('backup and restore of a data folder', () => {
  it('restore runs, settings, keys, collections, caches and graph, and the server answers', async () => {
    expect(await said(restoreCommand, 'two', inFolder('copy'))).toMatchObject({
      code: exitCodes.answered,
      text: expect.stringMatching(/two is restored: \d+ runs?\. \(backup of 20/),
    });
    for (const name of ['admin.key', 'conclave.db']) expect(statSync(join(folder, 'two', name)).mode & 0o077).toBe(0);
    const running = await start('two');
    const client = (await findGateway(load('two')))!;
    const before = await client.list();
    expect(before.data.at(-1)).toMatchObject({ question: question(), status: 'completed' });
    const { data: keys } = (await client.json('GET', '/v1/admin/keys')) as { data: { id: string }[] };
    expect(keys.map(({ id }) => id)).toEqual([issued.id]);
    const models = await fetch(`${client.url}/v1/models`, { headers: { 'x-api-key': issued.key } });
    expect(models.status).toBe(200);
    expect(((await client.json('GET', changedPrompt)) as { text: string }).text).toMatch(/\nBe brief\.$/);
    const found = (await client.json('POST', '/v1/collections/notes/query', { query: 'quince fruit' })) as { data: { text: string }[] };
    expect(JSON.stringify(found)).toContain('A quince is a fruit.');
    expect((await insightsOf(client, before.data.at(-1)!.id)).length).toBeGreaterThan(0);
    // The cache answers, and the run is recorded like any other. On a busy machine a lookup may be too slow, which is a miss.
    let asked = 0;
    const newest = async () => client.run((await client.list()).data[0]!.id);
    do expect(await askOf('two')).toBe(exitCodes.answered);
    while ((asked += 1) < 5 && (await newest()).cached === null);
    expect((await client.list()).data).toHaveLength(before.data.length + asked);
    expect(await newest()).toMatchObject({ cached: { origin: 'exact' } });
    await running.close();
    let text = '';
    const out = { write: (more: string) => void (text += more) };
    expect(await replayCommand({ loaded: load('two'), runId: null, recorded: true, out, terminal: sink })).toBe(exitCodes.answered);
    expect(text).toMatch(/all the same · hash/);
  });

  it('refuse a folder with data, unless it may be moved aside, and one that a server uses', async () => {
    await expect(said(restoreCommand, 'two', inFolder('copy.tgz'))).rejects.toThrow(/two is not empty .* --force/);
    const running = await start('two');
    await expect(said(restoreCommand, 'two', inFolder('copy.tgz'), '--force')).rejects.toMatchObject({ code: 'DATA_FOLDER_IN_USE' });
    await running.close();
    const { text } = await said(restoreCommand, 'two', inFolder('copy.tgz'), '--force');
    expect(text).toMatch(/Its previous content is in .*two\.before-restore-/);
    const aside = readdirSync(folder).find((name) => name.startsWith('two.before-restore-'))!;
    expect(existsSync(join(folder, aside, 'conclave.db'))).toBe(true);
    expect(existsSync(join(folder, 'two', 'conclave.db-wal'))).toBe(false);
  });

  it('refuse a backup that is damaged, of a newer format, or none at all', async () => {
    const changed = (name: string, change: (path: string) => void): string => {
      cpSync(inFolder('copy'), inFolder(name), { recursive: true });
      change(inFolder(name));
      return inFolder(name);
    };
    const manifest = (path: string, edit: (all: Record<string, unknown>) => object) =>
      writeFileSync(
        join(path, 'backup.json'),
        JSON.stringify(edit(JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8')) as Record<string, unknown>)),
      );
    const flipped = changed('flipped', (path) => {
      const bytes = readFileSync(join(path, 'data/conclave.db'));
      bytes[5_000] = bytes[5_000]! ^ 0xff;
      writeFileSync(join(path, 'data/conclave.db'), bytes);
    });
    await expect(said(restoreCommand, 'three', flipped)).rejects.toThrow(/conclave\.db is not as it was written/);
    const missing = changed('missing', (path) => rmSync(join(path, 'data/admin.key')));
    await expect(said(restoreCommand, 'three', missing)).rejects.toThrow(/admin\.key is missing/);
    const newer = changed('newer', (path) => manifest(path, (all) => ({ ...all, format: 2 })));
    await expect(said(restoreCommand, 'three', newer)).rejects.toThrow(/has the format 2, and this program reads up to 1/);
    const outside = changed('outside', (path) => manifest(path, (all) => ({ ...all, files: [{ name: '../x', bytes: 1, sha256: 'x' }] })));
    await expect(said(restoreCommand, 'three', outside)).rejects.toThrow(/is outside/);
    await expect(said(restoreCommand, 'three', folder)).rejects.toThrow(/holds no backup/);
    await expect(said(backupCommand, 'one', '--to', inFolder('copy'))).rejects.toThrow(/exists/);
    await expect(said(backupCommand, 'nowhere', '--to', inFolder('other'))).rejects.toThrow(/no data folder/);
    expect(existsSync(join(folder, 'three', 'conclave.db'))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith('.conclave-backup-'))).toEqual([]);
  });
});
