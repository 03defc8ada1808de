import { describe, expect, it } from '@jest/globals';
import type { RuleId, TaskDispatched, Template } from '@conclave/contracts';
import { oneCall, Scenario } from '../testing/scenario.js';
import { reasoning } from './reasoning.js';
import { anyRoom } from '../asks/ask.js';
import { prepareQuestion } from './asks.js';
import type { Decision, PrepareInput } from './values.js';

const tools = [
  { name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true, readOnly: true },
  { name: 'stock.order', description: 'Orders', signature: 'item: string', repeatable: false, readOnly: false },
];

/** A run driven by hand through the phases of the strategy. */
class Reasoned extends Scenario {
  begun(origin: 'runs' | 'chat' = 'runs'): this {
    this.requested(this.meant(), { origin });
    this.result('memory', { output: { kind: 'evidence', facts: [] } });
    return this;
  }
  meant(): object {
    const { options = {} } = this.request().data.template;
    return reasoning.means!(options).limits!;
  }
  steps(epoch: number, ...capabilities: string[]): this {
    const steps = capabilities.map((capability, n) => ({ capability, input_description: `do ${capability} ${epoch}.${n}`, reason: 'so' }));
    this.planned(epoch, [], oneCall, { content: { steps, impossible: null, working_memory: null } });
    return this;
  }
  says(name: string, values: object): this {
    this.result(this.open(`judge.${name}`), { output: { kind: 'values', values: { working_memory: null, ...values } } });
    return this;
  }
  /** The local id of the open task of a capability. */
  open(capability: string): string {
    const found = Object.entries(this.state!.tasks).find(([, { spec, status }]) => status === 'open' && spec.capability === capability);
    if (!found) throw new Error(`no open ${capability}; open: ${this.openTasks().join(', ')}`);
    return found[0].split('/').at(-1)!;
  }
  openTasks(): readonly string[] {
    return Object.values(this.state!.tasks).flatMap(({ spec, status }) => (status === 'open' ? [spec.capability] : []));
  }
  prepared(query: string): this {
    return this.says('prepare', { query, tool: null, args: {} });
  }
  scored(...[relevance, completeness = relevance, usability = relevance, goal_progress = relevance]: number[]): this {
    return this.says('evaluate', { rubric: { relevance, completeness, usability, goal_progress }, summary: 'so it is' });
  }
  /** One whole step of `research`. */
  step(query: string, score: number): this {
    this.prepared(query);
    this.found(this.open('research'), `fact of ${query}`);
    return this.scored(score);
  }
  decided(action: Decision['action'], more: Partial<Decision> = {}): this {
    return this.says('decide', { action, confidence: 0.9, reason: `because ${action}`, question: null, final_answer: null, ...more });
  }
  rules(): readonly RuleId[] {
    return this.state!.decisions.map(({ rule }) => rule);
  }
  memory(): string {
    return (this.state!.own as { memory: string }).memory;
  }
}
const run = (options: object = {}, changes: Partial<Template> = {}): Reasoned =>
  new Reasoned({ strategy: 'reasoning', options: { ...options }, tools, capabilities: ['research', 'math'], ...changes });
const words = ['red barn', 'blue whale', 'green tea', 'iron bridge', 'salt mine', 'paper crane', 'stone owl', 'glass fish', 'wild oat'];
const inputOf = (scenario: Scenario, capability: string): Record<string, unknown> =>
  (
    scenario.outputs
      .filter((event): event is TaskDispatched => event.type === 'TaskDispatched')
      .findLast(({ data }) => data.capability === capability)!.data.input as { values: Record<string, unknown> }
  ).values;

