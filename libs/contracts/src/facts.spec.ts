import { describe, expect, it } from '@jest/globals';
import type { RequestedTask } from './fact-values.js';
import { factSentence, isQuiet, type RunFact } from './facts.js';

const said = (fact: object, asked: ReadonlyMap<string, RequestedTask> = new Map()): string => factSentence(fact as RunFact, asked);
const spec = { capability: 'mcp', task: 'Find the owner', query: null, needs: [], metadata_filters: null };
const wish = (more: object, around: object = {}) => ({ spec: { ...spec, ...more }, ...around }) as unknown as RequestedTask;
const admitted = (more: object, around: object = {}) =>
  said({ kind: 'TaskAdmitted', ref: 'run_1/0/o1', epoch: 0, wish: wish(more, around) });

const plan = {
  ...{ tasks: [{}, {}], complexity: 'moderate', signals: [], safety: [], fallback: false, cached: false, reAsks: 0 },
  usage: { calls: 1 },
};
const taken = (by: string, more: object) => said({ kind: 'PlanTaken', epoch: 2, by, plan: { ...plan, ...more } });

const result = {
  status: 'ok',
  durationMs: 12,
  failure: null,
  output: null,
  confidence: null,
  model: null,
  usage: { calls: 0 },
  attempt: 1,
};
const settled = (text: string, more: object = {}, asked: ReadonlyMap<string, RequestedTask> = new Map()) =>
  said({ kind: 'TaskSettled', ref: 'run_1/0/o1', capability: 'mcp', facts: 1, text, result: { ...result, ...more } }, asked);
const judged = (output: object) =>
  said({
    ...{ kind: 'TaskSettled', ref: 'run_1/0/judge.gap', capability: 'judge.gap', facts: 0, text: '' },
    result: { ...result, model: 'm@p', usage: { calls: 1 }, output },
  });
const assessed = (reading: object) => said({ kind: 'Assessed', epoch: 0, reading });

