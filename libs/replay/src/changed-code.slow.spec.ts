import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { GapVerdict } from '@conclave/contracts';
import type { Judge } from '@conclave/loop';
import type * as Strategies from '@conclave/strategies';

/** Prompts, parsers and rules of today's code; tests change some of them, as a developer would. */
const real: typeof Strategies = await import('@conclave/strategies');
let changed: Partial<typeof Strategies> = {};
const changeable = Object.fromEntries(
  Object.entries(real).map(([name, value]: [string, unknown]) => {
    const today = (...args: unknown[]): unknown =>
      (((changed as Record<string, unknown>)[name] ?? value) as (...all: unknown[]) => unknown)(...args);
    // An ask is proxied: its members are read when it is performed.
    if (name.endsWith('Ask'))
      return [
        name,
        new Proxy(value as object, { get: (ask, key) => Reflect.get((changed as Record<string, object>)[name] ?? ask, key) as unknown }),
      ];
    // Classes begin with a capital and are not wrapped.
    return [name, typeof value === 'function' && !/^[A-Z]/.test(name) ? today : value];
  }),
);
jest.unstable_mockModule('@conclave/strategies', () => changeable);
const { recordsOf, replayOf } = await import('./__fixtures__/recorded-runs.js');
const { replayedText } = await import('./replayed-text.js');

beforeEach(() => {
  changed = {};
});

const records = await recordsOf('agentic');
const { runId } = records[0]!.event!;
const textOf = async (): Promise<string> => replayedText(await replayOf(records));
/** Everything after the run's id, with its own ids shortened. */
const verdict = async (): Promise<string> => (await textOf()).slice(runId.length + 2).replaceAll(`${runId}/`, '');

type Prompt = readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
const reworded = (prompt: Prompt, from: string, to: string): Prompt =>
  prompt.map((message) => ({ ...message, content: message.content.replace(from, to) }));
const rewordedAsk = <In, Out>(ask: Strategies.Ask<In, Out>, from: string, to: string): Strategies.Ask<In, Out> => ({
  ...ask,
  prompt: (input, room) => reworded(ask.prompt(input, room), from, to),
});
const changedStrategy =
  (changes: Partial<Strategies.AskingStrategy>) =>
  (id: string): Strategies.AskingStrategy => ({ ...real.strategyOf(id), ...changes });
type AnyAsk = Strategies.AnyQuestion['ask'];
/** The strategies with one judge's ask changed. */
const changedJudge = (name: string, change: (ask: AnyAsk) => AnyAsk): Partial<typeof Strategies> => ({
  knownStrategy: (id) => {
    const strategy = real.strategyOf(id);
    const judge = strategy.judges[name]!;
    const question = { ...judge.question, ask: change(judge.question.ask) };
    return { ...strategy, judges: { ...strategy.judges, [name]: { ...judge, question } } };
  },
});

const isEnough = changedStrategy({
  next: (view) =>
    real
      .strategyOf('agentic')
      .next(view)
      .map((move) => (move.do === 'decide' ? { do: 'decide', reading: { by: 'assessment', sufficient: true } } : move)),
});

