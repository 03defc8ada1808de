import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { CommandRequest, Snapshot, StreamEntry } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { GatewayRefusal, type GatewayClient } from './gateway-client.js';
import { optionCommand, sendCommand, typedCommand } from './run-control.js';
import { watch } from './watch.js';

describe('a typed command', () => {
  it.each([
    ['pause', { command: 'pause' }],
    ['P', { command: 'pause' }],
    ['  resume ', { command: 'resume' }],
    ['cancel', { command: 'cancel' }],
    ['steer only  the red ones', { command: 'steer', text: 'only  the red ones' }],
    ['add there are two', { command: 'add_context', text: 'there are two' }],
    ['override research red in the north', { command: 'override_step', skill: 'research', input: 'red in the north' }],
    ['answer the red one', { command: 'answer', text: 'the red one' }],
  ])('is read: %s', (line, command) => {
    expect(typedCommand(line, false)).toEqual(command);
  });

  it.each(['steer', 'override research', 'dance', 'pause now'])('is refused with what to type instead: %s', (line) => {
    expect(() => typedCommand(line, false)).toThrow(/<text>|<skill>|help/);
  });

  it('is the answer when the run waits for one, unless it is a command', () => {
    expect(typedCommand('the red one', true)).toEqual({ command: 'answer', text: 'the red one' });
    expect(typedCommand('cancel', true)).toEqual({ command: 'cancel' });
  });
});

describe('the options of `conclave run`', () => {
  it('allow one command only', () => {
    expect(optionCommand({})).toBeNull();
    expect(optionCommand({ 'override-step': 'research', input: 'x' })).toEqual({ command: 'override_step', skill: 'research', input: 'x' });
    expect(() => optionCommand({ 'override-step': 'research' })).toThrow('--input');
    expect(() => optionCommand({ pause: true, steer: 'left' })).toThrow('one command at a time');
  });

  const client = (commands: readonly object[], terminal = false): GatewayClient =>
    ({ command: async () => ({ seq: 3 }), run: async () => ({ commands, terminal }) }) as unknown as GatewayClient;
  it.each([
    ['applied', client([{ seq: 3, status: 'applied', round: 2 }]), 0, 'Applied in round 3.'],
    ['rejected', client([{ seq: 3, status: 'rejected', reason: 'No.' }]), 1, 'Rejected: No.'],
    ['waiting', client([{ seq: 3, status: 'accepted' }]), 0, 'waits for its turn'],
    ['too late', client([], true), 1, 'the run ended'],
  ])('report its outcome: %s', async (_what, gateway, code, text) => {
    let out = '';
    expect(await sendCommand(gateway, 'run_1', { command: 'pause' }, { write: (more) => void (out += more) })).toBe(code);
    expect(out).toContain(text);
  });
});

/** A run that shows its entries one by one, and the commands that it received. */
class Watched {
  readonly sent: CommandRequest[] = [];
  readonly input = Object.assign(new PassThrough(), { isTTY: false });
  readonly out = Object.assign(new PassThrough(), { isTTY: false, columns: 80 });
  shown = '';
  private readonly entries: (StreamEntry | Snapshot)[] = [];
  private readonly code: Promise<number>;

  constructor(isTTY: boolean, refuses = false) {
    this.input.isTTY = isTTY;
    this.out.isTTY = isTTY;
    this.out.on('data', (more: Buffer) => (this.shown += more.toString()));
    const client = {
      command: async (_id: string, command: CommandRequest) => {
        if (refuses) throw new GatewayRefusal('The run cannot take it.');
        this.sent.push(command);
        return { seq: this.sent.length };
      },
      events: (_id: string, signal: AbortSignal) => this.follow(signal),
    } as unknown as GatewayClient;
    this.code = watch({ client, runId: 'run_1', input: this.input, out: this.out, environment: { NO_COLOR: '1' } });
  }

  private async *follow(signal: AbortSignal): AsyncGenerator<StreamEntry | Snapshot> {
    for (let at = 0; ; at += 1) {
      await until('the next entry', () => signal.aborted || this.entries.length > at, { timeoutMs: 20_000, everyMs: 5 });
      signal.throwIfAborted();
      yield this.entries[at]!;
      if (this.entries[at]!.kind === 'run.completed') return;
    }
  }

  says(entry: object): void {
    this.entries.push({ id: this.entries.length + 1, at: 1, ...entry } as StreamEntry);
  }

  types(...lines: string[]): void {
    for (const line of lines) this.input.write(`${line}\n`);
  }

  ends(): Promise<number> {
    const usage = { calls: 2, prompt: 1, completion: 1, reasoning: 0, cost: 0, estimated: false };
    const more = { reason: 'Done.', reasonCode: 'x', cutShort: false, sources: [], usage, rounds: 1, failure: null };
    this.says({ kind: 'run.completed', outcome: 'completed', rule: 'D3', answer: 'A rose is red.', ...more });
    return this.code;
  }

  get left(): Promise<number> {
    return this.code;
  }
}

describe.each([
  ['at a terminal', true],
  ['with lines from a pipe', false],
])('a run that is watched %s', (_where, isTTY) => {
  it('is shown until its end, and receives typed commands in order; refusals are shown', async () => {
    const run = new Watched(isTTY);
    run.says({ kind: 'run.started', template: 't', strategy: 's', maxRounds: 1, question: 'What is red?' });
    run.types('pause', 'steer only roses', 'dance', 'resume');
    await until('the commands', () => run.sent.length === 3);
    expect(run.sent.map(({ command }) => command)).toEqual(['pause', 'steer', 'resume']);
    run.says({ kind: 'command.applied', seq: 1, name: 'pause', epoch: 0 });
    run.says({ kind: 'question.asked', question: 'Which one?', deadline: 9 });
    await until('the question', () => run.shown.includes('Which one?'));
    run.types('the red one');
    await until('the answer', () => run.sent.length === 4);
    expect(run.sent[3]).toEqual({ command: 'answer', text: 'the red one' });
    expect(await run.ends()).toBe(0);
    expect(run.shown).toContain('"dance" is not a command here');
    expect(run.shown).toContain('Command 1 (pause) applied in round 1');
    expect(run.shown).toContain('A rose is red.');
    expect(run.shown.includes('> ')).toBe(isTTY);
  });

  it('continues when watching ends', async () => {
    const run = new Watched(isTTY, true);
    run.types('cancel');
    await until('the refusal', () => run.shown.includes('cannot take it'));
    run.types('quit');
    expect(await run.left).toBe(0);
    expect(run.shown).toContain('The run continues');
  });
});

it('the typed text stays below the lines of the run', async () => {
  const run = new Watched(true);
  await until('the prompt', () => run.shown.includes('> '));
  run.input.write('steer only ro');
  await until('the echo', () => run.shown.includes('only ro'));
  const before = run.shown.length;
  run.says({ kind: 'command.applied', seq: 1, name: 'pause', epoch: 0 });
  await until('the line', () => run.shown.includes('applied in round 1'));
  await until('the typed text again', () => run.shown.slice(before).includes('> steer only ro'));
  run.input.write('ses\n');
  await until('the command', () => run.sent.length === 1);
  expect(run.sent).toEqual([{ command: 'steer', text: 'only roses' }]);
  await run.ends();
});
