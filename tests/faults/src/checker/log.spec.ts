import { describe, expect, it } from '@jest/globals';
import type { Evidence } from '../evidence/evidence.js';
import { another, changed, clean, found, one, recordOf, two, withRecord, without } from './__fixtures__/changes.js';

describe('one terminal event', () => {
  it('finds a missing terminal event of an accepted run', () => {
    const evidence = changed((all) => {
      all.asked = [...all.asked, { id: 'a3', question: 'Lost?', runId: 'run_00000003', acceptedAt: 5 }];
    });
    expect(found(evidence, { answered: 0 })).toEqual(['one-terminal-event run_00000003']);
  });

  it('reports neither a finding nor a success for a run whose time limit has not passed since its acceptance or the last fault', () => {
    const open = { id: 'a3', question: 'Slow?', runId: 'run_00000003', acceptedAt: clean.collectedAt - 59_000 };
    const early = changed((all) => (all.asked = [...all.asked, open]));
    expect(found(early, { answered: 0 })).toEqual(['enough-succeeded run_00000003']);
    expect(found({ ...early, collectedAt: early.collectedAt + 1_000 }, { answered: 0 })).toEqual(['one-terminal-event run_00000003']);
    const harm = { at: early.collectedAt - 10_000, process: 'test', actor: 'injector', op: 'fault', phase: 'info', id: 'kill', data: null };
    const harmed = { ...early, collectedAt: early.collectedAt + 1_000, history: [...early.history, harm] };
    expect(found(harmed, { answered: 0 })).toEqual(['enough-succeeded run_00000003']);
  });

  it('finds two terminal events that differ, in their body or in their id', () => {
    const end = recordOf(`${one}/completed`);
    expect(found(withRecord(another(end, { reason: 'Another one.' })))).toEqual([`one-terminal-event ${one}`]);
    expect(found(withRecord(another(end, {}, `${two}/completed`)))).toEqual([`one-terminal-event ${one}`]);
  });

  it('finds a terminal event that came too late, counted from the last death before it', () => {
    const end = recordOf(`${one}/completed`);
    const late = changed((evidence) => {
      evidence.records = evidence.records.map((record) =>
        record.event?.id === end.event!.id ? { ...end, appendedAt: end.appendedAt + 70_000 } : record,
      );
    });
    expect(found(late)).toEqual([`one-terminal-event ${one}`]);
    const dying = (at: number): Evidence => ({ ...late, deaths: [{ process: 'merger', at, signal: 'SIGKILL' }] });
    expect(found(dying(end.appendedAt + 20_000))).toEqual([]);
    expect(found(dying(end.appendedAt + 90_000))).toEqual([`one-terminal-event ${one}`]);
  });

  it('finds an unexpected end, unless the scenario announced it', () => {
    const ended = (data: object) =>
      changed((evidence) => {
        evidence.records = evidence.records.map((record) =>
          record.event?.id === `${one}/completed`
            ? { ...record, event: { ...record.event, data: { ...(record.event.data as object), ...data } } }
            : record,
        );
        evidence.viewings = [];
      });
    const cancelled = ended({ outcome: 'cancelled', answer: null });
    expect(found(cancelled, { answered: 0 })).toEqual([`one-terminal-event ${one}`]);
    expect(found(cancelled, { mayFail: [one] })).toEqual([]);
    expect(found(ended({ outcome: 'failed', reasonCode: 'aborted', answer: null }), { answered: 0 })).toEqual([
      `one-terminal-event ${one}`,
    ]);
    expect(found(ended({ answer: null }), { answered: 0 })).toEqual([`one-terminal-event ${one}`]);
    // A run that failed in an orderly way is terminal, and only counts as not answered.
    expect(found(ended({ outcome: 'failed', reasonCode: 'empty_ledger', answer: null }))).toEqual(['enough-succeeded no-harm']);
  });
});

describe('acknowledged appends', () => {
  it('finds an acknowledged append that cannot be read', () => {
    expect(found(without(`${one}/0/x1/call/0/1`))).toEqual([`acknowledged-appends ${one}/0/x1/call/0/1`]);
  });

  it('finds a readable record that was never sent, unless the scenario put it there', () => {
    const stranger = { ...recordOf(`${one}/0/x1/call/0/1`), offset: '77', headers: {}, event: null };
    expect(found(withRecord(stranger))).toEqual(['acknowledged-appends audit/0/77']);
    const injected = changed((evidence) => {
      evidence.records = [...evidence.records, stranger];
      evidence.history = [
        ...evidence.history,
        { at: 1, process: 'test', actor: 'injector', op: 'publish', phase: 'ok', id: 'audit/0/77', data: null },
      ];
    });
    expect(found(injected)).toEqual([]);
  });

  it('accepts either outcome of an append whose result is unknown', () => {
    const unknown = (of: Evidence): Evidence =>
      changed((evidence) => {
        evidence.history = evidence.history.map((line) =>
          line.op === 'publish' && line.phase === 'ok' && JSON.stringify(line.data).includes('x1/call/0/1')
            ? { ...line, phase: 'unknown' }
            : line,
        );
      }, of);
    const appendedWith = `${one}/0/x1/call/0/1`;
    expect(found(unknown(clean))).toEqual([]);
    expect(found(unknown(without(appendedWith)))).toEqual([]);
  });

  it('does not count a history without appends as a success', () => {
    expect(found(changed((evidence) => (evidence.history = evidence.history.filter(({ op }) => op !== 'publish'))))).toEqual([
      'acknowledged-appends history',
    ]);
  });

  it('requires dead letters to be readable too', () => {
    const id = 'merger:results.ready/0/7';
    const letter = { by: 'dead-letter', events: [{ id, type: 'dead-letter', topic: 'dead', runId: '' }] };
    const line = { at: 1, process: 'p', actor: 'merger', op: 'publish', id: 'n', data: letter };
    const sent = changed((evidence) => (evidence.history = [...evidence.history, { ...line, phase: 'invoke' }, { ...line, phase: 'ok' }]));
    expect(found(sent)).toEqual([`acknowledged-appends ${id}`]);
    const headers = { 'dead-group': 'merger', 'dead-topic': 'results.ready', 'dead-partition': '0', 'dead-offset': '7' };
    const dead = { topic: 'dead', partition: 0, offset: '0', appendedAt: 1, headers, event: null };
    expect(found({ ...sent, records: [...sent.records, dead] })).toEqual([]);
  });
});
