import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { factSentence } from '@conclave/contracts';
import { foldStep, type RunState, type Strategies, type Strategy } from '@conclave/loop';
import { describeRun } from '../describe-run.js';
import { expert, research, runId, Scenario, template } from '../testing/scenario.js';
import { describedIn } from './bounded.js';
import { describeCapability } from './describe-capability.js';
import { describePlanAsk, describeQuestion } from './describe-question.js';
import { describeStrategy, writer, type StrategyDescription } from './describe-strategy.js';

type Description = Partial<StrategyDescription<unknown>>;
const ask = describeQuestion({ name: 'vote', prompt: () => [{ role: 'user', content: 'Vote' }], read: () => ({ output: {} }) });
const vote = {
  task: 'Vote',
  question: ask,
  input: () => ({ kind: 'values' as const, values: {} }),
  take: (own: unknown) => ({ ...(own as object), voted: true }),
};
/** A strategy that plans, asks its judge and ends, with some of its functions replaced by ones that JavaScript accepts. */
const written = (change: Readonly<Record<string, unknown>>): Strategy => {
  const usual: Description = {
    judges: { vote, write: writer as never },
    initial: () => ({ voted: false }),
    next: ({ run, own }) =>
      run.ending
        ? [{ do: 'say', draft: 'It is so.' as never }]
        : run.plan === null
          ? [{ do: 'plan' }]
          : (own as { voted: boolean }).voted
            ? [{ do: 'decide', reading: { by: 'assessment', sufficient: true } }]
            : [{ do: 'judge', name: 'vote' }],
  };
  return describeStrategy({ id: 'written', ...usual, ...change } as unknown as StrategyDescription<unknown>) as Strategy;
};

/** Plays it until its judge has voted, or its run has ended. */
function played(change: Readonly<Record<string, unknown>>): Scenario {
  const run = new Scenario({ strategy: 'written' }, written(change));
  run.requested();
  if (run.state!.endedAt === null) run.planned(0, [expert('x', 'Say it')]);
  if (run.state!.endedAt === null) run.answered('x', 'It is so.');
  if (run.state!.endedAt === null) run.result('judge.vote', { output: { kind: 'values', values: { for: 2 } } });
  return run;
}

const wrong = (name: string, change: Readonly<Record<string, unknown>>, words: string) => ({ name, change, words });
const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

