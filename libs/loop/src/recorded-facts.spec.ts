import { describe, expect, it } from '@jest/globals';
import { toldFacts } from './recorded-facts.js';

type Steps = Parameters<typeof toldFacts>[0];

const spec = { id: 'a1', capability: 'mcp', task: 'Look up the holiday', query: null, needs: [], metadata_filters: null };
const wish = {
  spec: { ...spec, tool: 'calendar.holiday', args: { name: 'Kites' } },
  action: null,
  models: [],
  learn: 'never',
  stream: 'held',
};
const admitted = { kind: 'TaskAdmitted', ref: 'run_abcd1234/0/a1', epoch: 0, helper: false, taskClass: 'evidence', wish };
const refused = { kind: 'TaskRefused', ref: 'run_abcd1234/0/a1', capability: 'mcp', why: 'exhausted', at: 7 };
const step = (version: number, ...facts: object[]) =>
  ({ version, now: version * 1_000, input: { data: {} }, facts }) as unknown as Steps[number];

describe('the facts of recorded steps', () => {
  it('say in the line of a failure what a task was asked in an earlier step, with its call', () => {
    const [, , failure] = toldFacts([step(1, admitted), step(2, { kind: 'Turn', hook: 'result' }, refused)]);
    expect(failure).toEqual({
      ...{ step: 2, at: 2_000, kind: 'TaskRefused' },
      sentence:
        'Task 0/a1 (mcp), asked for "Look up the holiday (calendar.holiday {"name":"Kites"})", was not run: Dropped: failed twice before.',
    });
  });

  it('mark what lists for people leave out', () => {
    const facts = toldFacts([step(1, admitted, { kind: 'Turn', hook: 'result' })]);
    expect(facts.map(({ kind, quiet }) => [kind, quiet])).toEqual([
      ['TaskAdmitted', undefined],
      ['Turn', true],
    ]);
  });

  it('are one entry for a step that this version cannot read', () => {
    const facts = toldFacts([step(1, admitted, { kind: 'Prophesied' }), step(2, refused)]);
    expect(facts.map(({ kind, step: at }) => [kind, at])).toEqual([
      ['unreadable', 1],
      ['TaskRefused', 2],
    ]);
  });
});
