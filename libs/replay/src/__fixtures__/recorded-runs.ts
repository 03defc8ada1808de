import { readdirSync, readFileSync } from 'node:fs';
import type { Event } from '@conclave/contracts';
import { MemoryBlobs, storedRecord, type StoredRecord } from '@conclave/ports';
import { driveRun, type ReplayedRun } from '../drive-run.js';
import { readRuns } from '../read-runs.js';
import type { TodaysCode } from '../todays-code.js';

const folder = new URL('.', import.meta.url);

/** Names of the stored recorded runs, one file each; `tests/support/recording/record-runs.mjs` writes them. */
export const recordedNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.ndjson'))
  .map((name) => name.replace('.ndjson', ''));

/** Records of a stored run, in log order. */
export async function recordsOf(name: string): Promise<readonly StoredRecord[]> {
  const lines = readFileSync(new URL(`${name}.ndjson`, folder), 'utf8')
    .trim()
    .split('\n');
  const blobs = new MemoryBlobs();
  return Promise.all(
    lines.map((line, at) => {
      const { topic, appendedAt, headers, body } = JSON.parse(line) as {
        topic: string;
        appendedAt: number;
        headers: Record<string, string>;
        body: string;
      };
      return storedRecord(
        { topic, partition: 0, offset: String(at + 1), appendedAt, key: headers['ce_partitionkey']!, headers, raw: Buffer.from(body) },
        blobs,
      );
    }),
  );
}

/** A copy of the record with changed data. */
export const withData = (record: StoredRecord, change: (data: never) => unknown): StoredRecord => {
  const event = { ...record.event!, data: change(structuredClone(record.event!.data) as never) } as Event;
  return { ...record, event };
};

/** A log, as replay reads it, with these records. */
export const logOf = (records: readonly StoredRecord[]) => ({
  log: {
    async *read(topic: string) {
      for (const record of records) if (record.topic === topic) yield record;
    },
  },
  topics: [...new Set(records.map(({ topic }) => topic))],
});

/** Replays the only run in these records. */
export async function replayOf(records: readonly StoredRecord[], code?: TodaysCode): Promise<ReplayedRun> {
  const runs: ReplayedRun[] = [];
  await readRuns(logOf(records), null, async (recording) => void runs.push(await driveRun(recording, code)));
  if (runs.length !== 1) throw new Error(`Expected one run, read ${runs.length}.`);
  return runs[0]!;
}
