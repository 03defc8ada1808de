import { Inject, Injectable } from '@nestjs/common';
import { bounded, type Caller, type ClientToolResult, type ClientToolsAsked, type Template } from '@conclave/contracts';
import { commandsIn, type RunState } from '@conclave/loop';
import { isJsonObject, STATE, type JsonObject, type StateStore, unsignedId } from '@conclave/ports';
import { markedText, readContent } from '../attachments/content-parts.js';
import type { RepeatKey } from '../runs/checked-request.js';
import { runOfCall } from './client-tools.js';
import type { AnsweredRun } from './pending-questions.js';

/** Most characters of all results of one turn, and of one result: more than any prompt shows. */
const [mostCharacters, mostOfOne] = [100_000, 16_000];

/** The results with which a client continues after the tool calls of a run. */
@Injectable()
export class ToolResults {
  constructor(@Inject(STATE) private readonly state: Pick<StateStore, 'runs'>) {}

  /**
   * The run that waits for the results at the end of these messages, or to which an equal request has sent them. Null if there is none: it has
   * continued, ended or expired, or belongs to another caller. Throws STORE_*.
   */
  async awaited(body: JsonObject, template: Template, caller: Caller, { key, mayAttach }: RepeatKey): Promise<AnsweredRun | null> {
    const results = resultsIn(body['messages']);
    const runId = runOfCall(results[0]?.id);
    if (template.client_tools !== 'ask_first' || runId === null) return null;
    const header = await this.state.runs.header(runId);
    const data = header?.data;
    if (!data?.clientTools || data.caller.tenant !== caller.tenant || data.caller.actor !== caller.actor) return null;
    if (askedFor(data.template) !== askedFor(template)) return null;
    const stored = await this.state.runs.read<Pick<RunState, 'commands' | 'question'>>(runId);
    if (!stored) return null;
    const { usage } = data.clientTools;
    const repeated = mayAttach ? commandsIn(stored.state).find((command) => command.key === key) : undefined;
    if (!repeated && (stored.terminal || !stored.state.question?.calls)) return null;
    return { runId, usage, seq: repeated?.seq ?? null, command: answerOf(data.clientTools, results) };
  }
}

/** The id that a client requests, for a template and for the other arm of its split. */
const askedFor = ({ id, split_of }: Template): string => split_of ?? id;

/** The tool results at the end of the messages. */
function resultsIn(messages: unknown): readonly ClientToolResult[] {
  const all = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const last = all.slice(all.findLastIndex(({ role }) => role !== 'tool') + 1);
  return last.flatMap(({ tool_call_id: id, content }) =>
    typeof id === 'string' ? [{ id: unsignedId(id).id, text: markedText(readContent({ role: 'tool', content: content as string })) }] : [],
  );
}

function answerOf({ calls }: ClientToolsAsked, given: readonly ClientToolResult[]): NonNullable<AnsweredRun['command']> {
  const known = new Set(calls.map(({ id }) => id));
  const own = given.filter(({ id }) => known.has(id));
  const most = Math.min(mostOfOne, Math.floor(mostCharacters / Math.max(1, own.length)));
  const results = own.map(({ id, text }) => ({ id, text: bounded(text, most) }));
  return { name: 'answer', text: `Results of ${[...new Set(calls.map(({ name }) => name))].join(', ')}.`, results };
}
