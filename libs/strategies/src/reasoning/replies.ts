import type { Rubric } from '@conclave/contracts';
import type { ParsedReply } from '../asks/ask.js';
import { isEcho } from '../prompts/echoes.js';
import { jsonIn } from '../replies/json-reply.js';
import { isObject, nameMeant, type Loose } from '../replies/names.js';
import { withoutMarks } from '../replies/quoting-marks.js';
import { longestMemory, type Decision, type PlanContent, type Prepared, type ReasoningStep } from './values.js';

const noJson = 'The reply contains no JSON object. Reply with one JSON object only.';

/** The JSON object of a reply. Single quotes count as double ones if the reply contains no double ones. */
function objectIn(text: string): Loose | undefined {
  const found = jsonIn(text) ?? (text.includes('"') ? undefined : jsonIn(text.replaceAll("'", '"')));
  return isObject(found) ? found : undefined;
}

const wordsOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '');
const firstWords = (of: Loose, ...names: readonly string[]): string =>
  names.map((name) => wordsOf(of[name])).find((text) => text !== '') ?? '';

/** The first value that does not only repeat the words of the prompt. */
const ownWords = (of: Loose, ...names: readonly string[]): string =>
  names.map((name) => wordsOf(of[name])).find((text) => text !== '' && !isEcho(text)) ?? '';

/** The replacement for the working memory in a reply; null if it stays. */
const memoryIn = (of: Loose): string | null => {
  const text = withoutMarks(firstWords(of, 'working_memory', 'workingMemory', 'memory')).trim();
  return text === '' || isEcho(text) ? null : text.slice(0, longestMemory);
};

/**
 * Faults of a plan, as sentences for the model; empty for a valid one. Every step is checked before the first is run, and one bad step
 * refuses the plan.
 */
export function stepFaults(steps: readonly ReasoningStep[], names: readonly string[], maxSteps: number): readonly string[] {
  const allowed = `Use one of: ${names.join(', ') || 'none is offered'}.`;
  return [
    ...(steps.length === 0 ? ['The plan has no step. Give at least one, or say that the goal is out of reach.'] : []),
    ...(steps.length > maxSteps ? [`The plan has ${steps.length} steps; at most ${maxSteps} are allowed.`] : []),
    ...steps.flatMap(({ capability, input_description }, index) => [
      ...(capability === '' ? [`Step ${index + 1} names no capability. ${allowed}`] : []),
      ...(capability !== '' && !names.includes(capability)
        ? [`Step ${index + 1} names "${capability}", which is not allowed. ${allowed}`]
        : []),
      ...(input_description === '' ? [`Step ${index + 1} has no "input_description".`] : []),
    ]),
  ];
}

function stepOf(entry: unknown, names: readonly string[]): ReasoningStep {
  const given = isObject(entry) ? entry : { step: entry };
  // Some models put the name where the number of the step belongs.
  const inStep = typeof given['step'] === 'string' && !/^\d*$/.test(given['step'].trim()) ? given['step'] : '';
  const said = firstWords(given, 'capability', 'skill', 'skill_name', 'tool', 'name') || inStep.trim();
  return {
    capability: nameMeant(said, names),
    input_description: ownWords(given, 'input_description', 'input', 'query', 'description', 'task', 'reason'),
    reason: firstWords(given, 'reason', 'why'),
  };
}

/** Reads a plan: its steps, or that the goal is out of reach. */
export function readPlan(text: string, names: readonly string[], maxSteps: number): ParsedReply<PlanContent> {
  const value = jsonIn(text);
  const given = objectIn(text) ?? (Array.isArray(value) ? { steps: value } : undefined);
  if (given === undefined) return { faults: [noJson] };
  const memory = memoryIn(given);
  const entries = given['steps'] ?? given['plan'] ?? [];
  if (given['error'] && !(Array.isArray(entries) && entries.length > 0)) {
    const why = firstWords(given, 'reason', 'error') || 'it gives no reason';
    return { output: { steps: [], impossible: why, working_memory: memory } };
  }
  if (!Array.isArray(entries)) return { faults: ['"steps" must be a list.'] };
  const steps = entries.map((entry: unknown) => stepOf(entry, names));
  const faults = stepFaults(steps, names, maxSteps);
  return faults.length > 0 ? { faults } : { output: { steps, impossible: null, working_memory: memory } };
}

