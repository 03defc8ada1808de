import * as z from 'zod';
import { Failure, type Fact, type TaskInput } from '@conclave/contracts';
import { symbolicOperationOf, symbolicOperations, type Symbolic, type SymbolicArgs, type SymbolicOperation } from '@conclave/ports';
import { answerByTool, note, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { readMathTask } from './math/math-task.js';

const Calculated = z.object({
  result: z.string(),
  decimal: z.string().nullable(),
  // Absent in journals of earlier versions.
  caveat: z.string().nullable().default(null),
  backend: z.string().optional(),
  // Name of `backend` in journals of earlier versions.
  engine: z.string().optional(),
  notes: z.array(z.string()),
});

interface Calculation {
  readonly operation: SymbolicOperation;
  readonly args: SymbolicArgs;
}

/** `math`: one exact calculation; its result is a fact that names what calculated it. */
export const mathCapability =
  (maker: Calls, stream: ShownIn, symbolic: Symbolic): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const asked = askedFor(data.input as Extract<TaskInput, { kind: 'math' }>);
    if (asked instanceof Failure)
      return { result: { status: 'error', failure: note(asked.code, asked.message, asked.retriable) }, records: [] };
    const name = `math.${asked.operation}`;
    const show = (attempt: number, n: number, code: 'mcp.call' | 'mcp.result', text: string, detail: unknown): Promise<void> =>
      appendThoughts(stream, task, attempt, [{ n, code, text, detail: JSON.stringify(detail) }]);
    return answerByTool(
      maker,
      context,
      { name, request: asked, onBegun: (attempt) => show(attempt, 0, 'mcp.call', `Calculates with ${name}`, asked) },
      (running) => symbolic.evaluate({ ...asked, signal: running }),
      async ({ content, attempt }) => {
        const calculated = Calculated.parse(JSON.parse(content));
        const title = backendTitle(calculated.backend ?? calculated.engine ?? '');
        await show(attempt, 1, 'mcp.result', `${title} has a result`, JSON.parse(content));
        const fact: Fact = {
          text: sentenceOf(asked, calculated),
          source: { kind: 'tool', title, url: null },
          taskId: data.taskId,
          epoch: data.epoch,
          confidence: 1,
        };
        const notes = [`Calculated by ${title}.`, ...calculated.notes];
        return { status: 'ok', output: { kind: 'evidence', facts: [fact], notes }, sources: [fact.source] };
      },
      (failure, attempt) => show(attempt, 1, 'mcp.result', `${name} returned no result: ${failure.message}`, failure),
    );
  };

const needed = ['expression', 'equations', 'matrix'] as const;

/** The operation and arguments the planner named, or else those read from the wording of the task. */
function askedFor({ task, operation, args }: Extract<TaskInput, { kind: 'math' }>): Calculation | Failure {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  const named = operation === null ? null : symbolicOperationOf(operation);
  if (named && needed.some((name) => name in given)) return { operation: named, args: given };
  const read = readMathTask(task);
  if (read.kind === 'read') {
    const told = symbolicOperationOf(read.operation);
    // For `x^2` with the operation `integrate`, the named operation wins over the bare formula.
    const meant = named && told === 'evaluate' ? named : told;
    if (meant) return { operation: meant, args: { ...read.args, ...given } };
  }
  if (operation !== null && !named)
    return new Failure(
      'MATH_INPUT_INVALID',
      `There is no operation ${JSON.stringify(operation.slice(0, 40))}. Operations: ${symbolicOperations.join(', ')}.`,
    );
  return new Failure('MATH_INPUT_INVALID', read.kind === 'unread' ? read.sentence : undefined);
}

const titles: Readonly<Record<string, string>> = { sympy: 'SymPy', 'compute-engine': 'Compute Engine' };

/** Display name of a back end: `sympy 1.11.1` becomes `SymPy 1.11.1`. */
function backendTitle(backend: string): string {
  const [name = '', ...version] = backend.split(' ');
  return [Object.hasOwn(titles, name) ? titles[name] : name, ...version].join(' ');
}

/** Longest argument repeated in a fact, in characters. */
const longestShown = 300;

const writtenOut = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? value.join('; ')
      : JSON.stringify(value);

/** The question with its result and caveat, so that numbers in the answer are found in its source. */
function sentenceOf({ operation, args }: Calculation, { result, decimal, caveat }: z.infer<typeof Calculated>): string {
  const shown = Object.entries(args)
    .map(([name, value]) => [name, writtenOut(value)] as const)
    .map(([name, value]) => (needed.some((one) => one === name) ? value : `${name} ${value}`))
    .map((text) => (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text));
  const rounded = decimal !== null && decimal !== result ? ` (decimal: ${decimal})` : '';
  return `${operation} ${shown.join(', ')}: ${result}${rounded}${caveat === null ? '' : ` (${caveat})`}`;
}
