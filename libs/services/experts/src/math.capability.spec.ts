import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure, makeEvent, TaskDispatched, TaskInput, type TaskInputDraft } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { MemoryStores, type Symbolic, type SymbolicRequest, type SymbolicResult } from '@conclave/ports';
import { acceptance } from '@conclave/ports/suites';
import { CallMaker } from '@conclave/calls';
import { mathCapability } from './math.capability.js';

const runId = 'run_12345678';
const taskId = `${runId}/0/t1`;
const answer: SymbolicResult = {
  ...{
    result: 'x = 5',
    decimal: 'x = 5',
    latex: null,
    solutions: [{ x: '5' }],
    caveat: null,
    backend: 'sympy 1.11.1',
    notes: ['Solved over the real numbers.'],
  },
};

let stores: MemoryStores;
let maker: CallMaker;
let asked: SymbolicRequest[];
let calculate: (request: SymbolicRequest) => Promise<SymbolicResult>;

beforeEach(async () => {
  stores = new MemoryStores();
  const { state, stream } = stores.connect('one');
  await state.leases.renewProcess({ id: 'one', service: 'experts', classes: [], ttlMs: 60_000 });
  await state.runs.accept(acceptance(runId));
  asked = [];
  calculate = async () => answer;
  maker = new CallMaker({
    ...{ state, stream, probe: noProbe, logger: silentLogger, metrics: openMetrics() },
    ...{ processId: 'one', service: 'experts', storePrompts: 'full', guard: null },
    models: { call: () => Promise.reject(new Error('A calculation asks no model.')) } as never,
  });
});
afterEach(() => maker.close());

const symbolic: Symbolic = {
  evaluate: (request) => (asked.push(request), calculate(request)),
  backend: async () => 'sympy 1.11.1',
  health: async () => null,
  close: async () => undefined,
};

function perform(input: Partial<TaskInputDraft>, more: { detail?: 'full' } = {}) {
  const task = makeEvent(
    TaskDispatched,
    { id: taskId, runId, source: 'merger', time: 1, key: taskId, taskClass: 'evidence' },
    {
      ...{ taskId, epoch: 2, capability: 'math', input: TaskInput.parse({ kind: 'math', task: '', operation: null, args: {}, ...input }) },
      ...{ models: [], prices: {}, contexts: {}, strategy: 'agentic', tenant: 'acme', startBy: 1, timeoutS: 1 },
      ...{ allowance: { calls: 0, tokens: 0, cost: null }, stream: 'held', ...more },
    },
  );
  const { signal } = new AbortController();
  return mathCapability(maker, stores.stream, symbolic)({ task, signal, deadline: Date.now() + 20_000 });
}

const progress = async () => {
  const seen: unknown[] = [];
  for (const entry of (await stores.stream.read(runId, 0, 100)).entries) if (entry.kind === 'progress') seen.push(entry);
  return seen;
};

