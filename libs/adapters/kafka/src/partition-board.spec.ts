import { describe, expect, it } from '@jest/globals';
import { PartitionBoard } from './partition-board.js';

describe('records of a partition that no other process can have begun', () => {
  const fresh = (board: PartitionBoard, offset: bigint, end: bigint) => board.isFresh('t', 0, offset, end);

  it('are those after its end at the first fetch', () => {
    const board = new PartitionBoard();
    board.assign({ t: [0] }, true);
    expect([fresh(board, 4n, 6n), fresh(board, 5n, 6n)]).toEqual([false, false]);
    expect([fresh(board, 6n, 8n), fresh(board, 7n, 8n)]).toEqual([true, true]);
  });

  it('change once the partition was lost, or when the group continued without this member', () => {
    const board = new PartitionBoard();
    board.assign({ t: [0] }, true);
    expect([fresh(board, 0n, 0n), fresh(board, 3n, 4n)]).toEqual([true, true]);
    board.assign({}, true);
    expect(fresh(board, 4n, 5n)).toBe(false);
    board.assign({ t: [0] }, true);
    expect([fresh(board, 4n, 5n), fresh(board, 5n, 6n)]).toEqual([false, true]);
    board.assign({ t: [0] }, true);
    expect(fresh(board, 6n, 7n)).toBe(true);
    board.assign({ t: [0] }, false);
    expect([fresh(board, 7n, 8n), fresh(board, 8n, 9n)]).toEqual([false, true]);
  });
});
