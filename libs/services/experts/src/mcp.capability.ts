import { Failure, type Fact, type TaskInput } from '@conclave/contracts';
import { oneLine, type DocumentReader, type ToolServers } from '@conclave/ports';
import { answerByTool, note, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { callText } from '@conclave/strategies';
import { foreignText } from './foreign-text.js';
import { repairArguments } from './tools/repair-arguments.js';
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
  notices: z.array(z.string()).default([]),
});

/**
 * `mcp`: one call of one tool, with repaired arguments. Its result is a fact; an error from the tool fails the task. A call that was
 * begun but never finished is repeated only if the tool says that this is safe.
 */
export const mcpCapability =
  (maker: Calls, stream: ShownIn, tools: ToolServers, documents: Pick<DocumentReader, 'read'> | null = null): Capability =>
  async (context) => {
    const { task } = context;
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'mcp' }>;
    const named = oneLine(input.tool, 100);
    if (input.refused) return { result: { status: 'error', failure: note('TOOL_UNKNOWN', input.refused), attempt: 0 }, records: [] };
    let attempt = 1;
    const say = (at: number, n: number, code: 'mcp.call' | 'mcp.result', text: string, detail: string): Promise<void> =>
      appendThoughts(stream, task, at, [{ n, code, text, detail }]);
    return answerByTool(
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
        const described = await tools.describe(input.tool);
        if (attempt > 1 && !described.repeatable)
          throw new Failure('TOOL_FAILED', 'It may already have run before this worker took over, and it is not marked as safe to repeat.');
        const { args, repairs } = repairArguments(input.args, described.inputSchema, described.readOnly);
        const reply = await tools.call({ tool: described.name, args, signal: running, timeoutMs: data.timeoutS * 1_000 });
        const { text, notices } = await foreignText(reply.content, documents, running);
        return { tool: described.name, repairs: [...repairs], content: text, isError: reply.isError, notices: [...notices] };
      },
      async ({ content: called, attempt: at }) => {
        const { tool, repairs, content, isError, notices } = Called.parse(JSON.parse(called));
        if (isError) {
          const sentence = oneLine(content, longestSentence) || 'It gives no reason.';
          const failure = note('TOOL_FAILED', `\`${tool}\` says: ${sentence}`);
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
        const text = factText(content);
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
  };

/** The result of a tool; a long one is cut, with a note. */
function factText(content: string): string {
  const text = content.trim();
  if (text.length <= longestFact) return text;
  const cut = `\n[Cut: ${text.length} characters, only the first ones are shown.]`;
  // Drops a lone surrogate at the cut.
  return text.slice(0, longestFact - cut.length).replace(/[\uD800-\uDBFF]$/, '') + cut;
}
