import { describe, expect, it } from '@jest/globals';
import type { TaskState } from '@conclave/loop';
import { undoneCalls } from './undone-calls.js';

const tools = ['lab.find_donors', 'lab.register_sample', 'lab.thaw'].map((name) => ({
  ...{ name, description: name, signature: '', readOnly: name === 'lab.find_donors', repeatable: name === 'lab.find_donors' },
}));
const task = (tool: string | null, args: Record<string, unknown>, code: string | null): TaskState =>
  ({
    spec: { id: 'a', capability: 'mcp', task: '', query: null, needs: [], tool, args },
    result:
      code === null ? { status: 'ok' } : { status: 'error', failure: { code, message: 'Use one of: …', retriable: false, unsent: true } },
  }) as never;
const unknown = (tool: string, args: Record<string, unknown>): TaskState => task(tool, args, 'TOOL_UNKNOWN');
const worked = (tool: string, args: Record<string, unknown>): TaskState => task(tool, args, null);
const undone = (...tasks: readonly TaskState[]): readonly string[] =>
  (
    undoneCalls(
      tasks.map((made, at) => ({ task: made, at })),
      tools,
    ).undone ?? []
  ).map(({ call }) => call);

describe('a call of a tool that does not exist', () => {
  const sample = { donor: 'D-1', day: '2026-11-20' };

  it('is told, in words for people', () => {
    const { undone: told } = undoneCalls([{ task: unknown('lab.destroy_sample', { id: 'S-1' }), at: 0 }], tools);
    expect(told).toEqual([{ call: 'lab.destroy_sample (id: S-1)', reason: 'No tool server offers a tool of this name.', unsent: true }]);
  });

  it('is not told once a tool with all words of its name, or a change with the same values, was called', () => {
    expect(
      undone(unknown('register', sample), worked('lab.register_sample', { ...sample, day: '2026-11-21', donor: 'D-1', note: '' })),
    ).toEqual(['register (donor: D-1, day: 2026-11-20)']);
    expect(undone(unknown('register', sample), worked('lab.register_sample', { ...sample, volume: 5 }))).toEqual([]);
    expect(undone(unknown('donor_find', { type: 'O' }), worked('lab.find_donors', { filter: { type: 'O' } }))).toEqual([]);
    expect(undone(unknown('lab.create_sample', sample), worked('lab.register_sample', sample))).toEqual([]);
  });

  it('is told although another tool read or changed the same thing, or one was called before with more', () => {
    const call = 'lab.destroy_sample (id: S-1)';
    const destroyed = unknown('lab.destroy_sample', { id: 'S-1' });
    expect(undone(destroyed, worked('lab.thaw', { id: 'S-1' }))).toEqual([call]);
    expect(undone(destroyed, worked('lab.find_donors', { id: 'S-1' }))).toEqual([call]);
    expect(undone(worked('lab.register_sample', { ...sample, volume: 5 }), unknown('register', sample))).toHaveLength(1);
    expect(undone(worked('lab.register_sample', sample), unknown('register', sample))).toEqual([]);
  });

  it('says nothing about other failures of tools that only read', () => {
    expect(undone(task('lab.find_donors', { type: 'O' }, 'TOOL_FAILED'), task(null, {}, 'TOOL_FAILED'))).toEqual([]);
  });
});

describe('a change that failed', () => {
  const booked = { guest: 'Holm', from: '2026-12-01', to: '2026-12-03', room: 101 };
  const at = (...calls: readonly (readonly [number, TaskState])[]): readonly string[] =>
    (
      undoneCalls(
        calls.map(([wave, made]) => ({ task: made, at: wave })),
        tools,
      ).undone ?? []
    ).map(({ call }) => call);
  const failed = (room: number) => task('lab.thaw', { ...booked, room }, 'TOOL_FAILED');

  it('is told although a similar one was made at the same time, but not after a later one', () => {
    const call = 'lab.thaw (guest: Holm, from: 2026-12-01, to: 2026-12-03, room: 102)';
    expect(at([0, worked('lab.thaw', booked)], [0, failed(102)])).toEqual([call]);
    expect(at([0, failed(102)], [0, worked('lab.thaw', booked)])).toEqual([call]);
    expect(at([0, failed(102)], [1, worked('lab.thaw', booked)])).toEqual([]);
  });

  it('is not told if a call at the same time made it with other names of arguments', () => {
    expect(at([0, task('lab.thaw', { room_number: 101 }, 'TOOL_ARGUMENTS_INVALID')], [0, worked('lab.thaw', { room: '101' })])).toEqual([]);
  });
});