describe('the sentence of a fact', () => {
  it('says of a request which documents it quotes, and what was asked about the tools of its client', () => {
    const request = { caller: { actor: 'ann', tenant: 'default' }, template: { id: 't' }, goal: 'Who?', conversation: [] };
    const began = (more: object): string => said({ kind: 'RunStarted', maxRounds: 1, request: { ...request, ...more } });
    expect(began({})).toMatch(/makes up to 1 round: Who\?$/);
    const conversation = [{ role: 'user' }, { role: 'assistant' }];
    const attachments = [
      { kind: 'image', name: 'quay.png' },
      { kind: 'image', name: null },
    ];
    expect(began({ conversation, attachments })).toMatch(
      /up to 1 round, after 2 earlier messages, with 2 attachments \(quay\.png, image\): Who\?$/,
    );
    const documents = [{ title: 'harbor.txt' }, { title: 'ferries.txt' }];
    expect(began({ documents })).toMatch(/with 2 documents that the request quotes \(\[1\] harbor\.txt, \[2\] ferries\.txt\): Who\?$/);
    const clientTools = { model: 'm@p', usage: { calls: 2 }, calls: [] };
    expect(began({ clientTools })).toMatch(/round, after 2 model calls to m@p about the tools of the client: Who\?$/);
    const applied = { kind: 'CommandApplied', seq: 1, name: 'answer', epoch: 0 };
    expect(said({ ...applied, evidence: [{ text: 'weather(): rain' }, { text: 'time(): noon' }] })).toBe(
      'Command 1 (answer) was applied, with results of the tools of the client: weather(): rain; time(): noon',
    );
  });

  it('names the tool with its arguments, or the query of a search', () => {
    expect(admitted({ tool: 'clinic.find_owner', args: { name: 'Ada' } })).toBe(
      'Task 0/o1 (mcp) was added: Find the owner (clinic.find_owner {"name":"Ada"})',
    );
    expect(admitted({ task: 'Call clinic.find_owner', tool: 'clinic.find_owner', args: { id: 7 } })).toMatch(
      /: Call clinic\.find_owner \(\{"id":7\}\)$/,
    );
    expect(admitted({ args: { name: 'Ada' } })).toMatch(/: Find the owner \(\{"name":"Ada"\}\)$/);
    expect(admitted({ capability: 'subtopic', args: { collections: [] } })).toMatch(/: Find the owner$/);
    expect(admitted({ task: 'Call t', tool: 't', args: { names: [] } })).toMatch(/: Call t \(\{"names":\[\]\}\)$/);
    expect(admitted({ capability: 'research', query: 'owner of Rex' })).toMatch(/: Find the owner \(search "owner of Rex"\)$/);
    expect(admitted({ query: 'Find the owner' })).toMatch(/: Find the owner$/);
    expect(admitted({ task: 'Search: owner of Rex', query: 'owner of Rex' })).toMatch(/: Search: owner of Rex$/);
    expect(admitted({ tool: 't', args: { text: 'x'.repeat(5_000) } }).length).toBeLessThan(400);
  });

  it('says what a task waits for, and why an expert is asked again', () => {
    expect(admitted({ needs: ['r1', 'run_1/0/r2'] })).toContain('was added, after 0/r1 and 0/r2: ');
    expect(admitted({ needs: ['r1'] }, { tier: 'always', origin: 'x1' })).toContain(
      'was added beside 0/x1, because its model always answers too, after 0/r1: ',
    );
    expect(admitted({}, { again: 'run_1/0/x1', hints: 'Name the year.' })).toBe(
      'Task 0/o1 (mcp) was added, because the answer of 0/x1 was unsure: Find the owner Hint: Name the year.',
    );
  });

  it('says where a plan came from, and what its planner says beside the tasks', () => {
    expect(taken('planner', {})).toBe('Plan 2, from the planner in 1 model call, was accepted with 2 tasks.');
    expect(taken('planner', { usage: { calls: 0 } })).toContain('from the planner without asking a model');
    expect(taken('planner', { reAsks: 1 })).toContain('from the planner, which was asked again 1 time, in 1 model call, was');
    expect(taken('planner', { fallback: true })).toContain('because none was usable in 1 model call, was');
    expect(taken('planner', { cached: true })).toContain('from the plan cache');
    expect(taken('engine', {})).toContain('from the strategy itself');
    expect(taken('planner', { signals: ['words:4'], safety: ['medicine'] })).toMatch(
      / and the level moderate, where .* harm \(medicine\)\.$/,
    );
    expect(taken('planner', { tasks: [], content: { status: 'done', slots: {}, reasoning: 'Both days are known.', hint: null } })).toBe(
      'Plan 2, from the planner in 1 model call, was accepted: status = done, reasoning = Both days are known., hint = none',
    );
  });

  it('contains what a task found and who was asked, or why it failed, in one line', () => {
    expect(settled('{"open":\n true}')).toBe('Task 0/o1 (mcp) succeeded after 12 ms with 1 new fact: {"open": true}');
    expect(settled('', { confidence: 0.5, usage: { calls: 1 }, model: 'm@p' })).toBe(
      'Task 0/o1 (mcp) succeeded after 12 ms with 1 new fact, confidence 0.5, 1 model call to m@p.',
    );
    expect(settled('', { failure: { message: 'No owner has this name.' } })).toMatch(/: No owner has this name\.$/);
  });

  it('says of several calls only that the model that answered got the last, and which models come before it', () => {
    const answered = { usage: { calls: 4 }, model: 'b@q' };
    expect(settled('', answered)).toMatch(/, 4 model calls, the last to b@q\.$/);
    const asked = new Map([['run_1/0/o1', wish({}, { models: ['a@p', 'c@p', 'b@q'] })]]);
    expect(settled('', answered, asked)).toMatch(/, 4 model calls, the last to b@q in place of a@p and c@p\.$/);
    expect(settled('', { usage: { calls: 1 }, model: 'b@q' }, asked)).toMatch(/, 1 model call to b@q in place of a@p and c@p\.$/);
    expect(settled('', { usage: { calls: 2 }, model: 'a@p' }, asked)).toMatch(/, 2 model calls, the last to a@p\.$/);
    expect(settled('', { usage: { calls: 2 }, model: null }, asked)).toMatch(/, 2 model calls\.$/);
  });

  it('says that a task was begun again, whichever of its calls that was', () => {
    expect(settled('17', { attempt: 10_001 })).toBe('Task 0/o1 (mcp) succeeded after 12 ms with 1 new fact: 17');
    for (const attempt of [2, 10_003, 101])
      expect(settled('17', { attempt })).toBe(
        'Task 0/o1 (mcp) succeeded after 12 ms, begun again after an interruption, with 1 new fact: 17',
      );
    const bare = said({
      kind: 'TaskSettled',
      ref: 'run_1/0/o1',
      capability: 'mcp',
      facts: 0,
      text: 'No.',
      result: { ...result, attempt: 2 },
    });
    expect(bare).toBe('Task 0/o1 (mcp) succeeded after 12 ms, begun again after an interruption: No.');
  });

  it('says that a search found nothing, and what a plan cost that did not come', () => {
    expect(settled('', { output: { kind: 'evidence', facts: [] } })).toMatch(/: it found nothing$/);
    const refused = { kind: 'PlanRefused', epoch: 1, why: 'The model server failed.', usage: { calls: 4 } };
    expect(said(refused)).toBe('There is no plan 1, after 4 model calls: The model server failed.');
  });

  it('repeats what a task was asked, with its arguments, if it failed or was not run', () => {
    const asked = new Map([['run_1/0/o1', wish({ tool: 'clinic.find_owner', args: { name: 'Ada' } })]]);
    expect(settled('', { status: 'error', failure: { message: 'Unknown.' } }, asked)).toMatch(
      /^Task 0\/o1 \(mcp\), asked for "Find the owner \(clinic\.find_owner \{"name":"Ada"\}\)", ended as error after 12 ms .*: Unknown\.$/,
    );
    const refused = { kind: 'TaskRefused', ref: 'run_1/0/o1', capability: 'mcp', why: 'exhausted' };
    expect(said(refused, asked)).toContain('{"name":"Ada"})", was not run: Dropped: failed twice before.');
    expect(said(refused)).toBe('Task 0/o1 (mcp) was not run: Dropped: failed twice before.');
  });

  it('names the run that a task started', () => {
    const child = { kind: 'TaskSettled', ref: 'run_abcd1234/0/t1', capability: 'run', facts: 0, text: 'It was.', result };
    expect(said(child)).toContain('Task 0/t1 (run run_abcd1234~0.t1) succeeded');
  });

  it.each([
    [{ kind: 'assessment', assessment: { verdict: 'needs_more_info', gap: 'the year', nextFocus: '', parsed: true } }, 'missing: the year'],
    [{ kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: true } }, 'nothing is missing'],
    [{ kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: false } }, 'no verdict that could be read'],
    [{ kind: 'values', values: { doubt: 'the year of birth', sure: false } }, 'doubt = the year of birth, sure = false'],
    [{ kind: 'critique', verdict: 'corrected', reasons: ['It names no limit.'], text: 'x' }, 'corrected: It names no limit.'],
    [{ kind: 'critique', verdict: 'unparsable', reasons: [], text: null }, 'its reply held no verdict that could be read'],
    [{ kind: 'hints', hints: { 'run_1/0/x1': 'Name the year.' } }, '0/x1 = Name the year.'],
    [{ kind: 'scores', scores: [{ taskId: 'run_1/0/x1', before: 0.4, after: 0.8 }] }, '0/x1: 0.4 -> 0.8'],
    [{ kind: 'thinking', text: 'Both agree.' }, 'Both agree.'],
    [{ kind: 'evidence', facts: [{ text: 'It was 1902.' }] }, 'It was 1902.'],
    [{ kind: 'synthesis', text: 'In 1902.', cutShort: false, unsupported: [{}] }, 'an answer of 8 characters, 1 sentence not supported'],
  ])('contains the verdict of a judge: %j', (output, words) => {
    expect(judged(output)).toMatch(/^Task 0\/judge\.gap succeeded after 12 ms with 1 model call to m@p: /);
    expect(judged(output)).toContain(words);
  });

  it('says what was assessed, and by whom, or that nothing was', () => {
    expect(assessed({ by: 'assessment', sufficient: true })).toBe('Nothing is missing.');
    expect(assessed({ by: 'assessment', sufficient: true, unread: 'unreadable' })).toBe(
      'Whether something is missing is not known: the gap check gave no verdict that could be read.',
    );
    expect(assessed({ by: 'assessment', sufficient: false, unaffordable: 'the gap check' })).toContain('no model call for the gap check');
    expect(assessed({ by: 'model', sufficient: false, held: 1 })).toBe('No model was asked whether the goal is reached.');
    expect(assessed({ by: 'model', question: 'Which one?' })).toBe('The model wants to ask the user.');
    expect(assessed({ by: 'model', model: 'adjust', open: 'the plan does not work' })).toBe(
      'The model wants another plan: the plan does not work',
    );
    expect(assessed({ by: 'model', sufficient: true, confidence: 0.9, model: 'continue' })).toContain('with confidence 0.9');
  });

  it('says what a decision leads to, and what a run cost and answered', () => {
    const decided = { kind: 'Decided', epoch: 0, at: 0, rule: 'D9', then: 'adjust', sentence: 'Still missing: the year' };
    expect(said(decided)).toBe('By rule D9, the run plans again: Still missing: the year');
    const ended = {
      ...{ kind: 'RunEnded', ending: { outcome: 'completed', reason: 'Nothing is missing' }, openCalls: 0 },
      ...{ answer: { text: 'In 1902.' }, usage: { calls: 2, prompt: 90, completion: 9 } },
    };
    expect(said(ended)).toBe('The run ended as completed: Nothing is missing. It made 2 model calls with 99 tokens. Its answer: In 1902.');
    expect(said({ ...ended, answer: { text: 'In 19', cutShort: true } })).toMatch(/ Its answer, which was cut short: In 19$/);
    expect(said({ ...ended, answer: null, openCalls: 1, usage: { calls: 0, prompt: 0, completion: 0 } })).toMatch(
      / It made no model call\. 1 of its plans and tasks had not answered by then\. It has no answer\.$/,
    );
  });

  it('contains the text of a command and the values of a note', () => {
    const command = { kind: 'CommandAccepted', seq: 1, name: 'answer', actor: 'ada', text: 'B please' };
    expect(said(command)).toBe('Command 1 (answer) from ada arrived: B please');
    expect(said({ ...command, text: undefined })).toBe('Command 1 (answer) from ada arrived.');
    expect(said({ kind: 'CommandQueued', seq: 1, command: { name: 'override_step', skill: 'research', input: 'Ada' } })).toBe(
      'Command 1 (override_step) waits for the strategy: skill = research, input = Ada',
    );
    expect(said({ kind: 'Noted', data: { bracket: ['a', 'b'], doubt: null } })).toBe(
      'The strategy notes for itself: bracket = ["a","b"], doubt = none',
    );
    expect(said({ kind: 'Noted', stage: 'evaluating', text: '' })).toBe('The run is at the stage evaluating.');
  });

  it('is left out of lists for people if the facts around it say the same', () => {
    expect([{ kind: 'Turn', hook: 'result' }, { kind: 'Finishing' }, { kind: 'Paused' }].map((fact) => isQuiet(fact as RunFact))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