describe('a follow-up', () => {
  const conversation = [
    { role: 'user', content: 'Tell me about the Gull Bridge.' },
    { role: 'assistant', content: 'It turns.' },
  ];

  it('is searched with the question before it, which every phase after the plan is shown', () => {
    const r = run();
    r.requested(r.meant(), { origin: 'runs', goal: 'Who built it?', conversation } as never);
    const inputOf = (capability: string): unknown =>
      r.outputs
        .filter((event): event is TaskDispatched => event.type === 'TaskDispatched')
        .find(({ data }) => data.capability === capability)!.data.input;
    expect(inputOf('recall')).toMatchObject({ values: { query: 'Tell me about the Gull Bridge. Who built it?' } });
    r.result('memory', { output: { kind: 'evidence', facts: [] } });
    r.steps(1, 'research');
    const { values } = inputOf('judge.prepare') as { values: PrepareInput };
    expect(values.before).toEqual(['Tell me about the Gull Bridge.']);
    const shown = prepareQuestion.ask.prompt({ kind: 'values', values } as never, anyRoom).map(({ content }) => content);
    expect(shown.join('\n')).toContain('The user asked before: "Tell me about the Gull Bridge."');
  });
});

describe('a change', () => {
  const whitelist = { capability_whitelist: ['stock.order'] };
  const prepared = (r: Reasoned, args: Record<string, unknown>) => r.says('prepare', { query: null, tool: 'stock.order', args });
  const asked = (r: Reasoned) =>
    r.outputs
      .flatMap((event) => (event.type === 'TaskDispatched' ? [event as TaskDispatched] : []))
      .filter(({ data }) => data.capability === 'mcp');

  it('is made once, however its call is spelled', () => {
    const r = run(whitelist).begun().steps(1, 'stock.order', 'stock.order');
    prepared(r, { item_id: 5 }).found(r.open('mcp'), 'ordered');
    r.scored(5);
    prepared(r, { arguments: { itemId: '5' } });
    expect(asked(r)).toHaveLength(1);
  });

  it('is prepared from what stands behind a long result, too, and is sent back without a value for it', () => {
    const whitelisted = { capability_whitelist: ['stock.count', 'stock.order'] };
    const r = run(whitelisted).begun().steps(1, 'stock.count', 'stock.order');
    const counted = { rows: Array.from({ length: 200 }, (_, n) => ({ shelf: n, nuts: n * n })), receipt: { token: 'RCPT-7' } };
    r.says('prepare', { query: null, tool: 'stock.count', args: { item: 'nut' } }).found(r.open('mcp'), JSON.stringify(counted));
    r.scored(5);
    const values = inputOf(r, 'judge.prepare') as unknown as PrepareInput;
    const { prompt, read } = prepareQuestion.ask;
    const shown = prompt({ kind: 'values', values } as never, anyRoom).map(({ content }) => content);
    expect(shown.join('\n')).toContain('receipt: {"token":"RCPT-7"}');
    const reply = (item: string) =>
      read({ text: JSON.stringify({ input: { item }, working_memory: null }) } as never, { kind: 'values', values } as never);
    for (const said of ['<item>', '<token from stock.count>', '{{results[0].token}}'])
      expect(reply(said)).toEqual({ faults: [expect.stringMatching(/^In "item", ".*" stands for a value that is not filled in\. /)] });
    expect(reply('RCPT-7')).toMatchObject({ output: { values: { tool: 'stock.order', args: { item: 'RCPT-7' } } } });
  });

  it('that failed is told to the composer, and that it was not made if this is certain', () => {
    const r = run(whitelist).begun().steps(1, 'stock.order');
    prepared(r, { item: 'nut' });
    const failure = { code: 'TOOL_SERVER_UNAVAILABLE', message: 'away', retriable: true, unsent: true as const };
    r.result(r.open('mcp'), { status: 'error', output: null, failure });
    r.decided('done', { final_answer: null });
    const { input } = r.outputs.flatMap((event) => (event.type === 'TaskDispatched' ? [(event as TaskDispatched).data] : [])).at(-1)!;
    expect(input).toMatchObject({ kind: 'synthesis', undone: [{ call: 'stock.order (item: nut)', reason: 'away', unsent: true }] });
  });
});

