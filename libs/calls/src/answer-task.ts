import type { ThoughtCode } from '@conclave/contracts';
import { boundedDetail } from '@conclave/contracts';
import type { ModelReply } from '@conclave/ports';
import type { Ask } from '@conclave/strategies';
import { askModels, type AskOutcome, type MadeReply, type ModelQuestion } from './ask-models.js';
import type { AskedMessage, Calls, ShownIn } from './calls.js';
import { performAsk, type AskOptions } from './perform-ask.js';
import { ReadOnce } from './read-once.js';
import { failedStatus, note, type Performed, type TaskContext } from './task-worker.js';

type ResultPart = Extract<Performed, { result: unknown }>['result'];
type ModelRequest = Pick<ModelQuestion, 'messages' | 'fillIn' | 'parameters' | 'temperature' | 'onBegun' | 'onWaiting' | 'onContent'>;

/**
 * Answers a task with a question to its models, within its allowance. A busy, cancelled or failed question ends the task accordingly.
 * `read` turns a reply into the result, and shows it, while the reply is stored.
 */
export async function answerTask(
  maker: Calls,
  context: TaskContext,
  asked: ModelRequest,
  read: (reply: MadeReply) => ResultPart | Promise<ResultPart>,
): Promise<Performed> {
  const reading = new ReadOnce(read);
  const answered = await askModels(maker, { ...ofTask(context), ...asked, onReply: async (reply) => void (await reading.of(reply)) });
  if (answered.kind !== 'answer') return unanswered(answered);
  const { usage, attempt, records } = answered;
  return { result: { usage, attempt, model: answered.model, ...(await reading.of(answered)) }, records };
}

/**
 * Answers a task with an ask, re-asks included. `makeResult` turns its output into the result; the output is null for an unusable reply.
 */
export async function answerByAsk<In, Out>(
  maker: Calls,
  context: TaskContext,
  ask: Ask<In, Out>,
  input: In,
  asking: Pick<AskOptions, 'live' | 'onBegun' | 'onWaiting' | 'onRead'>,
  makeResult: (output: Out | null) => ResultPart | Promise<ResultPart>,
): Promise<Performed> {
  const { data } = context.task;
  const answered = await performAsk(maker, ask, input, { ...ofTask(context), prompts: data.prompts, ...asking });
  if (answered.kind === 'busy' || answered.kind === 'cancelled') return unanswered(answered);
  // If the correcting call failed, the reply before it remains the unusable reply.
  if (answered.kind === 'failed' && answered.last === null) return unanswered(answered);
  const { usage, attempt, records } = answered;
  const model = answered.kind === 'output' ? answered.model : answered.last!.model;
  return { result: { usage, attempt, model, ...(await makeResult(answered.kind === 'output' ? answered.output : null)) }, records };
}

/** The models and allowance of a task. */
const ofTask = ({ task: { runId, data }, signal, deadline }: TaskContext) => ({
  runId,
  owner: data.taskId,
  purpose: data.capability,
  models: data.models,
  deadline,
  calls: data.allowance.calls,
  tokens: data.allowance.tokens,
  cost: data.allowance.cost,
  contexts: data.contexts,
  prices: data.prices,
  signal,
  ...(data.userInputs ? { userInputs: data.userInputs } : {}),
});

/** The result of an unanswered task. */
function unanswered(answered: Exclude<AskOutcome, { kind: 'answer' }>): Performed {
  if (answered.kind === 'busy') return { deferMs: answered.retryInMs };
  const { usage, attempt, records } = answered;
  return answered.kind === 'cancelled'
    ? { result: { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled.'), usage, attempt }, records }
    : { result: { status: failedStatus(answered.failure), failure: answered.failure, usage, attempt }, records };
}

/** A line of the progress about a reply, which says so if the reply was ended because it repeated itself. */
export const saidOf = ({ repeated }: Pick<ModelReply, 'repeated'>, line: string): string =>
  repeated ? `${line.replace(/\.$/, '')}; it repeated itself for ${repeated} characters and was stopped` : line;

/** The result of a reply without an answer. The usual cause is a model that spent its whole limit of tokens on thinking. */
export function emptyAnswer(reply: Pick<ModelReply, 'reasoning' | 'finishReason' | 'repeated'> | null): ResultPart {
  const thought = reply && reply.reasoning.trim() !== '' ? ` It sent only its thinking, ${reply.reasoning.length} characters.` : '';
  const cut =
    reply?.finishReason === 'length' ? ' It stopped at its limit of tokens: raise the context or the length of replies of its server.' : '';
  const repeated = reply?.repeated ? ` It repeated itself for ${reply.repeated} characters, and its call was ended.` : '';
  const kept = reply?.finishReason === 'content_filter' ? ' Its server held the answer back (content_filter).' : '';
  return {
    status: 'error',
    failure: note('PROVIDER_REPLY_INVALID', `The model returned an empty answer.${thought}${cut}${repeated}${kept}`),
  };
}

/** The number of the line, within its attempt, that says that a call waits for others of its provider. */
export const waitingN = 9;

/** A line of the thought stream from a worker; `n` identifies the line within its attempt, so that a repeat is not shown twice. */
export interface ThoughtLine {
  readonly n: number;
  readonly code: ThoughtCode;
  readonly text: string;
  /** A prompt or raw content: kept only if the run asked for full detail. */
  readonly detail?: string;
}

/** The fields of a task or plan that its lines need. */
interface Shown {
  readonly runId: string;
  readonly data: { readonly taskId: string; readonly detail: 'redacted' | 'full' };
}

/** Appends a task's thoughts to the run stream. */
export async function appendThoughts(stream: ShownIn, task: Shown, attempt: number, lines: readonly ThoughtLine[]): Promise<void> {
  const { taskId, detail: wanted } = task.data;
  await stream.append(
    task.runId,
    lines.map(({ n, code, text, detail }) => ({
      kind: 'progress' as const,
      taskId,
      attempt,
      n,
      code,
      text,
      ...(wanted === 'full' && detail !== undefined ? { detail: boundedDetail(detail) } : {}),
    })),
  );
}

/** A prompt formatted for people. */
export const promptDetail = (messages: readonly AskedMessage[]): string =>
  messages.map(({ role, content, attached }) => `[${role}]\n${content}${attached ? `\n${JSON.stringify(attached)}` : ''}`).join('\n\n');
