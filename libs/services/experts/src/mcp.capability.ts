import { setTimeout } from 'node:timers/promises';
import { Failure, isOutage, type Fact, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import { mayHaveRun, notCalled, oneLine, type DocumentReader, type ToolServers } from '@conclave/ports';
import { answerByTool, note, appendThoughts, type Calls, type Capability, type Performed, type ShownIn } from '@conclave/calls';
import { callText, excerptOf } from '@conclave/strategies';
import { foreignText } from './foreign-text.js';
import { rateRefusal } from './tools/rate-refusal.js';
import { reportedFailure } from './tools/reported-failure.js';
import { repairArguments } from './tools/repair-arguments.js';
import type { WholeResults } from './whole-results.js';
import * as z from 'zod';

/** Longest text of a fact, in characters. */
const longestFact = 4_000;
const longestSentence = 500;

/** Journal entry of a call. */
const Called = z.object({
  tool: z.string(),
  repairs: z.array(z.string()),
  content: z.string(),
  isError: z.boolean(),
  unsent: z.literal(true).optional(),
  notices: z.array(z.string()).default([]),
});

/**
 * `mcp`: one call of one tool, with repaired arguments. Its result is a fact; an error from the tool fails the task. A call that was
 * begun but never finished is repeated only if the tool says that this is safe.
 */
export const mcpCapability =
  (
    maker: Calls,
    stream: ShownIn,
    tools: ToolServers,
    documents: Pick<DocumentReader, 'read'> | null = null,
    whole: WholeResults | null = null,
  ): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'mcp' }>;
    const named = oneLine(input.tool, 100);
    if (input.refused) {
      const failure = { ...note(input.refusedAs ?? 'TOOL_UNKNOWN', input.refused), unsent: true as const };
      return { result: { status: 'error', failure, attempt: 0 }, records: [] };
    }
    let attempt = 1;
    const say = (at: number, n: number, code: 'mcp.call' | 'mcp.result', text: string, detail: string): Promise<void> =>
      appendThoughts(stream, task, at, [{ n, code, text, detail }]);
    // Set once a tool that may not be repeated is called.
    let isUncertain = false;
    const performed = await answerByTool(
      maker,
      context,
      {
        // A name with `@` would be taken for a model.
        name: `mcp.${named.replace(/[^\w./-]/g, '_')}`,
        request: { tool: input.tool, args: input.args },
        isError: (reply) => Called.parse(JSON.parse(reply)).isError,
        onBegun: async (begun) => {
          attempt = begun;
          const names = Object.keys(input.args);
          const withNames = names.length === 0 ? 'without arguments' : `with ${oneLine(names.join(', '), 200)}`;
          await say(begun, 0, 'mcp.call', `Calls ${named} ${withNames}`, JSON.stringify({ tool: input.tool, args: input.args }));
        },
      },
      async (running): Promise<z.infer<typeof Called>> => {
        const until = performance.now() + data.timeoutS * 1_000;
        const described = await tools.describe(input.tool).catch((error: unknown) => {
          throw asUnsent(error, attempt);
        });
        if (attempt > 1 && !described.repeatable)
          throw new Failure('TOOL_FAILED', 'It may already have run before this worker took over, and it is not marked as safe to repeat.');
        const { args, repairs } = repairArguments(input.args, described.inputSchema, described.readOnly);
        isUncertain = !described.repeatable;
        const reply = await tools
          .call({ tool: described.name, args, signal: running, timeoutMs: data.timeoutS * 1_000 })
          .catch((error: unknown) => {
            throw error instanceof Failure && (error.options.unsent || checkedBefore.has(error.code)) ? asUnsent(error, attempt) : error;
          });
        const reported = reply.isError ? null : reportedFailure(reply, described.readOnly);
        const { text, notices } = await foreignText(reported ?? reply.content, documents, running);
        const isError = reply.isError || reported !== null;
        const refusal = isError ? rateRefusal(reply) : null;
        // Whoever plans the next call does so at once.
        if (refusal) await untilAllowed(refusal.retryAfterMs ?? 0, until, running);
        const unsent = refusal ? { unsent: true as const } : {};
        const unkept = whole && !isError && text.trim().length > longestFact ? await keptWhole(whole, task, text) : [];
        return { tool: described.name, repairs: [...repairs], content: text, isError, ...unsent, notices: [...notices, ...unkept] };
      },
      async ({ content: called, attempt: at }) => {
        const { tool, repairs, content, isError, unsent, notices } = Called.parse(JSON.parse(called));
        if (isError) {
          const sentence = oneLine(content, longestSentence) || 'It gives no reason.';
          const failure = { ...note('TOOL_FAILED', `\`${tool}\` says: ${sentence}`), ...(unsent ? { unsent } : {}) };
          await say(at, 1, 'mcp.result', `${named}: ${failure.message}`, content);
          return { status: 'error', failure };
        }
        await say(
          at,
          1,
          'mcp.result',
          `${tool} has answered with ${content.length} ${content.length === 1 ? 'character' : 'characters'}`,
          content,
        );
        const isLong = content.trim().length > longestFact;
        const text = isLong ? excerptOf(content.trim(), longestFact, whole ? await whole.questionOf(task) : '') : content.trim();
        const call = callText(input.args);
        const fact: Fact = {
          text,
          source: { kind: 'tool', title: tool, url: null, ...(call === '' ? {} : { call }) },
          taskId: data.taskId,
          epoch: data.epoch,
          confidence: 1,
        };
        const facts = text === '' ? [] : [fact];
        const notes = [...repairs, ...notices, ...(text === '' ? [`\`${tool}\` returned an empty result.`] : [])];
        return { status: 'ok', output: { kind: 'evidence', facts, notes }, sources: facts.map(({ source }) => source) };
      },
      (failure, at) => say(at, 1, 'mcp.result', `${named}: ${failure.message}`, failure.message),
    );
    return isUncertain ? asPossiblyRun(performed) : performed;
  };