describe('the decision table of reasoning', () => {
  it('D5 continues with the plan while steps are clean, also a partial one; D3 ends it when all are done and the last is good', () => {
    const r = run().begun().steps(1, 'research', 'research').step('red barn', 2).step('blue whale', 3.5);
    expect(r.rules()).toEqual(['D5', 'D3']);
    r.composed('Both.');
    expect(r.completed()).toMatchObject({ outcome: 'completed', answer: 'Both.', rounds: 2 });
  });

  it('D11 asks the model if the last step is only partial; done needs the confidence, else the step is repeated', () => {
    const r = run().begun().steps(1, 'research').step('red barn', 3).decided('done', { confidence: 0.5, final_answer: 'Perhaps.' });
    expect(r.rules()).toEqual(['D11', 'D11']);
    r.step('blue whale', 3).decided('done', { confidence: 0.7, final_answer: 'Surely.' });
    expect(r.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'Surely.', reason: expect.stringContaining('0.7') });
  });

  it('D4 ends after low scores in a row, though every step itself succeeded', () => {
    const r = run().begun().steps(1, 'research', 'research', 'research');
    for (const word of words.slice(0, 3)) {
      r.step(word, 1);
      if (word !== words[2]) r.decided('continue');
    }
    r.composed('Nothing of use.');
    expect([r.rules(), r.completed()]).toMatchObject([
      ['D11', 'D11', 'D11', 'D11', 'D4'],
      { outcome: 'stuck', reason: expect.stringContaining('3 rounds in a row failed') },
    ]);
  });

  it('D4 ends if the model says stuck, and if decisions stay unreadable', () => {
    const said = run().begun().steps(1, 'research').step('red barn', 1).decided('stuck');
    expect(said.rules()).toEqual(['D11', 'D4']);
    const mute = run().begun().steps(1, 'research').step('red barn', 1);
    for (let n = 0; n < 2; n += 1) mute.failed(mute.open('judge.decide'));
    mute.composed('So far.');
    expect(mute.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4' });
  });

  it('D9 adjusts with the reason and the steps done; three adjusts at high confidence end in a summary (D8)', () => {
    const r = run().begun();
    for (let epoch = 1; epoch <= 3; epoch += 1) {
      r.steps(epoch, 'research')
        .step(words[epoch]!, 3)
        .decided('adjust', { reason: `other ${epoch}` });
      if (epoch < 3)
        expect(r.outputs.findLast(({ type }) => type === 'GapDetected')!.data).toMatchObject({
          asked: { reason: `other ${epoch}`, done: expect.arrayContaining([expect.objectContaining({ status: 'done' })]) },
        });
    }
    r.composed('What there is.');
    expect(r.rules()).toEqual(['D11', 'D9', 'D11', 'D9', 'D11', 'D8']);
    expect(r.completed()).toMatchObject({ outcome: 'stalled', reason: expect.stringContaining('changed 3 times at high confidence') });
  });

  it('adjusts below the confidence do not count towards that', () => {
    const r = run().begun();
    for (let epoch = 1; epoch <= 4; epoch += 1) r.steps(epoch, 'research').step(words[epoch]!, 3).decided('adjust', { confidence: 0.6 });
    expect(r.rules().filter((rule) => rule === 'D9')).toHaveLength(4);
  });

  it('D10 asks, waits with the clock stopped, and plans again with the answer', () => {
    const r = run().begun().steps(1, 'research').step('red barn', 2).decided('ask_user', { question: 'Which barn?' });
    expect(r.state).toMatchObject({ question: { text: 'Which barn?' }, since: null });
    r.now += 100_000;
    r.command(1, { name: 'answer', text: 'The old one' });
    expect(r.rules()).toEqual(['D11', 'D10']);
    expect(r.outputs.findLast(({ type }) => type === 'GapDetected')!.data).toMatchObject({
      memory: { userInputs: [{ text: 'The old one' }] },
    });
    r.steps(2, 'research').step('blue whale', 5);
    r.composed('Done.');
    expect(r.completed()).toMatchObject({ outcome: 'completed' });
  });

  it('a chat is not asked unless the template allows it', () => {
    const mayAsk = (options: object, origin: 'runs' | 'chat'): unknown => {
      const r = run(options).begun(origin).steps(1, 'research').step('red barn', 2);
      return inputOf(r, 'judge.decide')['mayAsk'];
    };
    expect([mayAsk({}, 'runs'), mayAsk({}, 'chat'), mayAsk({ ask_user: 'always' }, 'chat'), mayAsk({ ask_user: 'never' }, 'runs')]).toEqual(
      [true, false, true, false],
    );
  });

  it('D6 ends before a held plan exceeds the rounds', () => {
    const r = run({ max_iterations: 2 }).begun().steps(1, 'research', 'research', 'research').step('red barn', 4).step('blue whale', 4);
    r.composed('Two of three.');
    expect([r.rules(), r.completed()]).toMatchObject([
      ['D5', 'D6'],
      { outcome: 'limit_reached', reason: expect.stringContaining('the plan had steps left') },
    ]);
  });

  it('D7 plans again once, with what was tried forbidden, if rounds bring nothing new; D8 ends the next time', () => {
    const same = (r: Reasoned, query: string): void => {
      r.prepared(query);
      r.found(r.open('research'), 'the same page');
      r.scored(3);
    };
    const r = run().begun().steps(1, 'research', 'research', 'research');
    for (const word of words.slice(0, 3)) same(r, word);
    expect(r.outputs.findLast(({ type }) => type === 'GapDetected')!.data).toMatchObject({
      asked: { forbidden: expect.arrayContaining(['research: red barn']) },
    });
    r.steps(2, 'research');
    same(r, words[3]!);
    r.composed('One page.');
    expect([r.rules(), r.completed()]).toMatchObject([['D5', 'D5', 'D7', 'D8'], { outcome: 'stalled' }]);
  });

  it('D2 ends with what was found if the budget leaves no call for the next phase', () => {
    const r = run();
    r.requested({ ...r.meant(), model_calls: 4 }, { origin: 'runs' });
    r.result('memory', { output: { kind: 'evidence', facts: [] } });
    r.steps(1, 'research', 'research').prepared('red barn');
    r.found(r.open('research'), 'a fact');
    expect(r.rules()).toEqual(['D2']);
    expect(r.state!.ending ?? r.completed()).toMatchObject({ outcome: 'limit_reached' });
  });
});

