import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type AuditLine, CommandIssued, commandId, ownEvent, SettingChanged } from '@conclave/contracts';
import { MemoryBroker, MemorySealKeys, RunSeals } from '@conclave/ports';
import { AuditChain, sha256, verifyAudit } from './audit-chain.js';
import { auditPublicKeyOf, openAuditKey } from './audit-key.js';
import { exportAudit, type AuditFilter } from './export-audit.js';
import { SortedSpool } from './sorted-spool.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-audit-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const key = openAuditKey(join(folder, 'audit.key'));
const everything: AuditFilter = { tenant: null, run: null, since: null, until: null };
const [run, other] = ['run_aaaaaaaa', 'run_bbbbbbbb'];

const command = (runId: string, seq: number) =>
  ownEvent(
    CommandIssued,
    { id: commandId(runId, seq), runId, source: 'gateway', time: 1_000 + seq },
    {
      seq,
      actor: 'key_ann',
      issuedAt: 1_000 + seq,
      // The separator U+2028 may occur unescaped in JSON texts, and does not end a line.
      command: { name: 'steer', text: `Shorter,\u2028 ${seq}.` },
    },
  );
const change = (version: number) =>
  ownEvent(
    SettingChanged,
    { id: `setting/prompts/expert/${version}`, runId: 'settings', source: 'gateway', time: 2_000 },
    {
      ...{ setting: 'prompts/expert', actor: 'ada', before: { text: 'a' }, after: { text: 'b' }, version, changedAt: 2_000 },
    },
  );

/** Two runs of two tenants, four commands and a changed prompt. */
async function recorded() {
  let time = 10_000;
  const clock = { now: () => (time += 1_000), random: () => 0.5, after: () => () => undefined };
  const broker = new MemoryBroker({ clock });
  const log = broker.connect();
  await log.publish([command(run, 1), command(other, 1)]);
  await log.publish([change(1)]);
  await log.publish([command(run, 2), command(other, 2)]);
  const tenants: Record<string, string> = { [run]: 'a', [other]: 'b' };
  const runs = {
    header: async (id: string) => (tenants[id] ? ({ data: { caller: { tenant: tenants[id] } } } as never) : null),
    erased: async () => null,
  };
  return { log, source: { log, runs } };
}
async function exported(
  source: Parameters<typeof exportAudit>[0]['source'],
  filter: Partial<AuditFilter> = {},
  most?: number,
): Promise<string[]> {
  const lines: string[] = [];
  const options = { source, filter: { ...everything, ...filter }, actor: 'eve', now: 99_000, key, ...(most === undefined ? {} : { most }) };
  for await (const line of exportAudit(options)) lines.push(line.trimEnd());
  return lines;
}
const parsed = (lines: readonly string[]): AuditLine[] => lines.slice(0, -1).map((line) => JSON.parse(line) as AuditLine);

