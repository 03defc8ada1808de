import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { StreamEntry } from '@conclave/contracts';
import { defaultBounds, type Bounds, type Evidence, type LoggedRecord } from '../evidence/evidence.js';
import { readEvidence, writeEvidence } from '../evidence/store.js';
import { processOf, Story } from './__fixtures__/story.js';
import { check } from './check.js';
import { findingsText } from './print.js';

const one = 'run_00000001';
const two = 'run_00000002';
const clean = new Story(one, two).evidence();

const found = (evidence: Evidence, bounds: Partial<Bounds> = {}) =>
  check(evidence, { ...defaultBounds, ...bounds }).findings.map((finding) => `${finding.check} ${finding.id}`);
const changed = (change: (evidence: { -readonly [K in keyof Evidence]: Evidence[K] }) => void, of = clean): Evidence => {
  const copy = { ...of };
  change(copy);
  // As it comes back from a file.
  return JSON.parse(JSON.stringify(copy)) as Evidence;
};
const recordOf = (id: string, of = clean): LoggedRecord => of.records.find(({ event }) => event?.id === id)!;
/** A record as another attempt would have left it behind the others of its topic. */
const another = (record: LoggedRecord, data: object, id = record.event!.id): LoggedRecord => ({
  ...record,
  offset: String(1_000 + Number(record.offset)),
  headers: { ...record.headers, ce_id: id },
  event: { ...record.event!, id, data: { ...(record.event!.data as object), ...data } },
});
const withRecord = (record: LoggedRecord): Evidence => changed((evidence) => (evidence.records = [...evidence.records, record]));
const without = (...ids: readonly string[]): Evidence =>
  changed((evidence) => (evidence.records = evidence.records.filter(({ event }) => !ids.includes(event?.id ?? ''))));
/** The stream of the first run as it came over one connection. */
const streamed = (change: (entries: readonly StreamEntry[]) => readonly StreamEntry[]): Evidence =>
  changed(
    (evidence) =>
      (evidence.viewings = evidence.viewings.map((viewing) =>
        viewing.runId === one ? { ...viewing, entries: change(viewing.entries) } : viewing,
      )),
  );
const entries = clean.viewings[0]!.entries;
const chunks = entries.filter(({ kind }) => kind === 'chunk').map(({ id }) => id);
const renumbered = (list: readonly StreamEntry[]): StreamEntry[] => list.map((entry, index) => ({ ...entry, id: index + 1 }));

/** The evidence in which a step is made once more, behind everything else. */
const calledAgain = (service: string, step: string, until: Partial<Evidence> = {}, first: object = { stored: 'refused' }): Evidence =>
  changed((evidence) => {
    const at = evidence.history.at(-1)!.at;
    const again = { actor: service, op: 'call', id: step, process: `${service}-host-77-ffffffff` };
    Object.assign(evidence, until);
    evidence.history = [
      ...evidence.history.map((line) =>
        line.op === 'call' && line.id === step && line.phase === 'ok' ? { ...line, data: { attempt: 1, ...first } } : line,
      ),
      { ...again, at: at + 10_000, phase: 'invoke', data: { attempt: 2, model: 'm@fake' } },
      { actor: 'model', op: 'model.call', id: 'call-99', process: 'test', at: at + 10_001, phase: 'invoke', data: null },
      {
        actor: 'model',
        op: 'model.call',
        id: 'call-99',
        process: 'test',
        at: at + 10_002,
        phase: 'fail',
        data: { prompt_tokens: 10, completion_tokens: 2 },
      },
    ];
  });

