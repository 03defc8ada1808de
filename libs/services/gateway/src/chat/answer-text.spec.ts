import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { StreamBody } from '@conclave/contracts';
import { completed } from '../__fixtures__/world.js';
import { AnswerText, Backlog } from './answer-text.js';

const task = 'run_12345678/0/judge.synthesis';
const composing = (stream: 'live' | 'held' = 'live', taskId = task): StreamBody => ({ kind: 'composing', taskId, stream });
const chunk = (text: string, offset: number, attempt = 1, taskId = task): StreamBody => ({ kind: 'chunk', taskId, attempt, offset, text });

/** The text a client holds after these entries, and how it ended. */
function play(...entries: StreamBody[]): { readonly text: string; readonly ends: readonly string[] } {
  const answer = new AnswerText();
  let text = '';
  const ends: string[] = [];
  for (const entry of entries) {
    const step = answer.take(entry);
    if (step.kind === 'text') text += step.text;
    else if (step.kind === 'done') text += step.rest;
    if (['done', 'ended', 'superseded'].includes(step.kind)) ends.push(step.kind);
  }
  return { text, ends };
}

describe('the text of an answer', () => {
  it('is sent as it arrives, and the rest at the end', () => {
    expect(play(composing(), chunk('It is ', 0), chunk('blue', 6), completed({ answer: 'It is blue [1].' }))).toEqual({
      text: 'It is blue [1].',
      ends: ['done'],
    });
  });

  it('is held back until the end when it may still change', () => {
    const answer = new AnswerText();
    answer.take(composing('held'));
    expect(answer.take(chunk('It is', 0))).toEqual({ kind: 'nothing' });
    expect(answer.soFar).toBe('It is');
    expect(answer.take(completed({ answer: 'No.' }))).toMatchObject({ kind: 'done', rest: 'No.' });
  });

  it('ignores chunks of tasks that do not write the answer', () => {
    expect(play(composing(), chunk('draft', 0, 1, 'run_12345678/0/x1'), completed({ answer: 'Yes.' })).text).toBe('Yes.');
  });

  it('is superseded when an attempt dies after its text was sent', () => {
    expect(play(composing(), chunk('It', 0), { kind: 'superseded', taskId: task, attempt: 2, discarded: 2 }).ends).toEqual(['superseded']);
  });

  it('continues when an attempt dies before any of its text was sent', () => {
    expect(
      play(
        composing(),
        { kind: 'superseded', taskId: task, attempt: 2, discarded: 0 },
        chunk('It is', 0, 2),
        completed({ answer: 'It is.' }),
      ),
    ).toEqual({ text: 'It is.', ends: ['done'] });
  });

  it('is superseded when the final answer differs from the text that was sent', () => {
    expect(play(composing(), chunk('It is', 0), completed({ answer: 'From the ledger: blue.' }))).toEqual({
      text: 'It is',
      ends: ['superseded'],
    });
  });

  it('ignores white space that the composer trims at the end', () => {
    expect(play(composing(), chunk('It is blue.\n\n', 0), completed({ answer: 'It is blue.' }))).toEqual({
      text: 'It is blue.\n\n',
      ends: ['done'],
    });
  });

  it.each(['cancelled', 'failed'] as const)('ends without an answer when the run is %s', (outcome) => {
    expect(play(composing(), completed({ outcome, answer: null })).ends).toEqual(['ended']);
  });

  it('always equals the answer, however it was cut and repeated', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), cuts, fc.string({ maxLength: 10 }), (written, points, tail) => {
        const sorted = [...new Set([0, ...points.filter((point) => point < written.length), written.length])].sort((a, b) => a - b);
        const chunks = sorted.slice(0, -1).map((from, index) => chunk(written.slice(from, sorted[index + 1]), from));
        const played = play(composing(), ...chunks, completed({ answer: written + tail }));
        expect(played).toEqual({ text: written + tail, ends: ['done'] });
      }),
    );
  });
});

describe('a client that connects late', () => {
  const superseded = (attempt: number, discarded: number): StreamBody => ({ kind: 'superseded', taskId: task, attempt, discarded });
  const progress: StreamBody = { kind: 'planning', epoch: 0, iteration: 0, max: 3 };
  /** The text of a client after these reads of the stream, each a list of entries; after every read but the last, more entries are available. */
  function late(...reads: readonly (readonly StreamBody[])[]): { readonly text: string; readonly ends: readonly string[] } {
    const backlog = new Backlog<StreamBody>();
    return play(...reads.flatMap((read) => backlog.take(read, false)));
  }
  const first = [composing(), chunk('It', 0)];
  const second = [superseded(2, 2), chunk('Blue', 0, 2)];

  it('starts with the current attempt', () => {
    expect(late([...first, ...second], [chunk(' it is.', 4, 2), completed({ answer: 'Blue it is.' })])).toEqual({
      text: 'Blue it is.',
      ends: ['done'],
    });
  });

  it('gets the answer of a finished run, whatever was written before', () => {
    expect(late([...first, ...second, chunk(' it is.', 4, 2), completed({ answer: 'Blue it is.' })])).toEqual({
      text: 'Blue it is.',
      ends: ['done'],
    });
  });

  it('that connects before the attempt is known to be dead follows the next one without an error', () => {
    expect(late(first, [progress], second, [completed({ answer: 'Blue it is.' })])).toEqual({ text: 'Blue it is.', ends: ['done'] });
  });

  it('gets the text written so far together with the next chunk', () => {
    const backlog = new Backlog<StreamBody>();
    expect(backlog.take([progress, ...first], false)).toEqual([progress, first[0]]);
    expect(backlog.take([progress], false)).toEqual([progress]);
    expect(backlog.take([chunk(' is', 2)], false)).toEqual([first[1], chunk(' is', 2)]);
    expect(backlog.take([chunk(' blue.', 5)], false)).toEqual([chunk(' blue.', 5)]);
  });

  it('waits for the whole backlog, even when that takes several reads', () => {
    const backlog = new Backlog<StreamBody>();
    expect(backlog.take(first, true)).toEqual([]);
    expect(backlog.take(second, false)).toEqual([composing(), superseded(2, 2)]);
    expect(backlog.take([chunk(' it', 4, 2)], true)).toEqual([]);
    expect(backlog.take([progress], false)).toEqual([chunk('Blue', 0, 2), chunk(' it', 4, 2), progress]);
  });

  it('gets "superseded" when an attempt dies whose text it was sent', () => {
    expect(late(first, [chunk(' is', 2)], second).ends).toEqual(['superseded']);
  });
});