describe('an export of the audit', () => {
  it('chains every record in the order of the log, with actor, before and after, and is whole', async () => {
    const lines = await exported((await recorded()).source);
    expect(parsed(lines).map(({ seq, type, tenant, body }) => [seq, type, tenant, body])).toEqual([
      [1, 'CommandIssued', 'a', 'plain'],
      [2, 'CommandIssued', 'b', 'plain'],
      [3, 'SettingChanged', null, 'plain'],
      [4, 'CommandIssued', 'a', 'plain'],
      [5, 'CommandIssued', 'b', 'plain'],
    ]);
    expect(parsed(lines)[2]!.data).toMatchObject({ actor: 'ada', before: { text: 'a' }, after: { text: 'b' } });
    expect(parsed(lines)[0]!.data).toMatchObject({ actor: 'key_ann', command: { text: 'Shorter,\u2028 1.' } });
    expect(await verifyAudit(lines, key.publicKey)).toMatchObject({
      whole: true,
      head: { count: 5, first: parsed(lines)[0]!.appended_at, last: parsed(lines)[4]!.appended_at, exported_by: 'eve' },
    });
  });

  it('contains only what was requested: a tenant, a run, a time', async () => {
    const { source } = await recorded();
    const ids = async (filter: Partial<AuditFilter>) => parsed(await exported(source, filter)).map(({ id }) => id);
    expect(await ids({ tenant: 'b' })).toEqual([commandId(other, 1), commandId(other, 2)]);
    expect(await ids({ run })).toEqual([commandId(run, 1), commandId(run, 2)]);
    const all = parsed(await exported(source));
    const at = Date.parse(all[2]!.appended_at);
    expect(await ids({ since: at })).toEqual(all.slice(2).map(({ id }) => id));
    expect(await ids({ until: at - 1 })).toEqual(all.slice(0, 2).map(({ id }) => id));
  });

  it('keeps the place and the hash of deleted content', async () => {
    const { log, source } = await recorded();
    const before = await exported(source);
    await log.erase(run);
    const after = await exported(source);
    expect(parsed(after).map(({ body }) => body)).toEqual(['erased', 'plain', 'plain', 'erased', 'plain']);
    expect(parsed(after)[0]).toMatchObject({ data: null, type: 'CommandIssued', run });
    expect(parsed(after).map(({ hash }) => hash)).toEqual(parsed(before).map(({ hash }) => hash));
    expect(await verifyAudit(after, key.publicKey)).toMatchObject({ whole: true });
  });

  it('is chained over the sealed bytes, so that a destroyed key changes no hash', async () => {
    const { source } = await recorded();
    const keys = new MemorySealKeys();
    const seals = new RunSeals(keys, [Buffer.alloc(32, 7)]);
    await keys.keep(run, sealedKey(run, Buffer.alloc(32, 7)));
    const sealed: { headers: Readonly<Record<string, string>>; raw: Buffer }[] = [];
    for await (const record of source.log.read('run.commands'))
      if (record.event) sealed.push(await seals.encode(record.event, new MemoryBroker().blobs));
    const broker = new MemoryBroker({});
    broker.append(sealed.map(({ headers, raw }) => ({ topic: 'run.commands', key: run, headers, raw })));
    const { storedRecord } = await import('@conclave/ports');
    const readWith = (opener: RunSeals) => ({
      async *read(topic: string) {
        for (const record of broker.records(topic)) yield await storedRecord(record, broker.blobs, opener);
      },
    });
    const open = await exported({ log: readWith(seals) as never, runs: source.runs });
    await keys.destroy(run);
    const gone = await exported({ log: readWith(new RunSeals(keys, [Buffer.alloc(32, 7)])) as never, runs: source.runs });
    expect(parsed(open).map(({ body }) => body)).toEqual(['sealed', 'plain', 'sealed', 'plain']);
    expect(parsed(gone).map(({ body }) => body)).toEqual(['erased', 'plain', 'erased', 'plain']);
    expect(parsed(gone).map(({ data }) => data === null)).toEqual([true, false, true, false]);
    expect(parsed(gone).map(({ hash }) => hash)).toEqual(parsed(open).map(({ hash }) => hash));
    expect(await verifyAudit(gone, key.publicKey)).toMatchObject({ whole: true });
  });

  it('that exceeds memory is sorted through files, which are removed', async () => {
    const { source } = await recorded();
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('conclave-audit-') && !name.includes('spec'));
    expect(await exported(source, {}, 10)).toEqual(await exported(source));
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('conclave-audit-') && !name.includes('spec'))).toEqual(before);
  });
});

/** A key of a run as the store keeps it, wrapped by the master key. */
function sealedKey(runId: string, master: Buffer): string {
  return (new RunSeals(new MemorySealKeys(), [master]) as unknown as { wrapped(of: string): string }).wrapped(runId);
}

