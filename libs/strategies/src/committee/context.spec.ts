import { describe, expect, it } from '@jest/globals';
import type { Fact, PlannedTask, TaskInput } from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';
import type { RunState, TaskState } from '@conclave/loop';
import { anyRoom } from '../asks/ask.js';
import { synthesisAsk } from '../asks/synthesis.js';
import { criticInput, gapInput, hintsInput, scoreInput, synthesisInput, taskInput as inputOf, thinkingInput } from './context.js';
import { ledgerAnswer, roundSummary } from './ledger.js';
import { initialOwn, type CommitteeView, type Own } from './own.js';
import { Scenario } from '../testing/scenario.js';

const runId = 'run_00000001';
const fact = (text: string, changes: Partial<Fact> & { kind?: Fact['source']['kind'] } = {}): Fact => ({
  text,
  source: { kind: changes.kind ?? 'corpus', title: `about ${text}`, url: null },
  taskId: `${runId}/0/r1`,
  epoch: 0,
  confidence: null,
  ...changes,
});
const spec = (id: string, capability: string, task: string, needs: string[] = []): PlannedTask => ({
  id,
  capability,
  task,
  query: capability === 'research' ? task : null,
  needs,
  metadata_filters: null,
});
const settled = (
  of: PlannedTask,
  epoch: number,
  result: Partial<NonNullable<TaskState['result']>>,
  more: Partial<TaskState> = {},
): TaskState => ({
  spec: of,
  action: null,
  models: [],
  learn: 'settled',
  stream: 'held',
  epoch,
  taskClass: 'expert',
  helper: false,
  status: 'settled',
  allowance: null,
  startBy: 0,
  deadline: 0,
  started: true,
  accepted: true,
  superseded: false,
  unanswered: false,
  lateUsage: null,
  result: {
    status: 'ok',
    text: '',
    confidence: null,
    facts: 0,
    gaps: [],
    refer: [],
    model: null,
    failure: null,
    usage: noUsage,
    attempt: 1,
    durationMs: 1,
    cutShort: false,
    finding: null,
    notes: [],
    echoes: [],
    ...result,
  },
  ...more,
});
interface Changes extends Partial<RunState['request']>, Partial<Pick<RunState, 'tasks' | 'epoch' | 'gap'>> {
  readonly facts?: readonly Fact[];
  readonly searchQuestion?: string | null;
  readonly own?: Partial<Own>;
}
function runWith({ facts = [], searchQuestion = null, tasks = {}, epoch = 0, gap = '', own = {}, ...request }: Changes): CommitteeView {
  const begun = new Scenario({ experts: { general: { t1: ['m@x'], prompt: 'Be general.' } } });
  begun.requested({}, { goal: 'Where is it?', requestedAt: Date.UTC(2026, 0, 2), ...request });
  const state = begun.state!;
  const run = { ...state, tasks, epoch, gap, memory: { ...state.memory, facts: [...facts], searchQuestion } };
  return { run, own: { ...initialOwn, ...own }, template: run.request.template, budget: 'free', lastRound: false };
}
const taskInput = (view: CommitteeView, task: TaskState) => inputOf(view, '', task);
const findings = (view: CommitteeView, epoch: number) => roundSummary({ ...view, run: { ...view.run, epoch } }, []).findings;
const synthesis = (view: CommitteeView) => synthesisInput(view, null) as Extract<TaskInput, { kind: 'synthesis' }>;

describe('a judge that does not see the conversation', () => {
  const conversation = [
    { role: 'user' as const, content: 'Tell me about the Gull Bridge.' },
    { role: 'assistant' as const, content: 'It turns.' },
  ];
  const asked = (view: CommitteeView) => [
    gapInput(view, null),
    hintsInput(view, []),
    scoreInput(view, []),
    thinkingInput(view),
    criticInput(view, { text: 'There.', sources: [], insight: null, cutShort: false, epoch: 0 }, []),
  ];

  it('gets a follow-up in full words, or with the question before it', () => {
    for (const input of asked(runWith({ conversation, searchQuestion: 'Where is the Gull Bridge?' })))
      expect(input).toMatchObject({ question: 'Where is the Gull Bridge?' });
    for (const input of asked(runWith({ conversation })))
      expect(input).toMatchObject({ question: 'Where is it?\nThe user asked before: "Tell me about the Gull Bridge."' });
    for (const input of asked(runWith({ searchQuestion: 'Other words?' }))) expect(input).toMatchObject({ question: 'Where is it?' });
  });
});

