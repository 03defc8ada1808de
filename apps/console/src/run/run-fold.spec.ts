import { describe, expect, it } from '@jest/globals';
import { noUsage, type StreamBody, type StreamEntry } from '@conclave/contracts';
import { RunFold } from './run-fold.js';

const numbered = (...bodies: readonly StreamBody[]): StreamEntry[] => bodies.map((body, n) => ({ ...body, id: n + 1, at: 1_000 + n }));
const task = (name: string, epoch = 0, needs: string[] = []) => ({
  taskId: `run_x/${epoch}/${name}`,
  capability: 'research',
  task: name,
  needs,
});
const plan = (epoch: number, ...tasks: ReturnType<typeof task>[]): StreamBody => ({ kind: 'plan.ready', epoch, fallback: false, tasks });
const opened = (taskId: string): StreamBody => ({ kind: 'task.dispatched', taskId, capability: 'research', taskClass: 'evidence' });
const settled = (taskId: string, status = 'ok'): StreamBody => ({
  ...{ kind: 'task.settled', taskId, capability: 'research', status, confidence: null, facts: 1, summary: 'Found.', durationMs: 5 },
});
const assessed = (epoch: number, gap: string): StreamBody => ({
  ...{ kind: 'assessed', epoch, verdict: gap ? 'needs_more_info' : 'complete', gap, nextFocus: '', parsed: true },
});
const again = (iteration: number, gap: string): StreamBody => ({ kind: 'replanning', iteration, max: 3, gap });
const chunk = (text: string, offset: number, attempt = 1): StreamBody => ({
  kind: 'chunk',
  taskId: 'run_x/0/judge.synthesis',
  attempt,
  offset,
  text,
});
const composing: StreamBody = { kind: 'composing', taskId: 'run_x/0/judge.synthesis', stream: 'live' };
const states = (entries: readonly StreamEntry[], seq?: number): Record<string, string> =>
  Object.fromEntries([...RunFold.upTo(entries, seq).tasks.values()].map(({ name, state }) => [name, state]));

describe('tasks', () => {
  const entries = numbered(plan(0, task('a'), task('b', 0, ['a'])), opened('run_x/0/a'), settled('run_x/0/a'), opened('run_x/0/b'));

  it('stay planned at every event number until an event says otherwise', () => {
    expect(states(entries, 1)).toEqual({ a: 'planned', b: 'planned' });
    expect(states(entries, 2)).toEqual({ a: 'open', b: 'planned' });
    expect(states(entries, 3)).toEqual({ a: 'ok', b: 'planned' });
    expect(states(entries)).toEqual({ a: 'ok', b: 'open' });
  });

  it('depend on tasks of their own plan', () => {
    expect(RunFold.upTo(entries).tasks.get('run_x/0/b')!.needs).toEqual(['run_x/0/a']);
  });
});

it('repeats change nothing, and missing numbers are listed', () => {
  const entries = numbered(plan(0, task('a')), opened('run_x/0/a'), settled('run_x/0/a'));
  expect(RunFold.upTo([...entries, ...entries])).toEqual(RunFold.upTo(entries));
  expect(RunFold.upTo([entries[0]!, entries[2]!]).missing).toEqual([{ from: 2, to: 2 }]);
});

it('a snapshot of an ended run is followed by its last entry, even though the snapshot covers it', () => {
  const fold = new RunFold();
  fold.take({ kind: 'planning', epoch: 0, iteration: 0, max: 3, id: 1, at: 1 });
  fold.takeSnapshot({ kind: 'snapshot', runId: 'run_x', first: 5, last: 9, status: 'completed', text: 'It is' });
  const end: StreamBody = {
    ...{ kind: 'run.completed', outcome: 'completed', rule: 'D3', reason: 'It is enough.', reasonCode: 'sufficient', answer: 'It is so.' },
    ...{ cutShort: false, sources: [], usage: noUsage, rounds: 1, failure: null },
  };
  fold.take({ ...end, id: 9, at: 9 });
  expect(fold.run()).toMatchObject({ seq: 9, answer: 'It is so.', end: { outcome: 'completed' }, missing: [{ from: 2, to: 9 }] });
});

