import { describe, expect, it } from '@jest/globals';
import { noUsage, type StreamBody, type StreamEntry } from '@conclave/contracts';
import { RunPrinter } from './run-printer.js';
import { readable } from './terminal-look.js';

const task = 'run_12345678/0/judge.synthesis';
const composing: StreamBody = { kind: 'composing', taskId: task, stream: 'live' };
const chunk = (text: string, offset: number, attempt = 1): StreamBody => ({ kind: 'chunk', taskId: task, attempt, offset, text });
const completed = (answer: string | null): StreamBody => ({
  kind: 'run.completed',
  outcome: answer === null ? 'failed' : 'completed',
  rule: answer === null ? null : 'D3',
  reason: 'The evidence is sufficient.',
  reasonCode: 'sufficient',
  answer,
  cutShort: false,
  sources: [{ kind: 'corpus', title: 'a.md', url: null }],
  usage: { ...noUsage, calls: 3, prompt: 10, completion: 5 },
  rounds: 2,
  failure: answer === null ? { code: 'RUN_FAILED', message: 'Nothing to answer from.', retriable: true } : null,
});

function print(...bodies: readonly StreamBody[]) {
  let answer = '';
  let progress = '';
  const printer = new RunPrinter({ write: (text) => (answer += text) }, { write: (text) => (progress += text) });
  bodies.forEach((body, i) => printer.take({ ...body, id: i + 1, at: 1 } as StreamEntry));
  return { answer, progress, result: printer.result };
}

describe('the terminal view of a run', () => {
  it('shows progress apart from the answer, with gap, re-plan, sources and why it stopped', () => {
    const { answer, progress, result } = print(
      { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'q' },
      { kind: 'assessed', epoch: 0, verdict: 'needs_more_info', gap: 'the year', nextFocus: '', parsed: true },
      { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' },
      composing,
      chunk('Hello ', 0),
      chunk('world.', 6),
      completed('Hello world.'),
    );
    expect(answer).toBe('Hello world.\n');
    for (const words of [
      'the year',
      'Iteration 1/3',
      '[1] a.md',
      'Done: The evidence is sufficient.\n',
      '2 rounds, 3 model calls, 15 tokens',
    ])
      expect(progress).toContain(words);
    expect(result?.outcome).toBe('completed');
  });

  it('shows no control characters of others, which a terminal would obey', () => {
    const { answer, progress } = print(
      { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'q' },
      { kind: 'replanning', iteration: 1, max: 3, gap: 'the \u001b[2J year\r' },
      composing,
      chunk('Hello \u001b]52;c;aGk=\u0007', 0),
      completed('Hello \u001b]52;c;aGk=\u0007\tworld\u009b2J.\u202e'),
    );
    expect(answer).toBe('Hello ]52;c;aGk=\tworld2J.\n');
    expect(progress).toContain('the [2J year\n');
    expect(progress).not.toContain('\u001b');
    const written: string[] = [];
    const stream = { write: (text: string | Uint8Array) => written.push(String(text)) };
    readable({ ...stream, isTTY: true }).write('a\u001b[1m\n');
    readable({ ...stream, isTTY: true }).write(Buffer.from('b\u0007'));
    readable(stream).write('a\u001b[1m\n');
    expect(written).toEqual(['a[1m\n', 'b', 'a\u001b[1m\n']);
  });

  it('ends with the elapsed time when it is measured', () => {
    let progress = '';
    const look = { elapsedMs: () => 12_340 };
    const printer = new RunPrinter({ write: () => undefined }, { write: (text) => (progress += text) }, look);
    printer.take({ ...completed('Hi.'), id: 1, at: 1 } as StreamEntry);
    expect(progress).toContain('15 tokens, 12 s\n');
  });

  it('shows a held answer at the end, in one piece', () => {
    expect(print({ ...composing, stream: 'held' } as StreamBody, completed('All of it.')).answer).toBe('All of it.\n');
  });

  it('keeps progress out of the middle of an answer: a terminal shows both in one place', () => {
    const written: string[] = [];
    const out = { write: (text: string) => written.push(text) };
    const printer = new RunPrinter(out, out);
    const replied: StreamBody = { kind: 'progress', taskId: task, attempt: 1, n: 9, code: 'merger.response', text: '12 characters' };
    [composing, chunk('Hello ', 0), replied, chunk('world.', 6), completed('Hello world.')].forEach((body, i) =>
      printer.take({ ...body, id: i + 1, at: 1 } as StreamEntry),
    );
    const shown = written.join('');
    expect(shown).toContain('Hello world.\n');
    expect(shown.indexOf('12 characters')).toBeGreaterThan(shown.indexOf('world.'));
  });

  it('adds the text that follows the last token', () => {
    expect(print(composing, chunk('Hello.', 0), completed('Hello. [1] a.md')).answer).toBe('Hello. [1] a.md\n');
  });

  it('begins again when another attempt takes over', () => {
    const { answer, progress } = print(
      composing,
      chunk('Hel', 0),
      { kind: 'superseded', taskId: task, attempt: 2, discarded: 3 },
      chunk('Hi.', 0, 2),
      completed('Hi.'),
    );
    expect(answer).toBe('Hel\nHi.\n');
    expect(progress).toContain('the 3 characters above are void');
  });

  it('shows no text of tasks that do not write the answer', () => {
    expect(
      print(composing, { kind: 'chunk', taskId: 'run_12345678/0/x1', attempt: 1, offset: 0, text: 'inner' }, completed('Hi.')).answer,
    ).toBe('Hi.\n');
  });

  it('shows why there is no answer', () => {
    const { answer, progress } = print(completed(null));
    expect(answer).toBe('');
    expect(progress).toContain('Nothing to answer from.');
  });

  it('says a reason once if the end of the run already contains it', () => {
    const reason = 'The planner gave no plan: Nothing to answer from.';
    const { progress } = print({ ...completed(null), reason } as StreamBody);
    expect(progress.split('Nothing to answer from.')).toHaveLength(2);
  });
});