describe('a held plan of reasoning', () => {
  it('is stuck at once if the goal is out of reach', () => {
    const r = run().begun();
    r.planned(1, [], oneCall, { content: { steps: [], impossible: 'no way', working_memory: null } });
    expect(r.completed()).toMatchObject({ rule: 'D4', outcome: 'failed', reason: expect.stringContaining('no way') });
  });

  it.each([
    ['a capability that is not on the list', ['rocket']],
    ['a tool that changes something', ['stock.order']],
    ['too many steps', Array<string>(9).fill('research')],
    ['no step', []],
  ])('is refused by the engine with %s', (_what, capabilities) => {
    const r = run().begun();
    r.steps(1, ...capabilities);
    expect(r.facts.map(({ kind }) => kind)).toContain('PlanRefused');
  });

  it('may name a tool that changes something if the template lists it', () => {
    const r = run({ capability_whitelist: ['stock.order'] })
      .begun()
      .steps(1, 'stock.order');
    r.says('prepare', { query: null, tool: 'stock.order', args: { item: 'nut' } });
    expect(r.outputs.at(-1)).toMatchObject({
      data: { capability: 'mcp', timeoutS: 120, input: { kind: 'mcp', tool: 'stock.order', args: { item: 'nut' } } },
    });
  });

  it('has 120 s and 300 s for each step, more after a change of plan, and never more than its limit', () => {
    const wall = (r: Reasoned): number => r.state!.wallS!;
    const r = run().begun();
    expect(wall(r)).toBe(420);
    r.steps(1, 'research', 'research', 'research');
    expect(wall(r)).toBe(1_020);
    r.step('red barn', 1).decided('adjust').steps(2, 'research', 'research');
    expect(wall(r)).toBe(120 + 300 * 3);
    r.now += 1_021_000 * 0.86;
    r.fired();
    expect(r.completed() ?? r.state!.ending).toMatchObject({ rule: 'D2', reason: expect.stringContaining('wall time') });
  });
});