describe('gaps', () => {
  it('are opened by an assessment, addressed by the plan made for them, carried over when found again in the same words, and closed', () => {
    const entries = numbered(assessed(0, 'the year'), again(1, 'the year'), assessed(1, 'the year'), again(2, 'the year'), assessed(2, ''));
    expect(RunFold.upTo(entries, 1).gaps).toEqual([{ text: 'the year', opened: 0, addressed: [], carried: [], closed: null }]);
    expect(RunFold.upTo(entries, 3).gaps).toEqual([{ text: 'the year', opened: 0, addressed: [1], carried: [1], closed: null }]);
    expect(RunFold.upTo(entries).gaps).toEqual([{ text: 'the year', opened: 0, addressed: [1, 2], carried: [1], closed: 2 }]);
  });

  it('are closed when a different one follows', () => {
    const entries = numbered(assessed(0, 'the year'), again(1, 'the year'), assessed(1, 'the place'));
    expect(RunFold.upTo(entries).gaps.map(({ text, closed }) => [text, closed])).toEqual([
      ['the year', 1],
      ['the place', null],
    ]);
  });
});

describe('the answer', () => {
  it('grows with live chunks, ignores those of another attempt, and is taken back when its attempt is superseded', () => {
    const superseded: StreamBody = { kind: 'superseded', taskId: 'run_x/0/judge.synthesis', attempt: 2, discarded: 3 };
    const entries = numbered(composing, chunk('One', 0), chunk(' two', 3), superseded, chunk('late', 7), chunk('Anew', 0, 2));
    expect(RunFold.upTo(entries, 3).answer).toBe('One two');
    expect(RunFold.upTo(entries, 5)).toMatchObject({ answer: '', takenBack: 1 });
    expect(RunFold.upTo(entries)).toMatchObject({ answer: 'Anew', takenBack: 1 });
  });

  it('is not shown while its chunks are held', () => {
    expect(RunFold.upTo(numbered({ ...composing, stream: 'held' } as StreamBody, chunk('One', 0))).answer).toBe('');
  });
});

it('a command is accepted, then applied or rejected, only by events', () => {
  const entries = numbered(
    { kind: 'command.accepted', seq: 7, name: 'steer', actor: 'key_a', text: 'Red ones.' },
    { kind: 'command.applied', seq: 7, name: 'steer', epoch: 1 },
    { kind: 'command.rejected', seq: 9, name: 'answer', reason: 'Nothing was asked.' },
  );
  expect(RunFold.upTo(entries, 1).commands).toMatchObject([{ seq: 7, state: 'accepted', by: 1, text: 'Red ones.' }]);
  expect(RunFold.upTo(entries).commands).toMatchObject([
    { seq: 7, state: 'applied', by: 2, round: 1, text: 'Red ones.' },
    { seq: 9, state: 'rejected', by: 3, reason: 'Nothing was asked.' },
  ]);
});

it('counts attempts of a task, whatever their numbers are: those of a second call begin far above those of the first', () => {
  const [asked, hints] = ['run_x/0/a', 'run_x/0/judge.hints'];
  const tells = (taskId: string, attempt: number): StreamBody => ({
    kind: 'progress',
    taskId,
    attempt,
    n: 0,
    code: 'expert.call',
    text: 'Asks.',
  });
  const replaces = (taskId: string, attempt: number): StreamBody => ({ kind: 'superseded', taskId, attempt, discarded: 0 });
  const entries = numbered(
    tells(asked, 80_001),
    tells(asked, 80_001),
    replaces(asked, 80_002),
    tells(asked, 80_002),
    tells(hints, 1),
    tells(hints, 320_001),
  );
  const counts = [...RunFold.upTo([...entries, ...entries]).tasks.values()].map(({ name, attempts }) => [name, attempts]);
  expect(counts).toEqual([
    ['a', 2],
    ['judge.hints', 2],
  ]);
  expect(RunFold.upTo(numbered(replaces(asked, 2))).tasks.get(asked)?.attempts).toBe(2);
});
