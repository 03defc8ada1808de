import { describe, expect, it } from '@jest/globals';
import type { DeletedRun, Delivery, Evidence } from '../evidence/evidence.js';
import { changed, clean, found, one, recordOf, two } from './__fixtures__/changes.js';

const at = 2_000_000;
const gone = (change: Partial<DeletedRun> = {}): DeletedRun => ({ runId: one, at, left: [], ...change });
const delivery = (change: Partial<Delivery> = {}): Delivery => ({
  ...{ id: `${two}_told`, at, refused: false, runId: two, outcome: 'completed' },
  ...change,
});

/** As a deletion leaves the log: the records of the run have no content. */
const erased = (deleted: readonly DeletedRun[] | undefined, more: Partial<Evidence> = {}): Evidence =>
  changed((evidence) => {
    evidence.records = evidence.records.map((record) =>
      record.event?.runId === one ? { ...record, headers: { ...record.headers, ce_runid: one }, event: null } : record,
    );
    Object.assign(evidence, { ...(deleted ? { deleted } : {}), ...more });
  });

describe('a deleted run', () => {
  it('is not followed to its end, while every other run still is', () => {
    expect(found(erased([gone()]))).toEqual([]);
    expect(found(erased(undefined))).toContain(`one-terminal-event ${one}`);
    const lost = erased([gone()]);
    expect(found({ ...lost, records: lost.records.filter(({ event }) => event?.id !== `${two}/completed`) })).toContain(
      `one-terminal-event ${two}`,
    );
  });

  it('is still there for whom anything of it was found', () => {
    expect(found(erased([gone({ left: ['the vectors', 'the list of runs'] })]))).toEqual(Array(2).fill(`deleted-is-gone ${one}`));
  });

  it('is told to nobody any longer, except by a delivery that had begun', () => {
    const told = (ms: number) => ({ runs: [two], deliveries: [delivery(), delivery({ runId: one, id: `${one}_told`, at: at + ms })] });
    expect(found(erased([gone()], { told: told(1_000) }))).toEqual([]);
    expect(found(erased([gone()], { told: told(3_000) }))).toEqual([`deleted-is-gone ${one}`]);
  });
});

describe('a run whose receiver must be told its end', () => {
  const judged = (...deliveries: readonly Delivery[]) => found({ ...clean, told: { runs: [two], deliveries } });

  it('was told if one delivery was taken, however many were made under its id', () => {
    expect(judged(delivery({ refused: true }), delivery(), delivery())).toEqual([]);
  });

  it.each<[string, readonly Delivery[]]>([
    ['none came', []],
    ['all were refused', [delivery({ refused: true })]],
    ['they have several ids', [delivery(), delivery({ id: 'other' })]],
    ['the outcome is another', [delivery({ outcome: 'failed' })]],
  ])('was not if %s', (_what, deliveries) => {
    expect(judged(...deliveries)).toEqual([`webhooks-told ${two}`]);
  });

  it('is not told by a delivery without a valid signature, and nobody is told of another run', () => {
    expect(judged(delivery(), delivery({ id: 'forged', runId: null, outcome: null }))).toEqual(['webhooks-told forged']);
    expect(judged(delivery(), delivery({ id: 'stray', runId: one }))).toEqual(['webhooks-told stray']);
  });
});

describe('the cancel of a child run', () => {
  const child = `${one}~0.t1`;
  /** A record that the merger has handled without a step. */
  const cancel = (runId: string, ...more: readonly string[]): Evidence =>
    changed((evidence) => {
      const request = recordOf(one);
      const id = `${one}/0/t1/cancel`;
      const record = (offset: number, type: string, its: string, of: string, data: object) => ({
        ...request,
        ...{ topic: 'run.commands', offset: String(offset), headers: { ce_id: its, ce_runid: of, ce_type: type } },
        event: { id: its, type, runId: of, time: 1, data },
      });
      evidence.records = [
        ...evidence.records,
        record(0, 'CommandIssued', id, runId, { seq: 0, actor: 'engine', issuedAt: 1, command: { name: 'cancel', reason: 'why' } }),
        ...more.map((its, n) => record(n + 1, 'PlanRequested', its, its, request.event!.data as object)),
      ];
      evidence.committed = [...evidence.committed, { group: 'merger', topic: 'run.commands', partition: 0, offset: '1' }];
      const line = evidence.history.find(({ actor, phase }) => actor === 'merger' && phase === 'after-publish')!;
      const sent = { ...line, actor: 'merger', op: 'publish', phase: 'ok', id: 'p', data: { by: 'commit', events: [{ id }] } };
      evidence.history = [
        ...evidence.history,
        { ...sent, phase: 'invoke', data: { by: 'commit', events: [{ id }, ...more.map((its) => ({ id: its }))] } },
        { ...line, op: 'CommandIssued', id },
      ];
    });

  it('leaves nothing to do if that run was never requested, and must be applied otherwise', () => {
    const lost = `commit-after-effect ${one}/0/t1/cancel`;
    expect(found(cancel(child))).not.toContain(lost);
    expect(found(cancel(child, child))).toContain(lost);
  });
});