describe('the working memory of reasoning', () => {
  it('is replaced by each reply that has one, and by nothing else', () => {
    const r = run().begun().steps(1, 'research', 'research');
    r.says('prepare', { query: 'red barn', tool: null, args: {}, working_memory: 'looking' });
    r.command(1, { name: 'add_context', text: 'it is old' });
    expect(r.memory()).toBe('looking');
    r.found(r.open('research'), 'a fact');
    r.scored(4);
    expect(r.memory()).toBe('looking');
    expect(inputOf(r, 'judge.prepare')).toMatchObject({ memory: 'looking' });
    expect(r.outputs.findLast(({ type }) => type === 'TaskDispatched')!.data).toMatchObject({ userInputs: ['[USER CONTEXT] it is old'] });
    expect(r.facts.filter(({ kind }) => kind === 'MemoryReplaced')).toMatchObject([{ by: 'execution', text: 'looking' }]);
  });

  it('is compressed every three rounds if it is long, and stays if that fails', () => {
    const r = run()
      .begun()
      .steps(1, ...Array<string>(7).fill('research'));
    r.says('prepare', { query: words[0], tool: null, args: {}, working_memory: 'x'.repeat(600) });
    r.found(r.open('research'), 'fact 0');
    r.scored(4).step(words[1]!, 4).prepared(words[2]!);
    r.found(r.open('research'), 'fact 2');
    r.scored(4);
    expect(r.openTasks()).toEqual(['judge.compress']);
    r.failed(r.open('judge.compress'));
    expect(r.memory()).toHaveLength(600);
    for (const word of words.slice(3, 6)) r.step(word, 4);
    r.says('compress', { working_memory: 'short' });
    expect(r.memory()).toBe('short');
    expect(r.facts.filter(({ kind }) => kind === 'MemoryCompressed')).toMatchObject([{ before: 600, text: 'short' }]);
  });
});

describe('a step of the user', () => {
  it('cancels the task in flight, runs with its given input, is scored, and does not change the position in the plan', () => {
    const r = run().begun().steps(1, 'research').prepared('red barn');
    r.command(1, { name: 'override_step', skill: 'stock.count', input: '{"item": "nut"}' });
    expect(r.openTasks()).toEqual(['mcp']);
    r.found(r.open('mcp'), '3 nuts');
    r.scored(4);
    expect([r.rules(), r.openTasks()]).toEqual([['D5'], ['judge.prepare']]);
    expect(inputOf(r, 'judge.prepare')).toMatchObject({ step: { capability: 'research' } });
  });

  it('is not lost if it waited for the answer to a question: it runs after the plan that the answer brings', () => {
    const r = run().begun().steps(1, 'research').step('red barn', 2).decided('ask_user', { question: 'Which barn?' });
    r.command(1, { name: 'override_step', skill: 'stock.count', input: '{"item": "nut"}' });
    r.command(2, { name: 'answer', text: 'The old one' });
    r.steps(2, 'research');
    expect(r.openTasks()).toEqual(['mcp']);
    r.found(r.open('mcp'), '3 nuts');
    r.scored(4);
    expect(inputOf(r, 'judge.prepare')).toMatchObject({ step: { capability: 'research' } });
  });

  it('is refused if it is not on the list, or has no arguments for a tool', () => {
    const r = run().begun().steps(1, 'research');
    r.command(1, { name: 'override_step', skill: 'stock.order', input: '{}' });
    r.command(2, { name: 'override_step', skill: 'stock.count', input: 'nuts' });
    expect(r.facts.filter(({ kind }) => kind === 'CommandRejected')).toHaveLength(2);
    expect(r.openTasks()).toEqual(['judge.prepare']);
  });
});

describe('the input of the decider', () => {
  it('is the trend of the last three scores', () => {
    const r = run().begun().steps(1, 'research', 'research', 'research').step('red barn', 5).step('blue whale', 4).step('green tea', 3);
    expect(inputOf(r, 'judge.decide')).toMatchObject({ trend: 'DEGRADING', round: 3, of: 15, failures: 0 });
  });
});
