import { bounded, Failure, type Fact, type TaskInput } from '@conclave/contracts';
import { noticesAbout, oneLine, visibleText } from '@conclave/ports';
import { answerByTool, appendThoughts, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { blame, callText, EndlessCall, faultsOf, saying, type ExtensionCapability } from '@conclave/strategies';
import * as z from 'zod';

/** Longest text of a fact, in characters. */
const longestFact = 4_000;
const mostFacts = 50;
const longestTitle = 300;
const mostNotes = 20;
const longestNote = 500;
/**
 * Most lines of progress of a call, most characters of a line, and the number of the first line: those before it say that the call began
 * and ended.
 */
const mostLines = 50;
const longestLine = 240;
const firstLine = 2;

/** The result of an extension's code; as untrusted as a server's reply. */
const Found = z.object({
  facts: z
    .array(
      z.union([
        z.string().transform((text) => ({ text, title: undefined, url: undefined })),
        z.object({ text: z.string(), title: z.string().optional(), url: z.string().nullable().optional() }),
      ]),
    )
    .max(mostFacts),
  notes: z.array(z.string()).default([]),
});
const Given = z.object({ task: z.string(), query: z.string().nullable(), args: z.record(z.string(), z.unknown()) });

/**
 * A capability of an extension. Its result is journalled, so that it runs once; if it was begun but never finished, it runs again only
 * if it is declared repeatable.
 */
export const valuesCapability =
  (maker: Calls, stream: ShownIn, { declaration: { name }, perform, repeatable }: ExtensionCapability): Capability =>
  (context) => {
    const { task } = context;
    const { data } = task;
    const given = Given.parse((data.input as Extract<TaskInput, { kind: 'values' }>).values);
    let attempt = 1;
    const say = (at: number, n: number, code: 'mcp.call' | 'mcp.result', text: string, detail: string): Promise<void> =>
      appendThoughts(stream, task, at, [{ n, code, text, detail }]);
    return answerByTool(
      maker,
      context,
      {
        name: `extension.${name}`,
        request: given,
        onBegun: async (begun) => {
          attempt = begun;
          await say(begun, 0, 'mcp.call', `Begins ${name}`, JSON.stringify(given));
        },
      },
      async (signal) => {
        if (attempt > 1 && !repeatable)
          throw new Failure('TOOL_FAILED', 'It may already have run before this worker took over, and it is not marked as safe to repeat.');
        const progress = new Progress(signal, (n, text) => say(attempt, n, 'mcp.call', text, text));
        // Its own copy: what it changes there must not change the record of the call.
        const found = await performed(name, signal, async () =>
          perform(structuredClone(given), { signal, timeoutMs: data.timeoutS * 1_000, tenant: data.tenant, progress: progress.say }),
        );
        await progress.end();
        return found;
      },
      async ({ content, attempt: at }) => {
        const { facts: found, notes } = Found.parse(JSON.parse(content));
        const call = callText(given.args);
        const facts = found.map(({ text, title, url }): Fact => ({
          text: bounded(text, longestFact),
          // A page says the same to every call that finds it.
          source: { kind: 'tool', title: title ?? name, url: url ?? null, ...(call === '' || url ? {} : { call }) },
          taskId: data.taskId,
          epoch: data.epoch,
          confidence: 1,
        }));
        await say(at, 1, 'mcp.result', `${name} found ${facts.length} ${facts.length === 1 ? 'fact' : 'facts'}`, content);
        return { status: 'ok', output: { kind: 'evidence', facts, notes }, sources: facts.map(({ source }) => source) };
      },
      (failure, at) => say(at, 1, 'mcp.result', `${name}: ${failure.message}`, failure.message),
    );
  };

/** Throws TOOL_FAILED with the reason if the extension throws or returns an invalid value. */
async function performed(name: string, signal: AbortSignal, perform: () => Promise<unknown>): Promise<unknown> {
  let read: ReturnType<typeof Found.safeParse>;
  try {
    // Reading what it returned may call its code, such as a getter.
    read = Found.safeParse(await perform());
  } catch (error) {
    // The log names the line of any error, for the author; one that was stopped is reported where it is stopped.
    if (!signal.aborted && !(error instanceof EndlessCall))
      process.emitWarning(`The capability "${name}" failed: ${oneLine(blame(error), 500)}`, 'ExtensionWarning');
    throw new Failure('TOOL_FAILED', `\`${name}\` says: ${oneLine(saying(error), 500)}`, { cause: error });
  }
  if (!read.success) {
    const fault = `did not return an object with a list \`facts\` of at most ${mostFacts} texts: ${oneLine(faultsOf(read.error).join(' '), 300)}`;
    process.emitWarning(`The capability "${name}" ${fault}`, 'ExtensionWarning');
    throw new Failure('TOOL_FAILED', `\`${name}\` ${fault}`);
  }
  const { facts, notes } = read.data;
  // Cut before it is stored: the journal keeps what counts, not what was returned.
  const seen = facts.map((fact) => ({ ...fact, ...visibleText(bounded(fact.text, longestFact)) }));
  return {
    facts: seen.map(({ text, title, url }) => ({ text, title: title === undefined ? title : oneLine(title, longestTitle), url })),
    notes: [
      ...notes.slice(0, mostNotes).map((text) => oneLine(text, longestNote)),
      ...new Set(seen.flatMap(({ text, removed }) => noticesAbout(text, removed))),
    ],
  };
}

/** Shows the lines of progress of a capability, in their order. Lines above the limit and lines after the end are not shown. */
class Progress {
  private shown = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly signal: AbortSignal,
    private readonly show: (n: number, text: string) => Promise<void>,
  ) {}

  readonly say = (text: unknown): void => {
    if (this.shown >= mostLines || this.signal.aborted) return;
    const n = firstLine + this.shown;
    this.shown += 1;
    this.last = this.last.then(() => this.show(n, oneLine(String(text), longestLine)));
    // `end` throws the failure.
    this.last.catch(() => undefined);
  };

  /** Waits until all lines are shown, and shows no more. */
  end(): Promise<void> {
    this.shown = mostLines;
    return this.last;
  }
}
