import type { RunView } from '@conclave/contracts';
import { ChatStream, CommitteeScript, type System, readRun, user, type Wave } from '@conclave/test-support/system';

/** A call of a wave: id, tool, arguments, and the ids of the calls from which they come. */
export type Call = readonly [id: string, tool: string, args: Readonly<Record<string, unknown>>, needs?: readonly string[]];

export const wave = (status: Wave['status'], action: string, ...calls: readonly Call[]): Wave => ({
  status,
  action,
  tools: calls.map(([id, tool, args, needs = []]) => ({ id, tool, args, needs })),
  reasoning: `So it is: ${action}`,
});

const textOf = (messages: readonly { readonly content: unknown }[]): string => messages.map(({ content }) => String(content)).join('\n');

/** What is known of earlier calls, as the planner reads it. */
export const resultsIn = (prompt: string): string => prompt.split('RESULTS:')[1] ?? '';

/** Ids of the calls of each wave that was run. */
export const wavesIn = (run: RunView): readonly (readonly string[])[] =>
  run.rounds
    .map(({ tasks }) => tasks.filter(({ capability }) => capability === 'mcp').map(({ id }) => id.split('/').at(-1)!))
    .filter((ids) => ids.length > 0);

/** Planning calls that a run counts. */
export const plannedIn = ({ usage }: RunView): number =>
  usage.items.filter(({ capability }) => capability === 'plan').reduce((sum, item) => sum + item.usage.calls, 0);

/** A run as its client and its readers see it. */
export interface Answered {
  readonly answer: string;
  readonly chat: ChatStream;
  readonly run: RunView;
  /** Ids of the calls of each wave in the view of the run. */
  readonly waves: readonly (readonly string[])[];
  /** Planning calls that the view of the run counts. */
  readonly planned: number;
}

/** A question to a template of the strategy `waves`, with every model call scripted. */
export class WaveScript extends CommitteeScript {
  constructor(
    private readonly system: System,
    question: string,
  ) {
    super(system.models, question);
  }

  /** Prompts of the planner, oldest first. */
  get prompts(): readonly string[] {
    return this.calls('waves').map(({ messages }) => textOf(messages));
  }

  /** Asks, waits for the end, and reads the run. */
  async answered(model: string): Promise<Answered> {
    const chat = await (await ChatStream.open(this.system.url(), { model, messages: user(this.question) })).end();
    if (chat.error) throw new Error(`${chat.runId}: ${JSON.stringify(chat.error)}`);
    const run = await readRun(this.system.url(), chat.runId);
    return { answer: chat.content, chat, run, waves: wavesIn(run), planned: plannedIn(run) };
  }
}
