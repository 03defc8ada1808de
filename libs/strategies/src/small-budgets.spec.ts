import { describe, expect, it } from '@jest/globals';
import type { GapDetected, PlanCreated, PlanRequested, ResultReady, TaskDispatched, Template, Usage } from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';
import { firstPlanAsked } from '@conclave/loop';
import { topicTask } from './decompose/topics.js';
import { unsourced } from './own-knowledge.js';
import { fallbackTasks } from './plan-rules.js';
import { expert, oneCall, research, Scenario, template } from './testing/scenario.js';

const shipped = ['single-pass', 'agentic', 'waves', 'reasoning', 'reflective-rag', 'decompose', 'adaptive'] as const;
type Shipped = (typeof shipped)[number];

const using = (calls: number): Usage => ({ ...oneCall, calls });
const tool = { name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true, readOnly: true };
const call = (epoch: number) => ({
  ...{ id: `c${epoch}`, capability: 'mcp', task: 'Count', query: null, needs: [], metadata_filters: null },
  ...{ tool: 'stock.count', args: { item: `item ${epoch}` } },
});
const steps = [{ capability: 'research', input_description: 'look it up', reason: 'so' }];

/** What a planner replies to each strategy. */
const plans: Readonly<Record<Shipped, (epoch: number) => Partial<PlanCreated['data']>>> = {
  'single-pass': (epoch) => ({ tasks: [research(`r${epoch}`, `what ${epoch}`), expert(`x${epoch}`, `say ${epoch}`)] }),
  agentic: (epoch) => ({ tasks: [research(`r${epoch}`, `what ${epoch}`), expert(`x${epoch}`, `say ${epoch}`)] }),
  waves: (epoch) => ({ tasks: [call(epoch)], content: { status: 'continue', action: 'Counts', slots: {}, reasoning: '' } }),
  reasoning: () => ({ content: { steps, impossible: null, working_memory: null } }),
  'reflective-rag': (epoch) => ({ content: { class: 'factual', collections: ['law'], query: `query ${epoch}` } }),
  decompose: () => ({
    tasks: [topicTask(1, 'trains', 'trains', []), topicTask(2, 'ferries', 'ferries', [])],
    content: { synthesis: 'merge' },
  }),
  adaptive: () => ({ content: { class: 'comparative' } }),
};

interface World {
  /** Whether the planner's replies can be read. */
  readonly readable: boolean;
  /** Whether every ask makes as many calls as it may. */
  readonly wasteful: boolean;
}

/** Everything that a strategy asks, answered within what it may use. */
class SmallRun extends Scenario {
  /** Calls that each plan was allowed. */
  readonly allowed: number[] = [];

  constructor(
    strategy: Shipped,
    private readonly world: World,
    changes: Partial<Template> = {},
  ) {
    const found = { capabilities: ['research', 'collections'], collections: [{ name: 'law', description: 'Statutes.' }] };
    super({ strategy, tools: [tool], ...found, ...changes });
  }

  /** Runs to the end. */
  whole(limits: Partial<PlanRequested['data']['limits']>, more: Partial<PlanRequested['data']> = {}): Record<string, unknown> {
    this.requested(limits, more);
    for (let n = 0; n < 100 && !this.completed(); n += 1) {
      if (this.state!.awaiting) this.plans(this.state!.awaiting.epoch, this.request(limits, more));
      else this.works();
    }
    return this.completed()!;
  }

  private plans(epoch: number, request: PlanRequested): void {
    const gap = this.outputs.findLast((event): event is GapDetected => event.type === 'GapDetected')?.data;
    const { readable, wasteful } = this.world;
    const { planner } = this.strategies(this.state!.strategy);
    // As the planner's service does.
    const of = gap && gap.epoch + 1 === epoch ? gap.left : firstPlanAsked(request, this.strategies)!.left;
    const left = of.model_calls - (planner.keeps ?? 1);
    this.allowed.push(left);
    // A planner asks at most twice again.
    const calls = Math.min(left, readable && !wasteful ? 1 : 3);
    const strategy = this.state!.strategy as Shipped;
    if (readable && calls > 0) return void this.planned(epoch, [], using(calls), plans[strategy](epoch));
    const isCommittee = strategy === 'single-pass' || strategy === 'agentic';
    // The planner's own fallback.
    if (isCommittee && calls > 0)
      return void this.planned(epoch, [...fallbackTasks('Who founded it?', ['research'])], using(calls), { fallback: true });
    const code = calls < 3 ? 'ALLOWANCE_EXHAUSTED' : 'PROVIDER_REPLY_INVALID';
    this.planned(epoch, [], using(calls), { failure: { code, message: 'No plan came.', retriable: false } });
  }

