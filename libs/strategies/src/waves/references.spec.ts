import { describe, expect, it } from '@jest/globals';
import type { PlannedTask } from '@conclave/contracts';
import { filledIn, referencesOf, valueAt } from './references.js';

const of = (args: Record<string, unknown>) => ({ args }) as unknown as PlannedTask;
const earlier = new Set(['w1', 'find-user']);

describe('a reference to an earlier call', () => {
  it.each([
    ['{{w1.page.next}}', ['page', 'next']],
    ['{{ w1.items[3].id }}', ['items', '3', 'id']],
    ['${find-user.output.id}', ['output', 'id']],
    ["{{results.w1['a b'].id}}", ['a', 'b', 'id']],
    ['$w1.items[0]', ['items', '0']],
    ['$.w1.id', ['id']],
    ['{w1.items[0].id}', ['items', '0', 'id']],
    ['<w1.id>', ['id']],
    ['{{wave1.w1.id}}', ['id']],
  ])('is found: %s', (said, path) => {
    expect(referencesOf(of({ a: [{ b: said }] }), earlier)).toEqual([
      { said, call: said.includes('find-user') ? 'find-user' : 'w1', path },
    ]);
  });

  it.each([
    '{{w2.id}}',
    '{{name}}',
    '$100',
    'costs $w1',
    '<w1>',
    'in <w1.id>',
    '{w1}',
    '*.{w1,id}',
    '{"w1.id": 1}',
    '{{wave1.id}}',
    '{{}}',
  ])('is nothing else: %s', (text) => {
    expect(referencesOf(of({ text }), earlier)).toEqual([]);
  });

  it('is replaced by its value, which keeps its type if it is the whole argument', () => {
    const values = new Map<string, unknown>([
      ['{{w1.id}}', 7],
      ['$w1.id', 8],
    ]);
    expect(
      filledIn(
        of({ a: 'No. {w1.id}', b: '<w1.id>' }),
        new Map([
          ['{w1.id}', 7],
          ['<w1.id>', 8],
        ]),
      ).args,
    ).toEqual({ a: 'No. 7', b: 8 });
    const task = of({ id: ' {{w1.id}}', list: ['$w1.id', { note: 'No. {{w1.id}} of {{w1.all}}' }] });
    expect(filledIn(task, values).args).toEqual({ id: 7, list: [8, { note: 'No. 7 of {{w1.all}}' }] });
  });
});

describe('the value of a reference', () => {
  const result = JSON.stringify({
    status: 'planned',
    requestId: 'req-1',
    task: { id: 'task-1', Due_Date: '2026-12-01', tags: [] },
    rows: [
      { id: 1, key: 'x' },
      { id: 2, key: 'x' },
    ],
    page: { nextCursor: 'MjAw', last: false },
  });
  it.each([
    [['requestId'], 'req-1'],
    [['request_id'], 'req-1'],
    [['task', 'id'], 'task-1'],
    [['result', 'task', 'dueDate'], '2026-12-01'],
    [['rows', '1', 'id'], 2],
    [['next_cursor'], 'MjAw'],
    [['data', 'nextCursor'], 'MjAw'],
    [['key'], 'x'],
    [['page', 'last'], false],
  ])('is where its path leads, or the only one of its name: %j', (path, value) => {
    expect(valueAt(result, path)).toBe(value);
  });

  it.each([[['id']], [['task']], [['rows']], [['task', 'name']], [['rows', '2', 'id']], [['constructor']], [[]], [['task', 'tags']]])(
    'is not guessed: %j',
    (path) => {
      expect(valueAt(result, path)).toBeUndefined();
    },
  );

  it('of a result that was cut is found, unless other entries of a list may have another one', () => {
    const cut = `${result}\n[The result is cut: 90000 characters, cut to 65536; lists have at most their first 2 entries.]`;
    expect(valueAt(cut, ['page', 'nextCursor'])).toBe('MjAw');
    expect(valueAt(cut, ['next_cursor'])).toBe('MjAw');
    expect(valueAt(cut, ['rows', '1', 'key'])).toBe('x');
    expect(valueAt(cut, ['key'])).toBeUndefined();
  });

  it('of a text is what stands behind its name, or the whole short text', () => {
    const text = 'Game created!\n- **Game ID**: 2203e086\n- Type: agent\nBoard: http://127.0.0.1/game\nType: human';
    expect(valueAt(text, ['game_id'])).toBe('2203e086');
    expect(valueAt(text, ['type'])).toBeUndefined();
    expect(valueAt(text, ['id'])).toBeUndefined();
    expect(valueAt(' 42 ', ['result'])).toBeUndefined();
    expect(valueAt('task-9', [])).toBe('task-9');
  });
});
