import { describe, expect, it } from '@jest/globals';
import { factSentence, type RunFact } from './facts.js';

const said = (fact: object): string => factSentence(fact as RunFact);
const spec = { capability: 'mcp', task: 'Find the owner', query: null, needs: [], metadata_filters: null };
const admitted = (more: object) => said({ kind: 'TaskAdmitted', ref: 'run_1/0/o1', wish: { spec: { ...spec, ...more } } });
const taken = (by: string, plan: object) => said({ kind: 'PlanTaken', epoch: 2, by, plan: { tasks: [{}, {}], ...plan } });
const settled = (text: string, failure: object | null = null) =>
  said({ kind: 'TaskSettled', ref: 'run_1/0/o1', capability: 'mcp', facts: 1, text, result: { status: 'ok', durationMs: 12, failure } });

describe('the sentence of a fact', () => {
  it('names the tool with its arguments, or the query of a search', () => {
    expect(admitted({ tool: 'clinic.find_owner', args: { name: 'Ada' } })).toBe(
      'Task 0/o1 (mcp) was admitted: Find the owner (clinic.find_owner {"name":"Ada"})',
    );
    expect(admitted({ capability: 'research', query: 'owner of Rex' })).toMatch(/: Find the owner \(search "owner of Rex"\)$/);
    expect(admitted({ query: 'Find the owner' })).toMatch(/: Find the owner$/);
    expect(admitted({ tool: 't', args: { text: 'x'.repeat(5_000) } }).length).toBeLessThan(400);
  });

  it('says where a plan came from', () => {
    expect(taken('planner', {})).toBe('Plan 2, from the planner, was accepted, with 2 tasks.');
    expect(taken('planner', { fallback: true })).toContain('because none was usable');
    expect(taken('planner', { cached: true })).toContain('from the plan cache');
    expect(taken('engine', {})).toContain('from the strategy itself');
  });

  it('contains what a task found, or why it failed, in one line', () => {
    expect(settled('{"open":\n true}')).toBe('Task 0/o1 (mcp) ended ok after 12 ms with 1 new fact: {"open": true}');
    expect(settled('', { message: 'No owner has this name.' })).toMatch(/: No owner has this name\.$/);
    expect(settled('')).toBe('Task 0/o1 (mcp) ended ok after 12 ms with 1 new fact.');
  });

  it('contains the text of a command and the values of a note', () => {
    const command = { kind: 'CommandAccepted', seq: 1, name: 'answer', actor: 'ada', text: 'B please' };
    expect(said(command)).toBe('Command 1 (answer) from ada arrived: B please');
    expect(said({ ...command, text: undefined })).toBe('Command 1 (answer) from ada arrived.');
    expect(said({ kind: 'Noted', data: { bracket: ['a', 'b'] } })).toBe('The strategy notes {"bracket":["a","b"]}.');
  });
});
