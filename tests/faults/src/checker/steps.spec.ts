import { describe, expect, it } from '@jest/globals';
import { another, clean, changed, found, one, recordOf, withRecord, without } from './__fixtures__/changes.js';

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

  it('allows the engine to settle tasks that no worker has answered', () => {
    const result = recordOf(`${one}/0/x1/result`);
    const late = changed((evidence) => {
      evidence.records = [...evidence.records, another(result, { durationMs: 99, attempt: 2 })];
    });
    expect(found(late)).toEqual([]);
  });
});

describe('a dead letter', () => {
  it('is a finding if the scenario says that nothing was wrong with any record', () => {
    const { topic, partition, offset, event } = recordOf(`${one}/0/x1`);
    const headers = { 'dead-group': 'tasks.expert', 'dead-topic': topic, 'dead-partition': String(partition), 'dead-offset': offset };
    const letter = { topic: 'dead', partition: 0, offset: '0', appendedAt: 1, headers, event: null };
    expect(found(withRecord(letter))).not.toContain(`one-effective-outcome ${event!.id}`);
    expect(found(withRecord(letter), { soundRecords: true })).toContain(`one-effective-outcome ${event!.id}`);
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

  it('excuses a record that the position has not passed, and a dead letter of the group', () => {
    const waiting = without(`${one}/0/x1/result`);
    const before = waiting.committed.map((position) => (position.group === 'tasks.expert' ? { ...position, offset: '0' } : position));
    expect(found({ ...waiting, committed: before })).not.toContain(`commit-after-effect ${one}/0/x1`);
    const { topic, partition, offset } = recordOf(`${one}/0/x1`);
    const headers = { 'dead-group': 'tasks.expert', 'dead-topic': topic, 'dead-partition': String(partition), 'dead-offset': offset };
    const letter = { topic: 'dead', partition: 0, offset: '0', appendedAt: 1, headers, event: null };
    expect(found({ ...waiting, records: [...waiting.records, letter] })).not.toContain(`commit-after-effect ${one}/0/x1`);
  });

  it('excuses records that planner and engine ignore, but only if they have handled them', () => {
    const id = `${one}/0/plan`;
    // The run continued without its plan: the origin of this step is not checked here.
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

  it('treats a late input of an ended run as ignored', () => {
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