describe('a run that was recorded before the code was changed', () => {
  it('is the same while nothing is changed', async () => {
    expect(await verdict()).toMatch(/^same decisions, same state: /);
  });

  it('names the line of the first planner prompt that differs', async () => {
    changed = { planAsk: rewordedAsk(real.planAsk, 'A simple question is exactly one task', 'A simple question is one task') };
    expect(await verdict()).toMatch(
      /^the prompt of 0\/plan\/call\/0 \(plan\) differs, after 1 step, 1 calls?, 0 outcomes that are the same · hash \w+\n {2}message {3}1 \(system\), line \d+\n {2}recorded {2}- A simple question is exactly one task\.\n {2}now {7}- A simple question is one task\.\n {2}and {7}\d more differs? after it\n$/,
    );
  });

  it('finds a prompt that is changed only for the re-plan', async () => {
    const other = rewordedAsk(real.planAsk, 'Do NOT repeat', 'Never repeat');
    changed = { planAsk: { ...other, prompt: (input, room) => (input.gap ? other : real.planAsk).prompt(input, room) } };
    expect(await verdict()).toMatch(/^the prompt of 1\/plan\/call\/0 \(plan\) differs, after [1-9]\d* steps, [1-9]\d* calls/);
  });

  it.each([
    [
      'expert',
      {
        expertPrompt: (...args: Parameters<typeof real.expertPrompt>) =>
          reworded(real.expertPrompt(...args), 'FINDING: your core', 'Other words'),
      },
      'FINDING: your core',
      '0/x1/call/0 (expert.general)',
    ],
    [
      'gap check',
      changedJudge('gap', (ask) => rewordedAsk(ask, 'assess completion', 'Other words')),
      'assess completion',
      '0/judge.gap/call/0 (judge.gap)',
    ],
    [
      'synthesis',
      changedJudge('synthesis', (ask) => rewordedAsk(ask, 'Write the answer to the question', 'Other words')),
      'Write the answer to the question',
      '1/judge.synthesis/call/0 (judge.synthesis)',
    ],
  ])('finds a changed prompt of the %s', async (_what, other, words, step) => {
    changed = other;
    const text = await verdict();
    expect(text).toContain(`the prompt of ${step} differs`);
    expect(text).toMatch(new RegExp(`\\n  recorded  .*${words}.*\\n  now       .*Other words`));
  });

  it('names the members that a changed parser reads differently', async () => {
    const assessment: GapVerdict = { verdict: 'complete', gap: 'none', nextFocus: 'none', parsed: true };
    changed = changedJudge('gap', (ask) => ({ ...ask, read: () => ({ output: { kind: 'assessment', assessment } }) }));
    const text = await verdict();
    expect(text).toMatch(
      /^ResultReady 0\/judge\.gap\/result differs: the same replies are read differently, after \d+ steps, \d+ calls, \d+ outcomes/,
    );
    expect(text).toContain('\n  member    output.assessment.');
  });

  it('names the call that a stricter parser would make', async () => {
    changed = { planAsk: { ...real.planAsk, read: () => ({ faults: ['Everything is wrong today.'] }) } };
    expect(await verdict()).toMatch(
      /^a call that was never made: 0\/plan\/call\/32 \(plan\) to \S+, after 1 step, 2 calls, 0 outcomes .*\n {2}now {7}it asks: .*Everything is wrong today\./,
    );
  });

  it('says that a reader fails today', async () => {
    changed = {
      readExpert: () => {
        throw new TypeError('no such marker');
      },
    };
    expect(await verdict()).toMatch(/^today's code fails on 0\/x1, after .*\n {2}now {7}no such marker\n/);
  });

  it('reports the step and the first fact at which a changed strategy decides differently', async () => {
    changed = { strategyOf: isEnough };
    const text = await verdict();
    expect(text).toMatch(
      /^step \d+ differs in facts, outputs, hash(, state)?, after [1-9]\d* steps, [1-9]\d* calls, [1-9]\d* outcomes that are the same /,
    );
    expect(text).toMatch(
      /\n {2}input {5}ResultReady 0\/judge\.gap\/result\n {2}recorded {2}fact {4}Still missing: .*\n {12}outputs GapDetected 0\/gap\n/,
    );
    expect(text).toMatch(
      /\n {2}now {7}fact {4}Nothing is missing\.\n {12}outputs TaskDispatched 0\/judge\.synthesis\n {12}hash {4}[0-9a-f]{32}\n/,
    );
  });

  it('names an event that the engine fills differently although its decision is the same', async () => {
    const { judges } = real.strategyOf('agentic');
    const asked: Judge<unknown>['input'] = (view, ref) => ({ ...judges['gap']!.input(view, ref), question: 'Another?' }) as never;
    changed = {
      strategyOf: changedStrategy({ judges: { ...judges, gap: { ...judges['gap']!, input: asked } } }),
    };
    const text = await verdict();
    expect(text).toMatch(/^step \d+ outputs a different TaskDispatched, after /);
    expect(text).toContain('event     TaskDispatched 0/judge.gap\n  member    input.question\n  recorded  In which town');
  });

  it('reports the first difference of the run, be it a prompt or a rule', async () => {
    const rule = { strategyOf: isEnough };
    changed = { ...rule, synthesisAsk: rewordedAsk(real.synthesisAsk, 'Write', 'Compose') };
    expect(await verdict()).toMatch(/^step \d+ differs in facts/);
    changed = { ...rule, expertPrompt: (...args) => reworded(real.expertPrompt(...args), 'Answer in', 'Reply in') };
    expect(await verdict()).toMatch(/^the prompt of 0\/x1\/call\/0 /);
  });

  it('returns another hash for other decisions, and the same for the same', async () => {
    const before = await replayOf(records);
    expect((await replayOf(records)).hash).toBe(before.hash);
    changed = { planAsk: rewordedAsk(real.planAsk, 'JSON only', 'JSON') };
    const after = await replayOf(records);
    expect(after.hash).not.toBe(before.hash);
    expect(await replayOf(records)).toEqual(after);
  });
});