describe('the input of an expert', () => {
  it('includes images only for the one that can see, and files for everybody', () => {
    const image = { kind: 'image', mime: 'image/png', name: null, blob: 'i', url: null } as const;
    const file = { kind: 'file', mime: 'text/plain', name: 'a.txt', blob: 'f', url: null } as const;
    const run = runWith({ attachments: [image, file] });
    const given = (category: string) => taskInput(run, settled(spec('x1', `expert.${category}`, 'Look.'), 0, {}));
    expect(given('vision')).toMatchObject({ attachments: [image, file] });
    expect(given('general')).toMatchObject({ attachments: [file] });
  });

  it('consists of the results of what it needs, then what earlier rounds found, latest first', () => {
    const facts = [
      fact('oldest'),
      fact('older', { epoch: 1 }),
      fact('now', { epoch: 2, taskId: `${runId}/2/r1` }),
      fact('not needed', { epoch: 2, taskId: `${runId}/2/r2` }),
    ];
    const input = taskInput(runWith({ facts, epoch: 2 }), settled(spec('x1', 'expert.law', 'answer', ['r1']), 2, {}));
    expect(input).toMatchObject({ kind: 'expert', category: 'law', prompt: 'Be general.', goal: 'Where is it?' });
    expect(input.kind === 'expert' && input.evidence.map(({ text }) => text)).toEqual(['now', 'older', 'oldest']);
  });

  it('is for research a query with the usual number of results', () => {
    expect(taskInput(runWith({}), settled({ ...spec('r1', 'research', 'find it'), query: null }, 0, {}))).toEqual({
      kind: 'research',
      task: 'find it',
      query: 'find it',
      limit: 5,
    });
  });
});

describe('the input of the gap check', () => {
  it('is the goal in the words of the user, and the full question only for a follow-up', () => {
    const searchQuestion = 'Where is the tower?';
    expect(gapInput(runWith({ searchQuestion }), null)).toMatchObject({ question: 'Where is it?', mode: 'evidence', draft: null });
    const conversation = [{ role: 'user' as const, content: 'There is a tower.' }];
    expect(gapInput(runWith({ searchQuestion, conversation }), null)).toMatchObject({ question: searchQuestion });
  });
  it('includes how sure every expert is whose answer counts, and what it left open', () => {
    const experts = (tasks: Record<string, TaskState>) =>
      (gapInput(runWith({ tasks }), null) as Extract<TaskInput, { kind: 'gap' }>).experts;
    expect(
      experts({
        a: settled(spec('x1', 'expert.law', 'What holds?'), 0, { confidence: 0.4, gaps: ['the statute'] }),
        b: { ...settled(spec('x2', 'expert.general', 'So?'), 0, { confidence: 0.9 }), superseded: true },
        c: settled(spec('r1', 'research', 'find'), 0, {}),
      }),
    ).toEqual([{ category: 'law', task: 'What holds?', confidence: 0.4, gaps: ['the statute'] }]);
  });
  it('is the draft in answer mode', () => {
    const draft = { text: 'There.', sources: [], insight: null, cutShort: false, epoch: 0 };
    expect(gapInput(runWith({}), draft)).toMatchObject({ mode: 'answer', draft: 'There.' });
  });
});

