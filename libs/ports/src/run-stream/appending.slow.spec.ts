import type { StreamBody, WorkerEntry } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planAppend, progressIn, type TaskProgress } from './appending.js';

const chunk = (attempt: number, offset: number, text: string): WorkerEntry => ({
  kind: 'chunk',
  taskId: 'run_a/0/t',
  attempt,
  offset,
  text,
});
const line = (attempt: number, n: number): WorkerEntry => ({
  kind: 'progress',
  taskId: 'run_a/0/t',
  attempt,
  n,
  code: 'c',
  text: `line ${n}`,
});

/** A stream of one task that keeps what the append plans add. */
function stream() {
  const held = new Map<string, TaskProgress>();
  const bodies: StreamBody[] = [];
  return {
    bodies,
    held,
    append(...entries: WorkerEntry[]): string {
      const plan = planAppend((task) => held.get(task) ?? null, entries);
      if (plan.kind === 'refused') return plan.kind;
      bodies.push(...plan.bodies);
      for (const [task, progress] of plan.progress) held.set(task, progress);
      return plan.kind;
    },
    text: () => bodies.reduce((text, body) => (body.kind === 'superseded' ? '' : body.kind === 'chunk' ? text + body.text : text), ''),
  };
}

describe('an append to a run stream', () => {
  it('cuts text that is already there and drops entries that add nothing', () => {
    const { append, bodies } = stream();
    append(chunk(1, 0, 'abc'));
    append(chunk(1, 1, 'bcde'), chunk(1, 0, 'abcd'));
    expect(bodies).toEqual([chunk(1, 0, 'abc'), chunk(1, 3, 'de')]);
  });

  it('keeps lines in any order, each once', () => {
    const { append, bodies } = stream();
    append(line(1, 2), line(1, 0), line(1, 2), line(1, 1), line(1, 0), line(1, 3));
    expect(bodies).toEqual([line(1, 2), line(1, 0), line(1, 1), line(1, 3)]);
  });

  it('refuses a whole append when one entry belongs to an overtaken attempt', () => {
    const { append, bodies } = stream();
    append(chunk(2, 0, 'new'));
    expect(append(chunk(2, 3, 'er'), chunk(1, 0, 'old'))).toBe('refused');
    expect(bodies).toHaveLength(1);
  });

  it('reports a gap instead of closing it silently', () => {
    expect(() => stream().append(chunk(1, 4, 'late'))).toThrow('begins at character 4, but the stream holds 0');
  });

  it('shows the whole text of the newest attempt, however it was cut, repeated or interrupted', () => {
    const cuts = fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 30 })), { maxLength: 30 });
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
        fc.array(cuts, { minLength: 1, maxLength: 4 }),
        (text, attempts) => {
          const { append, text: shown, bodies, held } = stream();
          for (const [index, pieces] of attempts.entries()) {
            let reached = 0;
            for (const [from, length] of pieces) {
              const offset = Math.min(from, reached);
              const piece = text.slice(offset, offset + length);
              if (piece) append(chunk(index + 1, offset, piece));
              reached = Math.max(reached, offset + piece.length);
            }
          }
          append(chunk(attempts.length, 0, text), line(attempts.length, 2));
          // An attempt that has appended nothing leaves no trace in the stream.
          expect(progressIn(bodies)).toEqual(held);
          return shown() === text;
        },
      ),
      { numRuns: 50 },
    );
  });
});