describe('a strategy of an extension that does what no run can follow', () => {
  it.each([
    wrong('throws', { next: () => (undefined as unknown as { x: string }).x }, 'failed in `next`: TypeError: '),
    wrong('returns nothing', { next: () => undefined }, 'failed in `next`: It returned undefined, not a list of moves.'),
    wrong('returns one move', { next: () => ({ do: 'plan' }) }, 'It returned an object, not a list of moves.'),
    wrong('is async', { next: async () => Promise.resolve([]) }, 'a promise (it must not be `async`)'),
    wrong('invents a move', { next: () => [{ do: 'vote' }] }, 'There is no move "vote". Moves are: dispatch, judge, '),
    wrong(
      'asks a judge that is not there',
      { next: () => [{ do: 'judge', name: 'nobody' }] },
      'There is no judge called "nobody"; `judges` has: vote, write.',
    ),
    wrong(
      'ends a list in the middle',
      { next: () => [{ do: 'plan' }, { do: 'judge', name: 'vote' }] },
      'the move "plan" has to be the last one',
    ),
    wrong('answers too early', { next: () => [{ do: 'say', draft: 'Yes.' }] }, 'only for a run that is ending'),
    wrong('does nothing', { next: () => [] }, 'returned no move although nothing is open'),
    wrong('decides without a reading', { next: () => [{ do: 'decide' }] }, 'The move "decide" has a wrong shape: "reading"'),
    wrong('begins with a Map', { initial: () => ({ seen: new Map() }) }, 'own.seen is a Map'),
    wrong('begins with a bigint', { initial: () => ({ n: 10n }) }, 'own.n is a bigint'),
    wrong('begins with itself', { initial: () => cyclic }, 'contains itself'),
    wrong('folds facts to nothing', { evolve: () => undefined }, 'failed in `evolve`: It returned undefined'),
    wrong(
      'cannot fold facts',
      {
        evolve: () => {
          throw new Error('broken');
        },
      },
      'failed in `evolve`: Error: broken',
    ),
    wrong('has no limits', { limits: () => ({ rounds: 0 }) }, 'failed in `limits`'),
    wrong(
      'changes the run',
      {
        next: ({ run }: { run: { epoch: number } }) => {
          run.epoch = 7;
          return [];
        },
      },
      'read only',
    ),
    wrong('takes no verdict', { judges: { vote: { ...vote, take: () => undefined } } }, 'failed in `judges.vote.take`'),
    wrong('gives its judge no values', { judges: { vote: { ...vote, input: () => ({ goal: 'x' }) } } }, 'failed in `judges.vote.input`'),
    wrong(
      'opens an unknown capability',
      { onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'a', capability: 'horoscope', task: 'x' }] }] },
      'the capability "horoscope", which the template conclave does not offer',
    ),
    wrong(
      'needs what is not there',
      { onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'a', capability: 'expert.general', task: 'x', needs: ['b'] }] }] },
      'needs "b", which is neither',
    ),
    wrong(
      'accepts a task that is not there',
      { onResult: () => [{ do: 'accept', task: 'y' }] },
      'names the task "y", which does not exist',
    ),
    wrong(
      'cancels a task by its bare id',
      { onResult: () => [{ do: 'cancel', what: ['x'] }] },
      'names the task "x", which does not exist: write its ref "run_00000001/0/x"',
    ),
    wrong(
      'reports what no answer has',
      { report: () => ({ complexity: 'hard' }) },
      'failed in `report`: It returned an object that is no report',
    ),
    wrong(
      'plans when its run ends',
      {
        next: ({ run: { ending } }: { run: { ending: unknown } }) => [
          ending ? { do: 'plan' } : { do: 'decide', reading: { by: 'rounds' } },
        ],
      },
      'the move "plan" is only for a run that goes on',
    ),
    wrong('takes a plan without tasks', { next: () => [{ do: 'take', plan: { tasks: [] } }] }, 'The plan has no task.'),
    wrong(
      'takes a plan with a date',
      {
        next: () => [{ do: 'take', plan: { tasks: [{ id: 'a', capability: 'expert.general', task: 'x' }], content: { at: new Date(0) } } }],
      },
      'but content.at is a Date',
    ),
    wrong(
      'opens a task with arguments that are not JSON',
      { onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'a', capability: 'research', task: 'x', args: { seen: new Set() } }] }] },
      'The `args` of the task "a" have to be JSON, but args.seen is a Set.',
    ),
    wrong(
      'gives a task a long id',
      { onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'a/b', capability: 'expert.general', task: 'x' }] }] },
      '"id": must be 1 to 32 letters, digits, "_", "." and "-"',
    ),
    wrong(
      'needs itself',
      { onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'a', capability: 'expert.general', task: 'x', needs: ['a'] }] }] },
      'the task a can never begin',
    ),
  ])('$name: its run ends as failed and says so', ({ change, words }) => {
    const run = played(change);
    expect(run.completed()).toMatchObject({
      ...{ outcome: 'failed', reasonCode: 'strategy_failed', reason: expect.stringContaining(words) },
      failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining('The strategy "written" failed in `') },
    });
    expect(run.facts.map((fact) => factSentence(fact)).filter((sentence) => sentence.includes(words))).toHaveLength(2);
  });

  it('can still be read, and folded from its facts, with the same code', () => {
    const broken = written({
      evolve: () => {
        throw new Error('broken');
      },
    });
    const known: Strategies = () => broken;
    const run = new Scenario({ strategy: 'written' }, broken);
    run.requested();
    expect(describeRun(run.state, known)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('broken') });
    const recorded = run.audit.reduce<RunState | null>((state, step) => foldStep(runId, state, step, known), null);
    expect(recorded).toMatchObject({ faulty: true, ending: { outcome: 'failed' } });
  });
});

