import { describe, expect, it } from '@jest/globals';
import type { StreamEntry } from '@conclave/contracts';
import type { Evidence } from '../evidence/evidence.js';
import { changed, chunks, entries, found, one, renumbered, streamed } from './__fixtures__/changes.js';

describe('a stream without gaps', () => {
  const last = entries.at(-1)!.id;
  const resumed = (cut: number, from: number, of = entries) =>
    changed((evidence) => {
      const [first, ...others] = evidence.viewings;
      evidence.viewings = [
        { ...first!, entries: of.slice(0, cut) },
        { ...first!, connection: 2, lastEventId: from, entries: of.slice(from) },
        ...others,
      ];
    });

  it('puts the connections of a viewer together', () => {
    expect(found(resumed(4, 4))).toEqual([]);
    expect(found(resumed(4, 2))).toEqual([]);
  });

  it('finds a gap, within a connection and between two', () => {
    expect(found(streamed((all) => all.filter(({ id }) => id !== 3)))).toEqual([`stream-without-gaps ${one}#3`]);
    expect(found(resumed(4, 5))).toEqual([`stream-without-gaps ${one}#5`]);
  });

  it('finds an end that is never shown to a returning reader', () => {
    const back = (times: number): Evidence =>
      changed((evidence) => {
        const [first, ...others] = evidence.viewings;
        const empty = (connection: number) => ({ ...first!, connection, lastEventId: 4, entries: [] });
        evidence.viewings = [
          { ...first!, entries: entries.slice(0, 4) },
          ...Array.from({ length: times }, (_, n) => empty(n + 2)),
          ...others,
        ];
      });
    expect(found(back(1))).toEqual([]);
    expect(found(back(2))).toEqual([`stream-without-gaps ${one}#5`]);
  });

  it('finds an entry sent twice on one connection, and one with a different body', () => {
    expect(found(streamed((all) => [...all.slice(0, 4), ...all.slice(3)]))).toEqual([`stream-without-gaps ${one}#4`]);
    const other = changed((evidence) => {
      const [first] = evidence.viewings;
      const viewed = first!.entries.map((entry) => (entry.id === 2 ? { ...entry, at: 1 } : entry));
      evidence.viewings = [...evidence.viewings, { ...first!, viewer: 'v2', entries: viewed }];
    });
    expect(found(other)).toEqual([`stream-without-gaps ${one}#2`]);
  });

  it('finds entries after the end, and an end that differs from the terminal event', () => {
    const after = { ...entries[0]!, id: last + 1 };
    expect(found(streamed((all) => [...all, after]))).toEqual([`stream-without-gaps ${one}#${last + 1}`]);
    expect(found(streamed((all) => all.map((entry) => (entry.kind === 'run.completed' ? { ...entry, answer: 'No.' } : entry))))).toEqual([
      `stream-without-gaps ${one}#${last}`,
    ]);
  });

  it('may begin anywhere after a snapshot', () => {
    const snapshot = { kind: 'snapshot', runId: one, first: 3, last, status: 'composing', text: '' } as unknown as StreamEntry;
    expect(found(streamed((all) => [snapshot, ...all.slice(-1)]))).toEqual([]);
    expect(found(streamed((all) => all.slice(-1)))).toEqual([`stream-without-gaps ${one}#1`]);
  });

  it('requires a mark for a later attempt, its chunks without a gap, and no earlier attempt after it', () => {
    const at = chunks[0]!;
    const { taskId } = entries[at - 1] as Extract<StreamEntry, { kind: 'chunk' }>;
    const first = { kind: 'chunk', taskId, attempt: 1, offset: 0, text: 'It was', at: 1, id: 0 } as const;
    const mark = { kind: 'superseded', taskId, attempt: 2, discarded: 6, at: 1, id: 0 } as const;
    const before = entries.slice(0, at - 1);
    const second = entries.slice(at - 1).map((entry) => (entry.kind === 'chunk' ? { ...entry, attempt: 2 } : entry));
    const stream = (...list: readonly StreamEntry[]): Evidence => streamed(() => renumbered(list));
    expect(found(stream(...before, first, mark, ...second))).toEqual([]);
    expect(found(stream(...before, first, ...second))).toEqual([`stream-without-gaps ${one}#${at + 1}`]);
    expect(found(stream(...before, first, { ...mark, discarded: 2 }, ...second))).toEqual([`stream-without-gaps ${one}#${at + 1}`]);
    expect(found(stream(...before, ...second.slice(0, 1), first, ...second.slice(1)))).toContain(`stream-without-gaps ${one}#${at + 1}`);
    expect(found(stream(...before, ...second.slice(1)))).toContain(`stream-without-gaps ${one}#${at}`);
  });

  it('requires the whole answer in a stream that showed it live', () => {
    expect(chunks).toHaveLength(2);
    const cut = streamed((all) => renumbered(all.filter(({ id }) => id !== chunks[1])));
    expect(found(cut)).toEqual([`stream-without-gaps ${one}#${last - 1}`]);
  });
});
