import { describe, expect, it } from '@jest/globals';
import type { PlannedTask } from '@conclave/contracts';
import { callAction } from './call-action.js';

const tools = [
  { name: 'stock.count', description: '', signature: '', repeatable: true },
  { name: 'stock.order', description: '', signature: '', repeatable: false },
];
const of = (args: Record<string, unknown>, tool = 'stock.order') =>
  callAction(
    { id: 'a', capability: 'mcp', task: `Call ${tool}`, query: null, needs: [], tool, args, metadata_filters: null } as PlannedTask,
    tools,
  );

describe('calls that change something', () => {
  const call = { room_id: 5, days: ['Mon'], to: { name: 'Ann Lee' } };
  it.each([
    [{ days: ['Mon'], to: { name: 'Ann Lee' }, room_id: 5 }],
    [{ roomId: 5, Days: ['Mon'], to: { name: 'Ann Lee' } }],
    [{ 'room-id': '5', days: 'Mon', to: { name: ' Ann Lee ' } }],
    [{ ...call, note: null }],
    [{ ...call, to: '{"name": "Ann Lee"}', days: '["Mon"]' }],
    [{ args: call }],
    [{ arguments: JSON.stringify(call) }],
  ])('are the same if only their spelling differs: %j', (other) => {
    expect(of(other)).toEqual(of(call));
    expect(of(other).once).toBe(true);
  });

  it.each([
    [{ ...call, room_id: 6 }],
    [{ ...call, days: ['Mon', 'Tue'] }],
    [{ ...call, to: { name: 'ann lee' } }],
    [{ ...call, note: '' }],
    [{ ...call, days: '["Mon"] and more' }],
    [{ ...call, roomId: 6 }],
  ])('are different with another value: %j', (other) => {
    expect(of(other).argument).not.toBe(of(call).argument);
  });

  it('of another tool are different, and those that change nothing are compared as written', () => {
    expect(of(call, 'stock.sell').argument).not.toBe(of(call).argument);
    expect(of({ item: 5 }, 'stock.count')).not.toEqual(of({ Item: '5' }, 'stock.count'));
    expect(of({ item: 5 }, 'stock.count').once).toBeUndefined();
  });
});