describe('the input of the composer', () => {
  it('consists of the most trusted facts if there are too many, of these the latest, tools before documents', () => {
    const documents = Array.from({ length: 60 }, (_, n) => fact(`document ${n}`));
    const { facts } = synthesis(
      runWith({ facts: [fact('computed', { kind: 'tool' }), ...documents, fact('opinion', { kind: 'expert' })] }),
    );
    expect(facts).toHaveLength(40);
    expect(facts[0]!.text).toBe('computed');
    expect(facts[1]!.text).toBe('document 21');
    expect(facts.at(-1)!.text).toBe('document 59');
  });

  it('contains every answer that counts, whole: two of one category are parts of one answer', () => {
    const { answers } = synthesis(
      runWith({
        facts: [
          fact('kitchen', { kind: 'expert', taskId: `${runId}/0/x1`, confidence: 0.6 }),
          fact('bathroom', { kind: 'expert', taskId: `${runId}/0/x2`, confidence: 0.9 }),
        ],
        tasks: {
          [`${runId}/0/x1`]: settled(spec('x1', 'expert.general', 'a'), 0, { text: 'whole kitchen', confidence: 0.6 }),
          [`${runId}/0/x2`]: settled(spec('x2', 'expert.general', 'b'), 0, { text: 'whole bathroom', confidence: 0.9 }),
          [`${runId}/1/x1`]: settled(spec('x1', 'expert.general', 'c'), 1, { text: 'whole cellar', confidence: 0.6 }),
        },
      }),
    );
    expect(answers.map(({ text }) => text)).toEqual(['whole bathroom', 'whole cellar', 'whole kitchen']);
  });

  it('contains nothing of an answer or a result that was superseded', () => {
    const gone = { superseded: true };
    const run = runWith({
      epoch: 1,
      facts: [
        fact('It opened in 1931.', { kind: 'expert', taskId: `${runId}/0/x1`, confidence: 0.4, ...gone }),
        fact('The result is 3333.', { kind: 'tool', taskId: `${runId}/0/m1`, ...gone }),
        fact('a passage of the first round'),
        fact('The result is 4444.', { kind: 'tool', taskId: `${runId}/1/m1`, epoch: 1 }),
        fact('a passage of the second round', { epoch: 1 }),
      ],
      tasks: {
        [`${runId}/0/x1`]: { ...settled(spec('x1', 'expert.general', 'a'), 0, { text: 'It opened in 1931.', confidence: 0.4 }), ...gone },
        [`${runId}/1/x1`]: settled(spec('x1', 'expert.general', 'a'), 1, { text: 'LATER', confidence: 0.9 }),
      },
    });
    const current = ['The result is 4444.', 'a passage of the second round', 'a passage of the first round'];
    expect(synthesis(run).answers.map(({ text }) => text)).toEqual(['LATER']);
    expect(synthesis(run).facts.map(({ text }) => text)).toEqual(current);
    const inputs = [gapInput(run, null), taskInput(run, settled(spec('x2', 'expert.general', 'b'), 1, {})), ledgerAnswer(run, 'why')];
    for (const input of inputs) expect(JSON.stringify(input)).not.toMatch(/1931|3333/);
    expect(findings(run, 0)).toBe('a passage of the first round');
  });

  it('lists failed tasks with the arguments of their calls unless a retry succeeded, and merges none of them as text', () => {
    const failure = { code: 'PROVIDER_FAILED', message: 'down', retriable: true };
    const { failed, answers } = synthesis(
      runWith({
        tasks: {
          a: settled(spec('r1', 'research', 'Alpha?'), 0, { status: 'error', failure }),
          b: settled(spec('r1', 'research', 'alpha'), 1, {}),
          c: settled(spec('x1', 'expert.general', 'beta'), 1, { status: 'error', failure, text: 'an apology' }),
          e: settled({ ...spec('o1', 'mcp', 'Find the owner'), tool: 'clinic.find_owner', args: { name: 'Ada' } }, 1, {
            status: 'error',
            failure,
          }),
          d: settled(spec('judge.gap', 'judge.gap', 'assess'), 1, { status: 'error', failure }),
        },
      }),
    );
    expect(failed).toEqual([
      { capability: 'expert.general', task: 'beta', reason: 'down' },
      { capability: 'mcp', task: 'Find the owner (name: Ada)', reason: 'down' },
    ]);
    expect(answers).toEqual([]);
  });

  it('reports where experts whose answers count contradict each other', () => {
    const answered = (id: string, text: string, changes: Partial<TaskState> = {}) => ({
      ...settled(spec(id, `expert.${id}`, 'When?'), 0, { text, confidence: 0.9 }),
      ...changes,
    });
    const finding = (id: string, text: string) => fact(text, { kind: 'expert', taskId: id, confidence: 0.9 });
    const facts = [finding('a', 'It opened in 1931.'), finding('b', 'It opened in 1932.'), finding('c', 'It opened in 1933.')];
    const tasks = { a: answered('law', 'A'), b: answered('science', 'B'), c: answered('general', 'C', { superseded: true }) };
    const run = runWith({ facts, tasks });
    expect(synthesis(run).contradictions).toEqual([
      'law (confidence 0.9): It opened in 1931. / science (confidence 0.9): It opened in 1932.',
    ]);
    const prompt = synthesisAsk.prompt(synthesisAsk.input.parse(synthesis(run)), anyRoom).at(-1)!.content;
    expect(prompt).toContain('CONTRADICTIONS:\n<<<DATA\n- law (confidence 0.9): It opened in 1931. / science');
    expect(prompt).toContain('Say in the answer that they differ');
    expect(synthesis(runWith({ facts: facts.slice(0, 1), tasks: { a: tasks.a } })).contradictions).toBeUndefined();
  });

  it('contains the day the run started', () => {
    expect(synthesis(runWith({})).startedOn).toBe('2026-01-02');
  });
});