  /** Ends an open task. */
  works(): void {
    const [ref, task] = Object.entries(this.state!.tasks).find(([, { status }]) => status === 'open')!;
    const calls = task.models.length > 0 ? (this.world.wasteful ? task.allowance!.calls : 1) : 0;
    const usage = calls > 0 ? using(calls) : noUsage;
    const { capability } = task.spec;
    const fact = {
      ...{ text: `fact ${ref}`, source: { kind: 'corpus' as const, title: 'doc', url: null } },
      ...{ taskId: ref, epoch: task.epoch, confidence: null },
    };
    const values: Readonly<Record<string, object>> = {
      'judge.assess': { quality: 'partial', missing: ['more'], parsed: true },
      'judge.refine': { query: `again ${ref}` },
      'judge.prepare': { query: `look ${ref}`, tool: null, args: {}, working_memory: null },
      'judge.evaluate': {
        rubric: { relevance: 4, completeness: 4, usability: 4, goal_progress: 4 },
        ...{ summary: 'good', working_memory: null },
      },
      'judge.decide': { action: 'continue', confidence: 0.5, reason: 'so', question: null, final_answer: null, working_memory: null },
      'judge.compress': { working_memory: 'short' },
    };
    const output: ResultReady['data']['output'] = capability.startsWith('expert.')
      ? { kind: 'answer', text: 'It is so.', finding: 'It is so.' }
      : capability === 'judge.synthesis'
        ? { kind: 'synthesis', text: 'Written.', insight: null, insightRejected: null, cutShort: false }
        : capability === 'judge.gap'
          ? { kind: 'assessment', assessment: { verdict: 'needs_more_info', gap: `more ${ref}`, nextFocus: `more ${ref}`, parsed: true } }
          : values[capability]
            ? { kind: 'values', values: { ...values[capability] } }
            : { kind: 'evidence', facts: [fact] };
    const confidence = capability.startsWith('expert.') ? 0.6 : null;
    this.result(ref.split('/').at(-1)!, { output, usage, confidence }, task.epoch);
  }
}

const worlds: readonly (readonly [string, World])[] = [
  ['a planner that replies well', { readable: true, wasteful: false }],
  ['asks that use all they may', { readable: true, wasteful: true }],
  ['a planner that cannot be read', { readable: false, wasteful: true }],
];
const budgets = [1, 2, 3, 4, 5, 6, 7, 9, 12];

/** Fewest calls with which a strategy makes a plan. */
const fewest: Readonly<Record<Shipped, number>> = {
  ...{ 'single-pass': 3, agentic: 3, waves: 2, reasoning: 3, 'reflective-rag': 3, decompose: 3, adaptive: 3 },
};
const withoutPlan = /The budget (leaves|left) no model call for a plan/;

describe.each(worlds)('with %s', (_, world) => {
  it.each(shipped)('%s answers with any number of calls, keeps to it, and says if it made no plan', (strategy) => {
    for (const limit of budgets) {
      const run = new SmallRun(strategy, world);
      const { answer, outcome, usage, rule, reason } = run.whole({ model_calls: limit });
      expect([limit, (usage as Usage).calls <= limit]).toEqual([limit, true]);
      const plans = limit >= fewest[strategy];
      // A strategy without a plan of its own ends its loop if its planner could ask three times and said nothing readable.
      const isUnread = !world.readable && (strategy === 'waves' || strategy === 'reasoning') && limit >= fewest[strategy] + 2;
      if (isUnread) expect([limit, outcome, rule]).toEqual([limit, 'stuck', 'D4']);
      expect([limit, answer]).toEqual([limit, expect.stringMatching(/./)]);
      if (!plans) expect([limit, outcome, rule, reason]).toEqual([limit, 'limit_reached', 'D2', expect.stringMatching(withoutPlan)]);
      if (plans && world.readable) expect([limit, reason]).toEqual([limit, expect.not.stringMatching(/no model call for a plan/)]);
      expect([limit, run.allowed.length > 0]).toEqual([limit, plans]);
      // Whatever the planner used, a model writes the answer.
      if (plans) expect([limit, answer]).toEqual([limit, expect.not.stringContaining('What was found so far')]);
    }
  });
});