describe('the checker', () => {
  it('finds nothing in a storm without harm, and counts it', () => {
    expect(check(clean, defaultBounds)).toEqual({
      findings: [],
      figures: { accepted: 2, answered: 2, deaths: 0, duplicateCalls: 0, tokensWasted: 0 },
    });
  });

  it('takes every event standing on the log twice for what it is: at least once', () => {
    const twice = changed((evidence) => {
      evidence.records = [...evidence.records, ...evidence.records.map((record) => another(record, {}))];
      evidence.committed = evidence.committed.map((position) => ({ ...position, offset: '5000' }));
    });
    expect(found(twice)).toEqual([]);
  });

  it('judges evidence that was kept in a file just the same', () => {
    const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
    const file = join(folder, 'kept/evidence.json');
    try {
      writeEvidence(file, without(`${one}/completed`));
      expect(check(readEvidence(file), defaultBounds)).toEqual(check(without(`${one}/completed`), defaultBounds));
      writeFileSync(file, '{"records": []}');
      expect(() => readEvidence(file)).toThrow('it has no history');
      writeFileSync(file, '{"rec');
      expect(() => readEvidence(file)).toThrow('is not JSON');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('prints each check with at most twenty ids, and the total', () => {
    const findings = Array.from({ length: 22 }, (_, n) => ({
      check: 'acknowledged-appends' as const,
      id: `e${n}`,
      sentence: 'It is gone.',
    }));
    const text = findingsText([...findings, { check: 'enough-succeeded', id: 's', sentence: 'No.' }]);
    expect(text.split('\n')).toHaveLength(1 + 20 + 1 + 2 + 1);
    expect(text).toContain('check 2 acknowledged-appends: 22 findings\n  e0: It is gone.\n');
    expect(text).toContain('  and 2 more\nguard enough-succeeded: 1 finding\n  s: No.\n23 findings in all');
  });
});

describe('one terminal event', () => {
  it('misses the terminal event of an accepted run', () => {
    const evidence = changed((all) => {
      all.asked = [...all.asked, { id: 'a3', question: 'Lost?', runId: 'run_00000003', acceptedAt: 5 }];
    });
    expect(found(evidence, { answered: 0 })).toEqual(['one-terminal-event run_00000003']);
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

  it('finds an end that nobody wished, unless the scenario said so', () => {
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
    // A run that failed in good order is terminal, and only counts as not answered.
    expect(found(ended({ outcome: 'failed', reasonCode: 'empty_ledger', answer: null }))).toEqual(['enough-succeeded no-harm']);
  });
});

describe('acknowledged appends', () => {
  it('finds what was acknowledged and cannot be read', () => {
    expect(found(without(`${one}/0/x1/call/0/1`))).toEqual([`acknowledged-appends ${one}/0/x1/call/0/1`]);
  });

  it('finds what can be read and was never sent, unless the scenario put it there', () => {
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

  it('takes an append that nobody knows the outcome of either way', () => {
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

  it('says nothing in favour of a history without appends', () => {
    expect(found(changed((evidence) => (evidence.history = evidence.history.filter(({ op }) => op !== 'publish'))))).toEqual([
      'acknowledged-appends history',
    ]);
  });

  it('wants dead letters readable too', () => {
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

describe('one effective outcome', () => {
  it('finds a lost update: two steps that made the same version', () => {
    const step = recordOf(`${one}/step/3`);
    expect(found(withRecord(another(step, { stateHash: 'other' })))).toEqual([`one-effective-outcome ${one}/step/3`]);
  });

  it('finds an input that was applied twice', () => {
    const { data } = recordOf(`${one}/step/3`).event!;
    const again = another(recordOf(`${one}/step/5`), { ...(data as object), version: 6, outputs: [] }, `${one}/step/6`);
    const evidence = withRecord(again);
    const sent = { at: 1, process: 'p', actor: 'injector', op: 'publish', phase: 'ok', id: `${one}/step/6`, data: null };
    expect(found({ ...evidence, history: [...evidence.history, sent] })).toContain(`one-effective-outcome ${one}/0/x1/result`);
  });

  it('finds a step that the log has lost', () => {
    expect(found(without(`${one}/step/2`))).toContain(`one-effective-outcome ${one}/step/2`);
  });

  it('finds a dispatched task without an outcome', () => {
    const lost = without(`${one}/0/x2/result`, `${one}/step/4`, `${one}/step/5`, `${one}/completed`);
    expect(found(lost)).toContain(`one-effective-outcome ${one}/0/x2`);
    expect(found(lost)).not.toContain(`one-effective-outcome ${one}/0/x1`);
  });

  it('finds a task that no step has dispatched', () => {
    const task = recordOf(`${one}/0/x1`);
    expect(found(withRecord(another(task, { taskId: `${one}/0/x9` }, `${one}/0/x9`)))).toContain(`one-effective-outcome ${one}/0/x9`);
  });

  it('lets the engine settle what no worker has answered', () => {
    const result = recordOf(`${one}/0/x1/result`);
    const late = changed((evidence) => {
      evidence.records = [...evidence.records, another(result, { durationMs: 99, attempt: 2 })];
    });
    expect(found(late)).toEqual([]);
  });
});

describe('commit after effect', () => {
  it.each([
    ['a task without its result', `${one}/0/x1`, [`${one}/0/x1/result`]],
    ['an input that the engine never applied', `${one}/0/x2/result`, [`${one}/step/4`, `${one}/step/5`, `${one}/completed`]],
    ['a step whose outputs are lost', `${one}/0/plan`, [`${one}/0/x2`]],
    ['a request without its plan', one, [`${one}/0/plan`, `${one}/completed`]],
  ])('finds a position beyond %s', (_what, id, lost) => {
    expect(found(without(...lost))).toContain(`commit-after-effect ${id}`);
  });

  it('excuses a record in front of which the position stands, and one that is a dead letter of the group', () => {
    const waiting = without(`${one}/0/x1/result`);
    const before = waiting.committed.map((position) => (position.group === 'tasks.expert' ? { ...position, offset: '0' } : position));
    expect(found({ ...waiting, committed: before })).not.toContain(`commit-after-effect ${one}/0/x1`);
    const { topic, partition, offset } = recordOf(`${one}/0/x1`);
    const headers = { 'dead-group': 'tasks.expert', 'dead-topic': topic, 'dead-partition': String(partition), 'dead-offset': offset };
    const letter = { topic: 'dead', partition: 0, offset: '0', appendedAt: 1, headers, event: null };
    expect(found({ ...waiting, records: [...waiting.records, letter] })).not.toContain(`commit-after-effect ${one}/0/x1`);
  });

  it('excuses what a planner and the engine leave alone, only where they have handled it', () => {
    const id = `${one}/0/plan`;
    // The run went on without its plan: here its step came from nowhere, which is not what is looked at.
    const idle = without(id);
    expect(found(idle)).not.toContain(`commit-after-effect ${one}`);
    const history = idle.history.filter(
      ({ op, actor, phase }) => !(op === 'PlanRequested' && actor === 'planner' && phase.startsWith('after-')),
    );
    const lost = {
      ...idle,
      history: [...history, { ...idle.history[0]!, actor: 'planner', op: 'GapDetected', phase: 'after-publish', id: 'x' }],
    };
    expect(found(lost)).toContain(`commit-after-effect ${one}`);
  });

  it('takes a late input of a run that is over for ignored', () => {
    const result = recordOf(`${one}/0/x1/result`);
    const late = another(result, { taskId: `${one}/0/x7` }, `${one}/0/x7/result`);
    const lines = ['publish', 'ResultReady'].map((op) => ({
      at: 1,
      process: 'p',
      actor: op === 'publish' ? 'injector' : 'merger',
      op,
      phase: op === 'publish' ? 'ok' : 'after-publish',
      id: `${one}/0/x7/result`,
      data: null,
    }));
    const beyond = { group: 'merger', topic: 'results.ready', partition: 0, offset: '5000' };
    const evidence = { ...clean, records: [...clean.records, late], committed: [beyond] };
    expect(found({ ...evidence, history: [...clean.history, ...lines] })).toEqual([]);
    expect(found({ ...evidence, history: [...clean.history, lines[0]!] })).toEqual([`commit-after-effect ${one}/0/x7/result`]);
  });

  it('finds a commit that passed a record before it was done, though it was done later', () => {
    const early = changed((evidence) => {
      const first = evidence.history.find(({ op, id }) => op === 'offset-commit' && id === 'tasks.expert')!;
      const position = { ...(first.data as object), offset: '2' };
      evidence.history = evidence.history.map((line) => (line === first ? { ...line, data: position } : line));
    });
    expect(found(early)).toEqual([`commit-after-effect ${one}/0/x2`]);
  });

  it('finds a record that cannot be decoded and was passed without a dead letter', () => {
    const evidence = changed((all) => {
      all.records = [...all.records, { topic: 'plan.created', partition: 0, offset: '2', appendedAt: 1, headers: {}, event: null }];
      all.history = [
        ...all.history,
        { at: 1, process: 'p', actor: 'injector', op: 'publish', phase: 'ok', id: 'plan.created/0/2', data: null },
      ];
      all.committed = [{ group: 'merger', topic: 'plan.created', partition: 0, offset: '3' }];
    });
    expect(found(evidence)).toEqual(['commit-after-effect plan.created/0/2']);
  });
});

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

  it('finds an entry that comes twice on one connection, and one with another body', () => {
    expect(found(streamed((all) => [...all.slice(0, 4), ...all.slice(3)]))).toEqual([`stream-without-gaps ${one}#4`]);
    const other = changed((evidence) => {
      const [first] = evidence.viewings;
      const viewed = first!.entries.map((entry) => (entry.id === 2 ? { ...entry, at: 1 } : entry));
      evidence.viewings = [...evidence.viewings, { ...first!, viewer: 'v2', entries: viewed }];
    });
    expect(found(other)).toEqual([`stream-without-gaps ${one}#2`]);
  });

  it('finds what follows the end, and an end that says something else than the terminal event', () => {
    const after = { ...entries[0]!, id: last + 1 };
    expect(found(streamed((all) => [...all, after]))).toEqual([`stream-without-gaps ${one}#${last + 1}`]);
    expect(found(streamed((all) => all.map((entry) => (entry.kind === 'run.completed' ? { ...entry, answer: 'No.' } : entry))))).toEqual([
      `stream-without-gaps ${one}#${last}`,
    ]);
  });

  it('begins anywhere after a snapshot', () => {
    const snapshot = { kind: 'snapshot', runId: one, first: 3, last, status: 'composing', text: '' } as unknown as StreamEntry;
    expect(found(streamed((all) => [snapshot, ...all.slice(-1)]))).toEqual([]);
    expect(found(streamed((all) => all.slice(-1)))).toEqual([`stream-without-gaps ${one}#1`]);
  });

  it('wants a later attempt marked, its chunks without a hole, and no earlier one after it', () => {
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

  it('wants the whole answer in a stream that showed it live', () => {
    expect(chunks).toHaveLength(2);
    const cut = streamed((all) => renumbered(all.filter(({ id }) => id !== chunks[1])));
    expect(found(cut)).toEqual([`stream-without-gaps ${one}#${last - 1}`]);
  });
});

describe('model calls bounded', () => {
  const step = `${one}/0/x1/call/0`;
  const killed = (at: number, process = 'experts', signal = 'SIGKILL') => ({ deaths: [{ process, at, signal }] });
  const end = clean.history.at(-1)!.at;

  it('finds a call that was finished and stored, and made again, whoever died', () => {
    expect(found(calledAgain('experts', step, killed(end + 1), { stored: 'stored' }))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('finds a repeat that no death explains', () => {
    expect(found(calledAgain('experts', step))).toEqual([`model-calls-bounded ${step}`]);
    expect(found(calledAgain('experts', step, killed(end + 1, 'planner')))).toEqual([`model-calls-bounded ${step}`]);
    // Killed before it had begun the call, and after the repeat.
    expect(found(calledAgain('experts', step, killed(1)))).toEqual([`model-calls-bounded ${step}`]);
    expect(found(calledAgain('experts', step, killed(end + 20_000)))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('counts a repeat that a death explains, and what it cost', () => {
    const evidence = calledAgain('experts', step, killed(end + 1, 'experts-2'));
    expect(found(evidence)).toEqual([]);
    expect(check(evidence, defaultBounds).figures).toMatchObject({ deaths: 1, duplicateCalls: 1, tokensWasted: 12 });
  });

  it('takes a freeze, an end in good order and a call that was given up unsent as reasons', () => {
    expect(found(calledAgain('experts', step, killed(end + 1, 'experts', 'SIGSTOP')))).toEqual([]);
    const line = (op: string, phase: string, id: string, data: object) => ({
      ...clean.history,
      at: end,
      process: processOf('experts'),
      actor: 'experts',
      op,
      phase,
      id,
      data,
    });
    const after = (more: ReturnType<typeof line>): Evidence => {
      const evidence = calledAgain('experts', step);
      const place = evidence.history.findIndex(({ op, phase, id }) => op === 'call' && phase === 'ok' && id === step);
      return { ...evidence, history: evidence.history.map((entry, n) => (n === place ? more : entry)) };
    };
    expect(found(after(line('process', 'stop', processOf('experts'), { code: 0 })))).toEqual([]);
    expect(found(after(line('call', 'abandoned', step, { attempt: 1, sent: false })))).toEqual([]);
    expect(found(after(line('call', 'abandoned', step, { attempt: 1, sent: true })))).toEqual([`model-calls-bounded ${step}`]);
  });

  it('finds more calls at the model server than steps and repeats account for', () => {
    const extra = changed((evidence) => {
      evidence.history = [
        ...evidence.history,
        { at: 1, process: 'test', actor: 'model', op: 'model.call', phase: 'invoke', id: 'call-98', data: null },
      ];
    });
    expect(found(extra)).toEqual(['model-calls-bounded model.call']);
    expect(found({ ...extra, upstreamFaults: true })).toEqual([]);
  });
});

describe('replay, calm and enough', () => {
  it('names the runs that a replay decides differently', () => {
    const text = `${one}: same decisions, same state: 5 steps\n${two}: step 3 differs in rule, after 2 steps that are the same\n  input     ResultReady x\n`;
    expect(found({ ...clean, replay: { code: 1, text, modelCalls: 0 } })).toEqual([`replay-the-same ${two}`]);
    expect(found({ ...clean, replay: { code: 2, text: 'no log', modelCalls: 0 } })).toEqual(['replay-the-same replay']);
    expect(found({ ...clean, replay: { ...clean.replay, modelCalls: 3 } })).toEqual(['replay-the-same replay']);
    const undecodable = `${one}: same decisions, same state: 5 steps\n  cannot be decoded: audit/0/3\n`;
    expect(found({ ...clean, replay: { code: 1, text: undecodable, modelCalls: 0 } })).toEqual(['replay-the-same audit/0/3']);
  });

  it('finds lag, growth and a process that does not end', () => {
    expect(found({ ...clean, lag: [{ group: 'planner', topic: 'plan.requested', records: 2 }] })).toEqual([
      'calm-afterwards planner plan.requested',
    ]);
    const memory = (afterMb: number) => found({ ...clean, memory: [{ process: 'merger', beforeMb: 100, afterMb }] });
    expect([memory(214), memory(215)]).toEqual([[], ['calm-afterwards merger']]);
    const closing = (code: number | null, ms = 10) =>
      found({ ...clean, closings: [{ process: 'planner', exit: { code, signal: code === null ? 'SIGKILL' : null, at: 1 }, ms }] });
    expect([closing(0), closing(1), closing(null), closing(0, 20_000)].map(({ length }) => length)).toEqual([0, 1, 1, 1]);
    expect(found({ ...clean, closings: [{ process: 'planner', exit: null, ms: 10 }] })).toEqual(['calm-afterwards planner']);
  });

  it('wants enough accepted and enough answered', () => {
    expect(found(clean, { accepted: 3 })).toEqual(['enough-succeeded no-harm']);
    expect(found(new Story().evidence())).toEqual(['enough-succeeded no-harm']);
  });

  it('never counts an unknown outcome as success', () => {
    const unknown = changed((evidence) => {
      evidence.history = evidence.history.map((line) => (line.op === 'ask' && line.phase === 'ok' ? { ...line, phase: 'unknown' } : line));
    });
    expect(check(unknown, defaultBounds)).toMatchObject({
      findings: [{ check: 'enough-succeeded', id: 'no-harm' }],
      figures: { accepted: 2, answered: 0 },
    });
  });

  it('asks nothing of a question that nobody knows to be accepted, and all of one whose request is on the log', () => {
    const lost = { id: 'ask-x', question: 'Was I heard?', runId: null, acceptedAt: null };
    const asking = { at: 1, process: 'test', actor: 'client', op: 'ask', id: 'ask-x', data: null };
    const history = [...clean.history, { ...asking, phase: 'invoke' }, { ...asking, phase: 'unknown' }];
    expect(check({ ...clean, asked: [...clean.asked, lost], history }, defaultBounds)).toMatchObject({
      findings: [],
      figures: { accepted: 2 },
    });
    const heard = new Story(one, two, 'run_00000003').evidence();
    const unheard = changed((evidence) => {
      evidence.records = evidence.records.filter(({ event }) => event?.id !== 'run_00000003/completed');
      evidence.asked = evidence.asked.map((ask) => (ask.runId === 'run_00000003' ? { ...ask, runId: null } : ask));
    }, heard);
    expect(found(unheard)).toContain('one-terminal-event run_00000003');
  });
});