describe('a strategy of an extension', () => {
  it.each([
    [42, 'expected string, received number, or expected object, received number'],
    ['', '"draft": Too small: expected string to have >=1 characters'],
    [{ text: 'Yes.', sources: 'none' }, '"draft.sources": Invalid input: expected array'],
  ])('is told what is wrong with the answer %j', (draft, words) => {
    const run = played({
      next: ({ run: { ending } }: { run: { ending: unknown } }) =>
        ending ? [{ do: 'say', draft }] : [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }],
    });
    expect(run.completed()).toMatchObject({ failure: { message: expect.stringContaining(words) } });
  });

  it('is told that the name of a command is not where the API has it', () => {
    const commanded = (onCommand: unknown) => {
      const run = new Scenario({ strategy: 'written' }, written({ commands: ['cancel', 'override_step'], onCommand }));
      run.requested();
      run.planned(0, [expert('x', 'Say it')]);
      run.command(0, { name: 'override_step', skill: 'x', input: 'y' });
      return run;
    };
    const wronged = commanded((_view: unknown, given: { command: string }) => (given.command === 'override_step' ? [{ do: 'plan' }] : []));
    expect(wronged.completed()).toMatchObject({
      failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining('its name is `command.name`') },
    });
    const given: unknown[] = [];
    const right = commanded((_view: unknown, command: object) => (given.push({ ...command }), []));
    expect(right.state!.endedAt).toBeNull();
    expect(given).toEqual([{ name: 'override_step', skill: 'x', input: 'y' }]);
  });

  it('may write tasks and answers in short form', () => {
    const run = played({ onPlan: () => [{ do: 'dispatch', tasks: [{ id: 'x', capability: 'expert.general', task: 'Say it' }] }] });
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'It is so.' });
    expect(run.dispatched()).toEqual(['0/x', '0/judge.vote']);
  });

  it('leaves the verdict of its judge among the facts of the run', () => {
    const sentences = played({}).facts.map((fact) => factSentence(fact));
    expect(sentences).toContainEqual(expect.stringMatching(/^Task 0\/judge\.vote succeeded .*: for = 2$/));
  });

  it('may make a plan itself, in short form', () => {
    const own = { tasks: [{ id: 'x', capability: 'expert.general', task: 'Say it' }] };
    const next = ({ run }: { run: { plan: unknown; ending: unknown } }) =>
      run.ending
        ? [{ do: 'say', draft: { text: 'It is so.' } }]
        : run.plan === null
          ? [{ do: 'take', plan: own }]
          : [{ do: 'decide', reading: { by: 'rounds', sufficient: true } }];
    const run = new Scenario({ strategy: 'written' }, written({ next }));
    run.requested();
    run.answered('x', 'It is so.');
    expect(run.completed()).toMatchObject({ outcome: 'completed', answer: 'It is so.' });
  });

  it.each([
    ['names no template to start', false, 'the capability "run", which starts a run of another template'],
    ['does not make the input of its run', true, 'of the kind "research" for the capability "run"'],
  ])('that starts a run but %s is told so, because the task could only fail again and again', (_what, named, words) => {
    const next = ({ run }: { run: { ending: unknown } }) =>
      run.ending ? [] : [{ do: 'dispatch', tasks: [{ id: 'x', capability: 'run', task: 'Ask it' }] }];
    const run = new Scenario({ strategy: 'written' }, written({ next }));
    run.requested({}, named ? { children: { other: template() } } : {});
    expect(run.completed()).toMatchObject({ failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining(words) } });
    expect(run.dispatched()).toEqual([]);
  });

  it('is told only of capabilities that it may use', () => {
    const next = ({ run }: { run: { ending: unknown } }) =>
      run.ending ? [] : [{ do: 'dispatch', tasks: [{ id: 'x', capability: 'tide', task: 'Find' }] }];
    const run = new Scenario({ strategy: 'written' }, written({ next }));
    run.requested();
    expect(run.completed()).toMatchObject({ failure: { message: expect.stringMatching(/It offers: expert\.general, research\./) } });
  });

  it.each([
    ['that is not in the plan', ['y', []], 'The task "x" needs "y", which is not in the plan'],
    ['of a task that needs it', ['z', ['x']], 'form a circle'],
    ['of its own', ['x', []], 'form a circle'],
  ] as const)('that makes a plan with a need %s is told so', (_what, [need, needs], words) => {
    const task = { capability: 'expert.general', task: 'Say it' };
    const tasks = [
      { ...task, id: 'x', needs: [need] },
      { ...task, id: 'z', task: 'Say that', needs },
    ];
    const taking = { next: ({ run }: { run: { ending: unknown } }) => (run.ending ? [] : [{ do: 'take', plan: { tasks } }]) };
    expect(played(taking).completed()).toMatchObject({
      failure: { code: 'STRATEGY_FAILED', message: expect.stringContaining(words) },
    });
    const unchecked = {
      next: ({ run }: { run: { ending: unknown } }) => (run.ending ? [] : [{ do: 'plan' }]),
      planner: { faults: () => [] },
    };
    const run = new Scenario({ strategy: 'written' }, written(unchecked));
    run.requested();
    run.planned(
      0,
      tasks.map((one) => ({ ...one, needs: [...one.needs], query: null, metadata_filters: null })),
    );
    expect(run.completed()).toMatchObject({ failure: { message: expect.stringContaining(words) } });
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['an unknown member', { judgs: {} }, 'has the member `judgs`, which is unknown; there are: id, next, options'],
    ['no function', { onDecided: [] }, 'has `onDecided`, which is not a function'],
    ['options without a schema', { options: { looks: 1 } }, 'has `options` that are not a schema of `z`'],
    ['an option without a default', { options: z.strictObject({ looks: z.int() }) }, 'has an option without a default'],
    ['an unknown command', { commands: ['stop'] }, 'has `commands` that are not a list of: cancel, pause'],
    [
      'a judge without a question',
      { judges: { vote: { ...vote, question: {} } } },
      'without a `question` that was made with `question({ … })`',
    ],
    ['a judge without a function', { judges: { vote: { ...vote, take: undefined } } }, 'has the judge "vote" without the function `take`'],
    [
      'a misspelt member of a judge',
      { judges: { vote: { ...vote, takes: 1 } } },
      'has the judge "vote" with the member `takes`, which is unknown',
    ],
    [
      'a misspelt member of its planner',
      { planner: { fallbck: () => null } },
      'has a `planner` with the member `fallbck`, which is unknown',
    ],
    ['a planner whose function is none', { planner: { ask: {} } }, 'has a `planner` whose `ask` is not a function'],
    ['a limit of the wrong type', { limits: { asks: 1 } }, 'has wrong `limits`: "asks": Invalid input: expected boolean, received number'],
    ['a planAsk that `planAsk` did not make', { planAsk: {} }, 'has a `planAsk` that was not made with'],
  ])('with %s is refused when it is loaded', (_what, change, words) => {
    expect(() => written(change)).toThrow(words);
  });
});

