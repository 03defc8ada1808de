import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallRecorded, ownEvent, type PlanRequested, StepRecorded, type Event } from '@conclave/contracts';
import { factsPurpose, forgetErasedRun, isErased, type StoredRecord } from '@conclave/ports';
import { newRunId, sampleHeader } from '@conclave/ports/suites';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newFolder, removeFolder } from './__fixtures__/folder.js';
import { openSqlite, type Sqlite } from './open-sqlite.js';

const canary = 'xylophonequince';
const nextCanary = 'marmaladewombat';

/** A folder keeps nothing of an erased run, neither in rows nor in the remains of deleted rows. */
describe('a data folder', () => {
  let home: string;
  let sqlite: Sqlite;
  const open = (): Sqlite => openSqlite({ home, processId: 'one', durability: 'process', prunes: false });
  beforeEach(() => {
    home = newFolder();
    sqlite = open();
  });
  afterEach(async () => {
    await sqlite.close();
    removeFolder(home);
  });

  it('keeps nothing of what was learned from an erased run and then forgotten', async () => {
    const runId = newRunId();
    await sqlite.log.erase(runId);
    const triple = { subject: canary, subjectType: 'thing', relation: 'PART_OF', object: 'a garden', objectType: 'place' } as const;
    await sqlite.graph.addTriples({
      ...{ tenant: 'a', runId, eventId: 'e', domain: 'general', at: 1, confidence: 0.9 },
      source: 'answer',
      triples: [{ ...triple, confidence: 0.9 }],
    } as never);
    expect(holders(canary)).not.toEqual([]);
    await sqlite.graph.forget({ tenant: 'a', runId });
    await sqlite.graph.scrub!();
    expect(holders(canary)).toEqual([]);
    const scope = { tenant: 'a', collection: `${factsPurpose}@e` };
    await sqlite.vectors.create(scope, 2);
    await sqlite.vectors.upsert(scope, [{ id: `${runId}/0`, vector: Float32Array.of(1, 0), text: canary, metadata: { run: runId } }]);
    expect(holders(canary)).not.toEqual([]);
    await forgetErasedRun(sqlite.vectors, 'a', runId);
    expect(holders(canary)).toEqual([]);
  });

  const holders = (word: string): string[] =>
    readdirSync(home).filter((name) => readFileSync(join(home, name)).toString('latin1').includes(word));
  const recordsOf = async (topic: string): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    for await (const record of sqlite.log.read(topic)) records.push(record);
    return records;
  };
  const callOf = (runId: string, n: number, words: string): Event =>
    ownEvent(
      CallRecorded,
      { id: `${runId}/0/x1/call/${n}/1`, runId, source: 'experts', time: 1 },
      {
        step: `${runId}/0/x1/call/${n}`,
        attempt: 1,
        purpose: 'expert.general',
        model: 'm@p',
        reportedModel: null,
        status: 'ok',
        requestHash: 'h',
        request: {
          messages: [
            { role: 'system', content: `${words} `.repeat(30) },
            { role: 'user', content: `${n} ${words}` },
          ],
        },
        reply: { content: words },
        failure: null,
        usage: { calls: 1, prompt: 1, completion: 1, reasoning: 0, cost: 0, estimated: false },
        startedAt: 1,
        durationMs: 1,
        firstTokenMs: null,
      },
    );

  /**
   * An ended run: its request, its step, two calls with one system prompt, data that a later run would find, and an attached file.
   */
  async function ended(words: string, tenant: string): Promise<string> {
    const runId = newRunId();
    const { runs, journal, caches } = sqlite.state;
    const { sha256 } = await sqlite.blobs.put(Buffer.from(`file ${words}`));
    const plain = sampleHeader(runId, tenant, `What is ${words}?`);
    const attached = { kind: 'file', mime: 'text/plain', name: null, blob: sha256, url: null } as const;
    const header: PlanRequested = { ...plain, data: { ...plain.data, attachments: [attached] } };
    await runs.accept({ header, retryKey: null, openLimit: 10 });
    await sqlite.log.publish([header]);
    for (const n of [1, 2]) {
      await journal.begin({ runId, step: `${runId}/0/x1/call/${n}`, nonce: 'n', owner: 'one' });
      await journal.finish({ runId, step: `${runId}/0/x1/call/${n}`, attempt: 1 }, { ok: true, reply: words });
      await sqlite.log.publish([callOf(runId, n, words)]);
    }
    const input = { id: header.id, type: header.type, time: header.time, data: header.data };
    const hash = 'a'.repeat(32);
    for (const [version, terminal] of [
      [1, false],
      [2, true],
    ] as const) {
      const event = { ...header, id: `${runId}/input/${version}` };
      const data = { version, input, now: 1, facts: [], rule: null, ruleSentence: null, outputs: [], hash, stateHash: null };
      const recorded = ownEvent(StepRecorded, { id: `${runId}/step/${version}`, runId, source: 'merger', time: 1 }, data);
      await runs.commit<{ words: string }>(event, () => ({
        ...{ next: { words: `${words} `.repeat(version * 400) }, outputs: [recorded], entries: [], arm: [], disarm: [], cancels: [] },
        ...{ terminal, status: 'completed' },
      }));
    }
    await caches.write({ tenant, key: 'k', value: words, ttlMs: 60_000, tags: [`run:${runId}`] });
    const scope = { tenant, collection: 'answer_cache@e' };
    await sqlite.vectors.create(scope, 2);
    await sqlite.vectors.upsert(scope, [{ id: runId, vector: Float32Array.of(1, 0), text: `What is ${words}?`, metadata: { day: 'd' } }]);
    await sqlite.durable();
    return runId;
  }
  async function erase(runId: string, tenant: string): Promise<void> {
    expect(await sqlite.state.runs.erase({ runId, tenant, requestedAt: 1 })).toBe('erased');
    await sqlite.state.caches.removeTagged(tenant, `run:${runId}`);
    await sqlite.vectors.delete({ tenant, collection: 'answer_cache@e' }, { ids: [runId] });
    expect(await sqlite.log.erase(runId)).toBe('gone');
  }

  it('contains no word of an erased run, in no file, and every word of the others', async () => {
    const gone = await ended(canary, 'a');
    const stays = await ended(nextCanary, 'b');
    expect(holders(canary)).not.toEqual([]);
    await erase(gone, 'a');
    expect(holders(canary)).toEqual([]);
    expect(holders(nextCanary)).not.toEqual([]);
    await sqlite.log.publish([callOf(gone, 3, canary)]);
    await sqlite.durable();
    expect(holders(canary)).toEqual([]);
    await sqlite.close();
    sqlite = open();
    expect(await sqlite.state.runs.erased(gone)).toMatchObject({ runId: gone, tenant: 'a' });
    expect(await sqlite.state.runs.header(stays)).not.toBeNull();
    const audit = await recordsOf('audit');
    expect(audit.filter((record) => isErased(record))).toHaveLength(5);
    expect(audit.filter(({ event }) => event?.runId === stays)).toHaveLength(4);
    expect(holders(canary)).toEqual([]);
  });

  it('keeps ids, kinds and hashes of erased steps', async () => {
    const gone = await ended(canary, 'a');
    await erase(gone, 'a');
    const steps = (await recordsOf('audit')).filter(({ headers }) => headers['ce_type'] === 'StepRecorded');
    expect(steps.map(({ headers }) => headers['ce_id'])).toEqual([`${gone}/step/1`, `${gone}/step/2`]);
    for (const { raw } of steps)
      expect(JSON.parse(raw.toString())).toMatchObject({ hash: 'a'.repeat(32), sha256: expect.any(String), outputs: [] });
  });

  it('leaves the system prompt that two runs share with the remaining one', async () => {
    const [gone, stays] = [await ended(canary, 'a'), await ended(canary, 'b')];
    await erase(gone, 'a');
    const calls = (await recordsOf('audit')).filter(({ event }) => event?.type === 'CallRecorded' && event.runId === stays);
    expect(calls).toHaveLength(2);
    const next = newRunId();
    await sqlite.log.publish([callOf(next, 1, canary), callOf(next, 2, canary)]);
    expect((await recordsOf('audit')).filter(({ event }) => event?.runId === next)).toHaveLength(2);
    await erase(stays, 'b');
    await sqlite.log.erase(next);
    expect(holders(canary)).toEqual([]);
  });
});