describe('the capability math', () => {
  it('returns the result as a fact that names the back end, with full confidence', async () => {
    expect(await perform({ operation: 'solve', args: { equations: ['3*x + 5 = 20'], variable: null } })).toMatchObject({
      result: {
        status: 'ok',
        output: {
          kind: 'evidence',
          facts: [
            {
              text: 'solve 3*x + 5 = 20: x = 5',
              source: { kind: 'tool', title: 'SymPy 1.11.1', url: null },
              taskId,
              epoch: 2,
              confidence: 1,
            },
          ],
          notes: ['Calculated by SymPy 1.11.1.', 'Solved over the real numbers.'],
        },
        attempt: 1,
      },
      records: [{ type: 'CallRecorded' }],
    });
    expect(asked).toMatchObject([{ operation: 'solve', args: { equations: ['3*x + 5 = 20'] } }]);
  });

  it('reads results that an earlier version journalled', async () => {
    const { backend, ...rest } = answer;
    calculate = async () => ({ ...rest, engine: backend }) as unknown as SymbolicResult;
    expect(await perform({ operation: 'solve', args: { equations: ['3*x + 5 = 20'] } })).toMatchObject({
      result: { output: { facts: [{ source: { title: 'SymPy 1.11.1' } }] } },
    });
  });

  it('states what a result leaves open in the fact itself, which is all that the composer sees', async () => {
    calculate = async () => ({
      ...answer,
      result: 'x = 0',
      decimal: 'x = 0',
      caveat: 'These solutions were checked; there may be others.',
    });
    const given = await perform({ operation: 'solve', args: { equations: ['sin(x) = 0'] } });
    expect(given).toMatchObject({
      result: { output: { facts: [{ text: 'solve sin(x) = 0: x = 0 (These solutions were checked; there may be others.)' }] } },
    });
  });

  it.each<[string, Partial<TaskInputDraft>, string, object]>([
    [
      'the wording when no operation is named',
      { task: 'Löse 3x + 5 = 20 nach x auf' },
      'solve',
      { equations: ['3x + 5 = 20'], variables: ['x'] },
    ],
    [
      'the wording when no usable arguments are given',
      { task: 'integrate x^2 from 0 to 3', operation: 'integrate', args: { expression: null } },
      'integrate',
      { expression: 'x^2', lower: '0', upper: '3' },
    ],
    ['a bare formula with the operation', { task: 'x^2', operation: 'derivative' }, 'differentiate', { expression: 'x^2' }],
    ['other names of operations', { operation: 'matrix.det', args: { matrix: [[1]] } }, 'determinant', { matrix: [[1]] }],
  ])('accepts %s', async (_what, input, operation, args) => {
    await perform(input);
    expect(asked).toMatchObject([{ operation, args }]);
  });

  it('says what to write if a task is not mathematics, without a call', async () => {
    for (const input of [{ task: 'Tell me a story' }, { operation: '__import__', task: 'x' }, { operation: 'solve', task: 'the crisis' }])
      expect(await perform(input)).toMatchObject({
        result: {
          status: 'error',
          failure: { code: 'MATH_INPUT_INVALID', retriable: false, message: expect.stringMatching(/Write|Operations:/) },
        },
        records: [],
      });
    expect(asked).toEqual([]);
  });

  it('calculates once: a repeat returns what the journal stored', async () => {
    const first = await perform({ task: '2+2' });
    const again = await perform({ task: '2+2' });
    expect(again).toMatchObject({ result: 'result' in first ? first.result : {} });
    expect(asked).toHaveLength(1);
    expect(await progress()).toHaveLength(2);
  });

  it('reports failures of the calculation with their code', async () => {
    calculate = async () => Promise.reject(new Failure('MATH_LIMIT', 'It was stopped at the end of its time.'));
    expect(await perform({ task: '2+2' })).toMatchObject({
      result: { status: 'error', failure: { code: 'MATH_LIMIT', retriable: false } },
      records: [{ type: 'CallRecorded' }],
    });
  });

  it('shows that it calculates; the calculation itself only with full detail', async () => {
    await perform({ operation: 'solve', args: { expression: '3*x = secret' } });
    const lean = await progress();
    expect(lean).toMatchObject([
      { code: 'mcp.call', n: 0, text: 'Calculates with math.solve' },
      { code: 'mcp.result', n: 1, text: 'SymPy 1.11.1 has a result' },
    ]);
    expect(JSON.stringify(lean)).not.toContain('secret');
  });

  it('shows arguments and result with full detail, bounded', async () => {
    calculate = async () => ({ ...answer, result: '9'.repeat(50_000) });
    await perform({ operation: 'solve', args: { expression: '3*x = 15' } }, { detail: 'full' });
    const [call, result] = (await progress()) as { detail: string }[];
    expect(JSON.parse(call!.detail)).toEqual({ operation: 'solve', args: { expression: '3*x = 15' } });
    expect(result!.detail).toMatch(/^\{"result":"9{100}.*\n\[\d+ more characters\]$/s);
  });

  it('is cancelled with its task', async () => {
    await stores.connect('two').state.runs.cancel(taskId);
    expect(await perform({ task: '2+2' })).toMatchObject({ result: { status: 'cancelled', failure: { code: 'CALL_CANCELLED' } } });
    expect(asked).toEqual([]);
  });
});