describe('history', () => {
  it('is one bounded line about a plan', () => {
    const summary = (...tasks: PlannedTask[]) => roundSummary(runWith({}), tasks).planSummary;
    expect(summary(spec('r1', 'research', 'find'), spec('x1', 'expert.general', 'w'.repeat(500)))).toMatch(
      /^research: find; expert.general: w+…$/,
    );
    expect(summary(spec('x1', 'expert.general', 'w'.repeat(500)))).toHaveLength(400);
  });
  it('is the new facts of a round, latest first and bounded', () => {
    const run = runWith({ facts: [fact('one'), fact('two\nlines'), fact('later', { epoch: 1 })] });
    expect(findings(run, 0)).toBe('two lines\none');
    expect(findings(run, 5)).toBe('No task ran.');
    expect(findings(runWith({ facts: Array.from({ length: 99 }, (_, n) => fact(`${n} `.repeat(90))) }), 0)).toHaveLength(2_000);
  });
  it('says that a round found nothing', () => {
    expect(findings(runWith({ tasks: { a: settled(spec('r1', 'research', 'q'), 0, {}) } }), 0)).toBe('Nothing new was found.');
  });
});

describe('the answer without a model', () => {
  it('is null if nothing is known', () => {
    expect(ledgerAnswer(runWith({}), 'why')).toBeNull();
  });
  it('says what is known with its sources, what stays open and why the run stopped', () => {
    const run = runWith({ facts: [fact('A is B.'), fact('I think C.', { kind: 'expert' })], gap: 'the year' });
    run.run.memory.facts[0]!.source.url = 'http://x/a';
    const draft = ledgerAnswer(run, 'The time is over.')!;
    expect(draft.text).toBe(
      'What was found so far:\n- I think C.\n- A is B. [1]\n\nStill open: the year\n\nWhy it stopped: The time is over.\n\nSources:\n[1] about A is B. — http://x/a',
    );
    expect(draft.sources).toEqual([{ kind: 'corpus', title: 'about A is B.', url: 'http://x/a', n: 1 }]);
    expect(ledgerAnswer(runWith({ facts: [fact('A is B.')], gap: 'das Jahr', language: 'de' }), 'The time is over.')!.text).toBe(
      'Bisher gefunden:\n- A is B. [1]\n\nNoch offen: das Jahr\n\nWarum hier Schluss ist: The time is over.\n\nQuellen:\n[1] about A is B.',
    );
  });
});