describe('a question of an extension', () => {
  const room = { tokens: 1000, prompts: {} };
  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new RangeError('broken');
      },
      'The question "vote" failed in `prompt`: RangeError: broken',
    ],
    ['is a text', () => 'Vote', 'It returned a string that is not a list of'],
  ])('whose prompt %s fails as that of a strategy', (_what, prompt, words) => {
    const { ask: made } = describeQuestion({ name: 'vote', prompt: prompt as never, read: () => ({ output: {} }) });
    expect(() => made.prompt({ kind: 'values', values: {} }, room)).toThrow(words);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'failed in `read`: Error: broken',
    ],
    ['returns something else', () => ({ votes: 1 }), 'with neither an `output` that is an object nor a list `faults`'],
    ['returns what is not JSON', () => ({ output: { at: new Date(0) } }), 'output.at is a Date'],
  ])('whose reader %s makes the reply unreadable', (_what, read, words) => {
    const { ask: made } = describeQuestion({ name: 'vote', prompt: () => [], read: read as never });
    expect(made.read({ text: '', cutShort: false }, { kind: 'values', values: {} })).toEqual({ faults: [expect.stringContaining(words)] });
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no name', { name: undefined }, 'has no `name`'],
    ['no reader', { read: undefined }, 'has no function `read`'],
    ['an unknown member', { reasks: 2 }, 'has the member `reasks`'],
  ])('with %s is refused when it is loaded', (_what, change, words) => {
    const whole = { name: 'vote', prompt: () => [], read: () => ({ output: {} }), ...change };
    expect(() => describeQuestion(whole as never)).toThrow(words);
  });

  it('of a planner fills in what its tasks leave out', () => {
    const made = describePlanAsk({
      name: 'own',
      prompt: () => [],
      read: () => ({ output: { tasks: [{ id: 'a', capability: 'expert.general', task: 'Say it' }] } }),
    });
    const reading = made.read({ text: '', cutShort: false }, {} as never);
    expect(made.output.parse((reading as { output: unknown }).output)).toEqual({
      tasks: [{ id: 'a', capability: 'expert.general', task: 'Say it', query: null, needs: [], metadata_filters: null }],
      content: {},
    });
  });
});