const thrifty: World = { readable: true, wasteful: false };
const inputs = (run: Scenario, capability: string) =>
  run.outputs.flatMap((event) =>
    event.type === 'TaskDispatched' && event.id.endsWith(capability) ? [event.data as TaskDispatched['data']] : [],
  );

describe('a run that cannot afford its plan', () => {
  it.each(['waves', 'reasoning'] as const)('of %s is answered by one call, which is told that nothing was looked up', (strategy) => {
    const run = new SmallRun(strategy, thrifty);
    expect(run.whole({ model_calls: 1 })).toMatchObject({ answer: 'Written.', usage: { calls: 1 }, reasonCode: 'budget_model_calls' });
    expect(inputs(run, 'judge.synthesis')).toMatchObject([{ input: { openGap: expect.stringContaining('Nothing was looked up') } }]);
  });

  it('of reasoning is answered from what was known before the run', () => {
    const run = new SmallRun('reasoning', thrifty);
    run.whole({ model_calls: 2 });
    expect(inputs(run, 'judge.synthesis')).toMatchObject([{ input: { thinking: expect.stringContaining('fact run_00000001/0/') } }]);
  });

  it.each(['reflective-rag', 'decompose'] as const)('of %s looks for the question itself', (strategy) => {
    const [one, two] = [1, 2].map((calls) => {
      const run = new SmallRun(strategy, thrifty);
      const end = run.whole({ model_calls: calls });
      expect(run.state!.plan!.fallback).toBe(false);
      return { run, end };
    });
    // The one call reads what was found, and the answer lists it.
    expect(one!.end).toMatchObject({ usage: { calls: 1 }, answer: expect.stringContaining('fact run_00000001/0/') });
    expect(two!.end).toMatchObject({ usage: { calls: 2 }, answer: 'Written.' });
    expect(one!.run.dispatched().length).toBeLessThan(two!.run.dispatched().length);
  });

  it('is said to be unreviewed on a topic on which a wrong answer does harm', () => {
    const run = new SmallRun('reflective-rag', thrifty, { critic: { categories: ['medical_consult'] } });
    const goal = 'Which dose of ibuprofen is safe for a child with fever? Tell me all about it, and about how it is given to children.';
    expect(run.whole({ model_calls: 1 }, { goal })['answer']).toContain('it was not reviewed');
  });

  it('hands its only call to a child run', () => {
    const run = new Scenario({ strategy: 'decompose', options: { child: 'small' } });
    run.requested({ model_calls: 1 }, { children: { small: template({ id: 'small' }) } });
    expect(inputs(run, '/t1')).toMatchObject([{ capability: 'run', allowance: { calls: 1 } }]);
  });

  it('ends its waves when the next one would take the call of the answer', () => {
    const run = new SmallRun('waves', thrifty);
    expect(run.whole({ model_calls: 3 })).toMatchObject({
      ...{ outcome: 'limit_reached', rule: 'D2', answer: 'Written.', usage: { calls: 3 } },
      reason: 'The budget leaves no model call for another wave besides the answer.',
    });
  });

  it('does not begin an iteration that it cannot plan', () => {
    const run = new SmallRun('agentic', thrifty);
    // Plan, expert and gap check leave two calls of five.
    const { reason } = run.whole({ model_calls: 5 });
    expect(reason).toBe('The budget leaves no model call for another plan besides the answer.');
    expect(run.facts.filter((fact) => fact.kind === 'Noted' && fact.code === 'agentic.iteration')).toEqual([]);
  });
});