describe('the check of an export names the first line that was changed', () => {
  const verdict = async (change: (lines: string[]) => readonly string[], publicKey: string | null = key.publicKey) => {
    const lines = await exported((await recorded()).source);
    return verifyAudit(change(lines), publicKey);
  };
  const edited = (lines: string[], at: number, change: (line: Record<string, unknown>) => Record<string, unknown>): string[] =>
    lines.map((line, n) => (n === at ? JSON.stringify(change(JSON.parse(line) as Record<string, unknown>)) : line));
  /** Recomputes the hashes and checks of all lines from this one on, as an expert forger would. */
  const rewritten = (lines: readonly string[]): string[] => {
    const chain = new AuditChain();
    return parsed(lines).map(({ seq: _seq, prev: _prev, hash: _hash, check: _check, ...entry }) => chain.line(entry));
  };

  it.each<[string, (lines: string[]) => readonly string[], number, RegExp]>([
    ['a removed line', (all) => all.filter((_, n) => n !== 1), 2, /a line before it were removed|removed or moved/],
    ['a removed first line', (all) => all.slice(1), 1, /removed or moved/],
    ['swapped lines', ([a, b, c, ...rest]) => [a!, c!, b!, ...rest], 2, /removed or moved/],
    ['a line written twice', ([a, ...rest]) => [a!, a!, ...rest], 2, /written twice/],
    [
      'an edited actor',
      (all) => edited(all, 2, (line) => ({ ...line, data: { ...(line['data'] as object), actor: 'bob' } })),
      3,
      /its content was edited/,
    ],
    ['an edited tenant', (all) => edited(all, 0, (line) => ({ ...line, tenant: 'b' })), 1, /its content was edited/],
    [
      'an edited time',
      (all) => edited(all, 3, (line) => ({ ...line, appended_at: '2020-01-01T00:00:00.000Z' })),
      4,
      /its record was edited/,
    ],
    ['a line with an unknown member', (all) => edited(all, 0, (line) => ({ ...line, note: 'x' })), 1, /not a line of an exported audit/],
    ['half a line', (all) => all.map((line, n) => (n === 4 ? line.slice(0, 40) : line)), 5, /it is not JSON/],
    ['a cut tail without its head', (all) => all.slice(0, 3), 4, /the end of the file was cut off/],
    ['a cut tail before the head', (all) => [...all.slice(0, 3), all.at(-1)!], 4, /the last 2 of 5 lines are missing/],
    ['only the head', (all) => [all.at(-1)!], 1, /the last 5 of 5 lines are missing/],
    ['an edited head', (all) => [...all.slice(0, 3), all.at(-1)!.replace('"count":5', '"count":3')], 4, /its signature does not match/],
    ['a line behind the head', (all) => [...all, all[0]!], 7, /follows the head/],
    [
      'data that were edited together with their check',
      (all) =>
        edited(all, 2, (line) => {
          const data = { ...(line['data'] as object), actor: 'bob' };
          return { ...line, data, check: sha256(JSON.stringify([line['hash'], line['tenant'], line['body'], data])) };
        }),
      3,
      /not the body on the log/,
    ],
    [
      'lines that were chained again after one was removed',
      (all) => [...rewritten(all.filter((_, n) => n !== 1)), all.at(-1)!],
      5,
      /the last 1 of 5 lines are missing/,
    ],
    [
      'lines that were chained again with another tenant',
      (all) => [...rewritten(edited(all, 0, (line) => ({ ...line, tenant: 'b' }))), all.at(-1)!],
      6,
      /the head belongs to other lines/,
    ],
  ])('%s', async (_name, change, line, why) => {
    expect(await verdict(change)).toEqual({ whole: false, line, why: expect.stringMatching(why) });
  });

  it('written anew with the same content, because programs may read it differently', async () => {
    const twice = (line: string): string => line.replace(/^\{/, '{"data":{"command":{"name":"cancel"}},');
    const reversed = (line: string): string =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as Record<string, unknown>).reverse()));
    const ways = [twice, reversed, (line: string) => line.replace(',', ', '), (line: string) => line.replace('Shorter', '\\u0053horter')];
    for (const way of ways)
      expect(await verdict((lines) => lines.map((line, at) => (at === 3 ? way(line) : line)))).toEqual({
        ...{ whole: false, line: 4, why: expect.stringContaining('written anew') },
      });
    const head = await verdict((lines) => [...lines.slice(0, -1), lines.at(-1)!.replace('{"head":', '{"signature":"none","head":')]);
    expect(head).toMatchObject({ whole: false, line: 6, why: expect.stringContaining('written anew') });
  });

  it('the head of another export, and one that was signed again with another key', async () => {
    const { source } = await recorded();
    const foreign = (await exported(source, { tenant: 'a' })).at(-1)!;
    expect(await verdict((all) => [...all.slice(0, 2), foreign])).toMatchObject({
      whole: false,
      line: 3,
      why: expect.stringMatching(/other lines/),
    });
    const forger = openAuditKey(join(folder, 'other.key'));
    const signedAnew = (all: string[]): string[] => {
      const chain = new AuditChain();
      const lines = parsed(all.filter((_, n) => n !== 1)).map(({ seq: _s, prev: _p, hash: _h, check: _c, ...entry }) => chain.line(entry));
      const { head } = JSON.parse(all.at(-1)!) as { head: never };
      const { tenant, run: of, since, until, exported_at, exported_by } = head as Parameters<AuditChain['seal']>[0];
      return [...lines, chain.seal({ tenant, run: of, since, until, exported_at, exported_by }, forger)];
    };
    expect(await verdict(signedAnew)).toMatchObject({ whole: false, why: expect.stringMatching(/signed by another key/) });
    // Without a key that the auditor knows, a forged export cannot be distinguished from a true one: the command says so.
    expect(await verdict(signedAnew, null)).toMatchObject({ whole: true, publicKey: forger.publicKey });
  });
});

describe('the key of an audit', () => {
  it('is created once, readable only by this user, and its public half is read from base64 and from PEM', () => {
    const file = join(folder, 'deep', 'made.key');
    const made = openAuditKey(file);
    expect([made.made, statSync(file).mode & 0o777]).toEqual([true, 0o600]);
    expect(openAuditKey(file)).toMatchObject({ made: false, publicKey: made.publicKey });
    expect(auditPublicKeyOf(`${made.publicKey}\n`)).toBe(made.publicKey);
    expect(auditPublicKeyOf(readFileSync(file, 'utf8'))).toBe(made.publicKey);
    expect(auditPublicKeyOf('nothing')).toBeNull();
  });

  it('with any other content is refused, without quoting it', () => {
    const file = join(folder, 'wrong.key');
    writeFileSync(file, 'my secret');
    expect(() => openAuditKey(file)).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_INVALID', message: expect.not.stringMatching(/my secret/) }),
    );
  });
});

describe('the spool', () => {
  it('sorts what it wrote to files together with what is in memory', async () => {
    const spool = new SortedSpool(40);
    const numbers = Array.from({ length: 200 }, (_, n) => (n * 7_919) % 200);
    for (const n of numbers) await spool.add({ order: String(n).padStart(4, '0'), text: JSON.stringify({ n, tab: '\t' }) });
    const read: number[] = [];
    for await (const text of spool.sorted()) read.push((JSON.parse(text) as { n: number }).n);
    await spool.close();
    expect(read).toEqual([...numbers].sort((a, b) => a - b));
  });
});