describe('a capability of an extension', () => {
  it('gets the values that its schema makes from the arguments, which are sent as the plan wrote them', async () => {
    const { declaration, perform } = describeCapability({
      name: 'days',
      forPlanner: 'days',
      args: z.object({ from: z.coerce.date() }),
      perform: ({ args }) => Promise.resolve({ facts: [String(args['from'] instanceof Date)] }),
    });
    const spec = { ...research('t', ''), capability: 'days', args: { from: '2026-01-02' } };
    const input = declaration.input({ task: { spec } } as never);
    expect(input).toMatchObject({ values: { args: { from: '2026-01-02' } } });
    const values = (input as unknown as { values: { args: Record<string, unknown> } }).values;
    expect(await perform({ task: '', query: null, args: values.args }, {} as never)).toEqual({ facts: ['true'] });
    expect(declaration.faults!({ ...spec, args: { from: 'soon' } }, template())).toHaveLength(1);
  });

  it('with an unknown member is refused when it is loaded', () => {
    const typed = { name: 'idle', forPlanner: 'x', perform: () => Promise.resolve({ facts: [] }), repeatble: true };
    expect(() => describeCapability(typed)).toThrow('has the member `repeatble`');
  });
});

describe('the file of a strategy', () => {
  it('is named with what its functions return, and once with what they throw', () => {
    const said = (next: () => unknown): unknown => {
      describedIn('/srv/own/jury.mjs');
      const strategy = describeStrategy({ id: 'jury', next } as StrategyDescription<object>);
      describedIn(null);
      const run = new Scenario({ strategy: 'jury' }, strategy);
      run.requested();
      return run.completed()!['reason'];
    };
    expect(said(() => ({}))).toBe('The strategy "jury" failed in `next`: It returned an object, not a list of moves (jury.mjs).');
    const error = Object.assign(new TypeError('no list'), { stack: 'TypeError: no list\n    at next (file:///srv/own/jury.mjs:7:5)' });
    const thrown = said(() => {
      throw error;
    });
    expect(thrown).toBe('The strategy "jury" failed in `next`: TypeError: no list (jury.mjs:7:5)');
  });
});