/** Reads the input of a step. With `takesArguments`, only an object is accepted. */
export function readPrepared(
  text: string,
  { capability, takesArguments, signature }: { readonly capability: string; readonly takesArguments: boolean; readonly signature?: string },
): ParsedReply<Prepared & { working_memory: string | null }> {
  const given = objectIn(text);
  if (given === undefined) return { faults: [noJson] };
  const found = given['input'] ?? given['args'] ?? given['arguments'] ?? given['query'];
  const working_memory = memoryIn(given);
  const parsed = typeof found === 'string' && takesArguments ? (jsonIn(found) ?? found) : found;
  if (isObject(parsed)) {
    if (takesArguments) return { output: { ...operationOf(capability, parsed), query: null, working_memory } };
    const query = firstWords(parsed, 'query', 'search_query', 'input', 'question', 'text', 'task');
    if (query !== '') return { output: { query, tool: null, args: {}, working_memory } };
  }
  if (capability.includes('.')) {
    const only = onlyArgument(signature ?? '');
    const value = wordsOf(parsed);
    if (only !== null && value !== '' && !isEcho(value))
      return { output: { tool: capability, args: { [only]: parsed }, query: null, working_memory } };
    return { faults: [`"input" must be an object with the arguments of the tool${signature ? `: (${signature})` : ''}.`] };
  }
  const query = wordsOf(parsed);
  return query === '' ? { faults: ['"input" is empty.'] } : { output: { query, tool: null, args: {}, working_memory } };
}

/** The argument that a bare value can only mean: the one a tool requires, by its signature `name: type, other?: type`; null without one. */
function onlyArgument(signature: string): string | null {
  const required = [...signature.matchAll(/(?:^|, )([\p{L}_][\p{L}\p{N}_-]*): ((?:string|number|integer)(?=,|$| \|))?/gu)];
  const [, name, isPlain] = required[0] ?? [];
  return required.length === 1 && isPlain !== undefined ? name! : null;
}

/** Arguments of a tool; for `math`, the operation is separate from them. */
function operationOf(capability: string, args: Loose): Pick<Prepared, 'tool' | 'args'> {
  if (capability.includes('.')) return { tool: capability, args };
  const { operation, ...rest } = args;
  return { tool: wordsOf(operation) || null, args: rest };
}

const criteria = ['relevance', 'completeness', 'usability', 'goal_progress'] as const;

/** Reads the four scores; whatever the reply calls the quality is ignored. */
export function readRubric(text: string): ParsedReply<{ rubric: Rubric; summary: string; working_memory: string | null }> {
  const given = objectIn(text);
  if (given === undefined) return { faults: [noJson] };
  const scores: Loose = isObject(given['scores']) ? given['scores'] : isObject(given['rubric']) ? given['rubric'] : given;
  const read = criteria.map((name) => [name, Number(wordsOf(scores[name]).split('/')[0] || Number.NaN)] as const);
  const missing = read.filter(([, score]) => !Number.isFinite(score)).map(([name]) => `"${name}" must be a number from 1 to 5.`);
  if (missing.length > 0) return { faults: missing };
  const rubric = Object.fromEntries(read.map(([name, score]) => [name, Math.min(5, Math.max(1, score))])) as Rubric;
  return { output: { rubric, summary: firstWords(given, 'summary').slice(0, 500), working_memory: memoryIn(given) } };
}

const actions: Readonly<Record<string, Decision['action']>> = {
  continue: 'continue',
  next: 'continue',
  adjust: 'adjust',
  replan: 'adjust',
  ask_user: 'ask_user',
  ask: 'ask_user',
  done: 'done',
  complete: 'done',
  finished: 'done',
  stuck: 'stuck',
};

/** Reads a decision. The confidence is clamped to 0..1; without a number it is 0. */
export function readDecision(text: string, mayAsk: boolean): ParsedReply<Decision> {
  const given = objectIn(text);
  if (given === undefined) return { faults: [noJson] };
  const action = actions[firstWords(given, 'action', 'decision').toLowerCase().replaceAll(/[- ]/g, '_')];
  if (action === undefined) return { faults: ['"action" must be one of: continue, adjust, ask_user, done, stuck.'] };
  const question = firstWords(given, 'question');
  if (action === 'ask_user' && !mayAsk) return { faults: ['Nobody can be asked. Choose another action.'] };
  if (action === 'ask_user' && question === '') return { faults: ['"question" is empty.'] };
  const final = firstWords(given, 'final_answer', 'answer', 'result');
  return {
    output: {
      action,
      confidence: confidenceIn(given['confidence']),
      reason: firstWords(given, 'reason', 'why').slice(0, 1_000),
      question: question === '' ? null : question.slice(0, 2_000),
      final_answer: final === '' ? null : final,
      working_memory: memoryIn(given),
    },
  };
}

function confidenceIn(said: unknown): number {
  const value = Number.parseFloat(wordsOf(said));
  if (!Number.isFinite(value)) return 0;
  return Math.min(1, Math.max(0, value));
}

/** Reads the compressed working memory; a reply without JSON is the text itself. */
export function readCompressed(text: string): ParsedReply<{ working_memory: string }> {
  const given = objectIn(text);
  const memory = given ? memoryIn(given) : text.trim().slice(0, longestMemory);
  return memory ? { output: { working_memory: memory } } : { faults: ['The reply has no "working_memory".'] };
}
