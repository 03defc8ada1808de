import { describe, expect, it } from '@jest/globals';
import type { PlannedTask } from '@conclave/contracts';
import fc from 'fast-check';
import { actionKey, canonicalJson, repeatOf } from '@conclave/loop';
import { actionOf, inOrderOfNeeds, planFaults, dedupe } from './plan-rules.js';
import { expert, research, Scenario, template } from './testing/scenario.js';

const calculation = (id: string, args: Record<string, unknown>, changes: Partial<PlannedTask> = {}): PlannedTask => ({
  id,
  capability: 'math',
  task: 'Calculate it',
  query: null,
  needs: [],
  metadata_filters: null,
  tool: 'evaluate',
  args,
  ...changes,
});
const ids = (tasks: readonly PlannedTask[]): readonly string[] => tasks.map(({ id }) => id);

describe('equal tasks of a plan', () => {
  it('are those of the same call, whatever the order of its arguments', () => {
    const plan = [
      calculation('m1', { expression: '1200*1.19', digits: 2 }),
      calculation('m2', { expression: '1200/1.19', digits: 2 }),
      calculation('m3', { digits: 2, expression: '1200*1.19' }),
      expert('x1', 'Say both.', ['m1', 'm2', 'm3']),
    ];
    expect(ids(dedupe(plan))).toEqual(['m1', 'm2', 'x1']);
    expect(dedupe(plan).at(-1)!.needs).toEqual(['m1', 'm2']);
  });

  it('are never two calls with different arguments, in one plan or in two', () => {
    const args = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,6}$/),
      fc.oneof(fc.string(), fc.integer(), fc.stringMatching(/^[0-9x+*/^=<>-]{1,8}$/), fc.array(fc.integer(), { maxLength: 3 })),
      { minKeys: 1, maxKeys: 3 },
    );
    fc.assert(
      fc.property(args, args, fc.constantFrom('math', 'mcp', 'research', 'graph'), (one, other, capability) => {
        fc.pre(canonicalJson(one) !== canonicalJson(other));
        // A query in addition to the arguments has no effect.
        const [a, b] = [calculation('a', one, { capability, query: 'q' }), calculation('b', other, { capability, query: 'q' })];
        expect(dedupe([a, b])).toHaveLength(2);
        const tried = [{ ...actionOf(a, [a]), outcome: 'facts' as const }];
        expect(repeatOf(tried, actionOf(b, [b]))).toBe('new');
        expect(repeatOf(tried, actionOf(a, [a]))).toBe('known');
      }),
    );
  });

  it('distinguish experts that build on other results, however far away', () => {
    const plan = [
      calculation('m1', { expression: '5-3' }),
      calculation('m2', { expression: '5+3' }),
      expert('a1', 'Explain the result', ['m1']),
      expert('a2', 'Explain the result', ['m2']),
      expert('x1', 'Judge the explanation', ['a1']),
      expert('x2', 'Judge the explanation', ['a2']),
    ];
    expect(ids(dedupe(plan))).toEqual(ids(plan));
  });

  it('leave no cycle behind, whichever of them needs the other', () => {
    const plan = [{ ...research('a', 'Find X'), needs: ['b'] }, research('b', 'Find X'), expert('x1', 'answer', ['a'])];
    expect(dedupe(plan)).toMatchObject([
      { id: 'b', needs: [] },
      { id: 'x1', needs: ['b'] },
    ]);
    const run = new Scenario();
    run.requested();
    run.planned(0, plan);
    expect(run.dispatched()).toEqual(['0/b']);
  });

  it('produce a plan that may run again from any plan that may run', () => {
    const plan = fc
      .array(fc.record({ about: fc.constantFrom('A', 'B', 'C', 'C++'), needs: fc.array(fc.nat(7), { maxLength: 3 }) }), {
        minLength: 1,
        maxLength: 4,
      })
      .chain((drafts) =>
        fc
          .shuffledSubarray(
            drafts.map((_, index) => index),
            { minLength: drafts.length },
          )
          .map((order) =>
            order.map((at): PlannedTask => ({
              ...research(`t${at}`, `Find ${drafts[at]!.about}`),
              needs: [...new Set(drafts[at]!.needs.filter((need) => need < at).map((need) => `t${need}`))],
            })),
          ),
      );
    fc.assert(
      fc.property(plan, (tasks) => {
        const kept = dedupe(tasks);
        expect(planFaults(kept, template())).toEqual([]);
        expect(inOrderOfNeeds(kept)).toHaveLength(kept.length);
        expect(new Set(kept.map((task) => actionKey(actionOf(task, kept)))).size).toBe(kept.length);
        expect(new Set(tasks.map((task) => actionKey(actionOf(task, tasks)))).size).toBe(kept.length);
      }),
    );
  });
});

describe('a tool of a later round', () => {
  it('is called with other arguments although an earlier call had nearly the same', () => {
    const loan = (rate: number) => ({ principal: 200_000, rate, years: 30 });
    const run = new Scenario({ capabilities: ['math'], classes: { expert: 'expert', math: 'evidence', judge: 'judge' } });
    run.requested();
    run.planned(0, [calculation('m1', loan(3.5))]);
    run.found('m1', '898');
    run.judged('needs_more_info', 'the other rate');
    run.planned(1, [calculation('m1', loan(4.5)), calculation('m2', loan(3.5))]);
    expect(run.dispatched().filter((id) => id.startsWith('1/'))).toEqual(['1/m1']);
    expect(run.state!.tasks['run_00000001/1/m2']!.result!.status).toBe('repeated');
  });
});

describe('the ledger', () => {
  it('keeps two results of a tool that differ in a sign', () => {
    const run = new Scenario({ capabilities: ['math'] });
    run.requested();
    run.planned(0, [calculation('m1', { expression: '5-10' }), calculation('m2', { expression: '10-5' })]);
    run.found('m1', 'The result is -5');
    run.found('m2', 'The result is 5');
    expect(run.state!.memory.facts).toHaveLength(2);
  });
});