/** Codes of failures that are found before a call is sent. */
const checkedBefore: ReadonlySet<string> = new Set(['TOOL_UNKNOWN', 'TOOL_ARGUMENTS_INVALID']);

/** The failure of a call that was not sent. Only the first attempt can know this: an earlier one may have been. */
function asUnsent(error: unknown, attempt: number): unknown {
  if (!(error instanceof Failure)) return error;
  const { code, detail, options } = error;
  if (attempt > 1) return new Failure(code, detail, { ...options, unsent: undefined });
  return new Failure(code, [detail, notCalled].filter(Boolean).join(' '), { ...options, unsent: true });
}

/** Longest wait for a tool that was called too often, in milliseconds. */
const longestWaitMs = 20_000;

/** Waits until a tool may be called again, if this is soon enough. Throws CALL_CANCELLED. */
async function untilAllowed(waitMs: number, until: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0 || waitMs > Math.min(longestWaitMs, until - performance.now())) return;
  try {
    await setTimeout(waitMs, undefined, { signal });
  } catch (error) {
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    throw error;
  }
}

/** A call that ended without an answer in time may have changed something nevertheless, and whoever plans the next one must know. */
function asPossiblyRun(performed: Performed): Performed {
  if ('deferMs' in performed || performed.result.status !== 'timeout' || !performed.result.failure) return performed;
  const { failure } = performed.result;
  const message = failure.message.includes(mayHaveRun) ? failure.message : `${failure.message} ${mayHaveRun}`;
  return { ...performed, result: { ...performed.result, failure: { ...failure, message } } };
}

/** Keeps a result that was made: if its store is away, the excerpt has to do. Returns what readers should know. */
async function keptWhole(whole: WholeResults, task: TaskDispatched, text: string): Promise<readonly string[]> {
  try {
    await whole.keep(task, text);
    return [];
  } catch (error) {
    if (!isOutage(error)) throw error;
    return ['Only the excerpt of this result could be kept.'];
  }
}
