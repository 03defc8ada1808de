import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { DeadLetters, type DeadLettersOptions } from './dead-letters.js';
import { MemoryBroker } from './memory-log.js';
import { deadRecord, encodeEvent } from './record.js';
import { sampleInput, sampleRunId } from './testing/sample-events.js';

/** A log with one dead letter for each of these, a second apart. */
async function withLetters(...letters: readonly { name: string; group?: string; topic?: string; reason?: 'failed' | 'undecodable' }[]) {
  let time = 1_000;
  const clock = { now: () => time, random: () => 0.5, after: () => () => undefined };
  const broker = new MemoryBroker({ clock });
  for (const { name, group = 'merger', topic = 'run.commands', reason = 'failed' } of letters) {
    const record = { ...(await encodeEvent(sampleInput(name), broker.blobs)), topic, partition: 2, offset: '7', appendedAt: time };
    broker.append([{ topic: 'dead', ...deadRecord(record, { group, reason, attempts: 5, time, error: new Error('oh') }) }]);
    time += 1_000;
  }
  const log = broker.connect();
  const open = (options: Partial<DeadLettersOptions> = {}) => new DeadLetters({ log, now: () => time, ...options });
  return { broker, log, open };
}

const page = { limit: 10 };

describe('dead letters', () => {
  it('are listed newest first, filtered and in pages', async () => {
    const { open } = await withLetters(
      { name: 'a' },
      { name: 'b', group: 'planner' },
      { name: 'c', topic: 'gap.detected', reason: 'undecodable' },
      { name: 'd' },
    );
    const ids = async (filter: Parameters<DeadLetters['list']>[0]) => (await open().list(filter, page)).data.map(({ id }) => id);
    expect(await ids({})).toEqual(['0-3', '0-2', '0-1', '0-0']);
    expect(await ids({ group: 'planner' })).toEqual(['0-1']);
    expect(await ids({ topic: 'gap.detected' })).toEqual(['0-2']);
    expect(await ids({ reason: 'undecodable' })).toEqual(['0-2']);
    const first = await open().list({}, { limit: 3 });
    expect(first).toMatchObject({ total: 4, nextBefore: expect.any(String) });
    const second = await open().list({}, { limit: 3, before: first.nextBefore! });
    expect(second.data.map(({ id }) => id)).toEqual(['0-0']);
    expect(second.nextBefore).toBeNull();
    await expect(open().list({}, { limit: 3, before: 'yesterday' })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  });

  it('say where they come from, why they are dead, and what the last error was', async () => {
    const { open } = await withLetters({ name: 'a' });
    expect((await open().list({}, page)).data[0]).toEqual({
      object: 'dead_letter',
      id: '0-0',
      topic: 'run.commands',
      record: 'run.commands/2/7',
      group: 'merger',
      reason: 'failed',
      error: 'Error: oh',
      attempts: 5,
      diedAt: 1_000,
      type: 'KnowledgeProposed',
      eventId: sampleInput('a').id,
      runId: sampleRunId('a'),
      bytes: expect.any(Number),
      redriveOf: null,
      settled: null,
    });
  });

  it('stay open when the process dies between the re-driven record and the decision', async () => {
    const { broker, log, open } = await withLetters({ name: 'a' });
    const dying = {
      read: (topic: string) => log.read(topic),
      publishRaw: log.publishRaw.bind(log),
      publish: () => Promise.reject(new Failure('LOG_UNAVAILABLE')),
    };
    await expect(open({ log: dying }).redrive('0-0', { actor: 'me' })).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' });
    expect((await open().list({}, page)).total).toBe(1);
    await open().redrive('0-0', { actor: 'me' });
    // Twice on the log under one event id: its receiver applies it once.
    expect(broker.records('run.commands').map(({ headers }) => headers['ce_id'])).toEqual([sampleInput('a').id, sampleInput('a').id]);
    expect((await open().list({}, page)).total).toBe(0);
  });

  it('are not settled when the record cannot be published', async () => {
    const { log, open } = await withLetters({ name: 'a' });
    const full = {
      read: (topic: string) => log.read(topic),
      publish: log.publish.bind(log),
      publishRaw: () => Promise.reject(new Failure('STORE_FULL')),
    };
    await expect(open({ log: full }).redrive('0-0', { actor: 'me' })).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect((await open().list({}, page)).data).toMatchObject([{ settled: null }]);
  });

  it('that name no topic of ours can only be discarded', async () => {
    const { broker, open } = await withLetters({ name: 'a', topic: 'elsewhere' });
    broker.append([{ topic: 'dead', key: null, headers: { who: 'a stranger' }, raw: Buffer.from('hello') }]);
    const letters = open({ topics: ['run.commands'] });
    for (const id of ['0-0', '0-1'])
      await expect(letters.redrive(id, { actor: 'me' })).rejects.toMatchObject({ code: 'EVENT_UNDECODABLE' });
    expect(await letters.show('0-1')).toMatchObject({ reason: 'unknown', group: null, topic: null, raw: { text: 'hello' } });
    await letters.discard('0-1', { actor: 'me' });
    expect((await letters.list({}, page)).data.map(({ id }) => id)).toEqual(['0-0']);
  });

  it('say what their death has caused and what a re-drive can still change', async () => {
    const { open } = await withLetters(
      { name: 'a' },
      { name: 'b', reason: 'undecodable' },
      { name: 'c', group: 'graph-ingest' },
      { name: 'd', group: 'webhooks' },
    );
    const runOf = async (runId: string) => (runId === sampleRunId('a') ? { status: 'failed', terminal: true } : null);
    const effects = async (id: string) => (await open({ runOf }).show(id)).effects;
    expect(await effects('0-0')).toEqual([
      'Its run was aborted when it became a dead letter.',
      'Its run has ended (failed): handling the record again yields no outputs for it.',
    ]);
    expect(await effects('0-1')).toEqual(['It could not be decoded, so no task or run was ended because of it.']);
    expect(await effects('0-2')).toEqual([]);
    expect(await effects('0-3')).toEqual([expect.stringContaining('A re-drive notifies the webhooks that were not notified yet')]);
  });
});