describe('a run that finds nothing', () => {
  /** Its searches and skills find nothing, and neither does a reader of passages. */
  class Barren extends SmallRun {
    override works(): void {
      const [ref, { spec, models }] = Object.entries(this.state!.tasks).find(([, { status }]) => status === 'open')!;
      const isWritten = spec.capability.startsWith('judge.') || spec.capability.startsWith('expert.');
      if (isWritten) return super.works();
      const output =
        spec.capability === 'collections.discover' ? { kind: 'values', values: { documents: [] } } : { kind: 'evidence', facts: [] };
      this.result(
        ref.split('/').at(-1)!,
        { output, usage: models.length > 0 ? using(1) : noUsage } as never,
        this.state!.tasks[ref]!.epoch,
      );
    }
  }

  it.each(shipped)('of %s is answered by a model with any number of calls', (strategy) => {
    for (const limit of budgets) {
      const run = new Barren(strategy, thrifty);
      const { answer, usage } = run.whole({ model_calls: limit });
      expect([limit, (usage as Usage).calls <= limit]).toEqual([limit, true]);
      // Decompose with one call has spent it on its one sub-topic.
      const isSpent = strategy === 'decompose' && limit === 1;
      expect([limit, answer]).toEqual([limit, isSpent ? null : expect.stringMatching(/^(Written|It is so)\.$/)]);
    }
  });

  it('says to the model and to the reader what was not found', () => {
    const run = new Barren('reflective-rag', thrifty);
    run.whole({ model_calls: 1 });
    expect(inputs(run, 'judge.synthesis')).toMatchObject([{ input: { unsourced: 'nothing_found' } }]);
  });

  it('is left without an answer as the child of another run, whose answer would pass it on as found', () => {
    const child = 'run_00000001~0.t1';
    const run = { runId: child, ending: { outcome: 'limit_reached', rule: 'D6' }, memory: { facts: [] }, tasks: {}, plan: {} };
    expect(unsourced({ run } as never)).toBeNull();
    expect(unsourced({ run: { ...run, runId: 'run_00000001' } } as never)).not.toBeNull();
  });
});

describe('the tokens or the money for a plan', () => {
  it.each(shipped.filter((strategy) => strategy !== 'adaptive'))(
    'may be too little, which its planner says: %s then answers without it',
    (strategy) => {
      const run = new SmallRun(strategy, thrifty);
      run.requested();
      while (!run.state!.awaiting && !run.completed()) run.works();
      const failure = { code: 'ALLOWANCE_EXHAUSTED', message: 'No token or money is left for this.', retriable: false };
      run.planned(run.state!.awaiting!.epoch, [], noUsage, { failure });
      while (run.state!.awaiting === null && !run.completed()) run.works();
      expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', answer: expect.stringMatching(/./) });
      expect(run.completed()!['reason']).toMatch(
        strategy === 'waves' || strategy === 'reasoning' ? /^The budget is too small for a plan: No token or money/ : withoutPlan,
      );
    },
  );
});

describe('a planner that takes nearly all of the wall time', () => {
  it.each(['single-pass', 'agentic', 'waves', 'reasoning', 'reflective-rag', 'decompose'] as const)(
    'leaves %s the time of one call, without a plan',
    (strategy) => {
      const run = new SmallRun(strategy, thrifty);
      run.requested({ wall_time_s: 60 });
      while (!run.state!.awaiting) run.works();
      run.fired();
      expect(inputs(run, 'judge.synthesis')).toMatchObject([{ input: { openGap: expect.stringContaining('Nothing was looked up') } }]);
      run.works();
      expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', reasonCode: 'budget_wall_time_s', answer: 'Written.' });
    },
  );

  it('does not let a dangerous question pass unreviewed', () => {
    const run = new SmallRun('agentic', thrifty, { critic: { categories: ['medical_consult'] } });
    run.requested({ wall_time_s: 60 }, { goal: 'Which dose of ibuprofen is safe for a child with fever?' });
    run.fired();
    expect(inputs(run, 'judge.synthesis')).toMatchObject([{ stream: 'held' }]);
    run.composed(`Ask a doctor. ${'word '.repeat(40)}`);
    expect(run.dispatched().at(-1)).toBe('0/judge.critic');
  });
});
