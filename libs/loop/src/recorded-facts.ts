import { factSentence, readFact, type RunFact, type StepRecorded } from '@conclave/contracts';

/** Fact members that a step copies from its input, by kind of fact. */
const bodies: Readonly<Partial<Record<RunFact['kind'], string>>> = {
  RunStarted: 'request',
  PlanTaken: 'plan',
  PlanRefused: 'plan',
  TaskSettled: 'result',
};

type Recorded = Record<string, unknown>;
interface Given {
  readonly input: unknown;
  /** The request of a run that was aborted before it began. */
  readonly request?: unknown;
}

/** Facts as stored beside their step's input, without the parts that are in the input. */
export const recordedFacts = (facts: readonly RunFact[], { input, request }: Given): Recorded[] =>
  facts.map((fact) => {
    const member = bodies[fact.kind];
    const stored: Recorded = { ...fact };
    if (member !== undefined && stored[member] === input) stored[member] = { input: true };
    else if (member !== undefined && request !== undefined && stored[member] === request) stored[member] = { request: true };
    return stored;
  });

/** Restores recorded facts. Throws if today's code does not know them. */
export const restoredFacts = (recorded: readonly Recorded[], { input, request }: Given): RunFact[] =>
  recorded.map((stored) => {
    const member = bodies[stored['kind'] as RunFact['kind']];
    const reference = member === undefined ? undefined : (stored[member] as { input?: boolean; request?: boolean } | null);
    if (member !== undefined && reference?.input === true) return readFact({ ...stored, [member]: input });
    if (member !== undefined && reference?.request === true) return readFact({ ...stored, [member]: request });
    return readFact(stored);
  });

/** Kind and sentence of each fact of a recorded step; if this version cannot read them, a single entry that says so. */
export function toldFacts({
  input,
  request,
  facts,
}: Pick<StepRecorded['data'], 'input' | 'request' | 'facts'>): readonly { readonly kind: string; readonly sentence: string }[] {
  try {
    const restored = restoredFacts(facts, { input: input.data, request: request?.data });
    return restored.map((fact) => ({ kind: fact.kind, sentence: factSentence(fact) }));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ kind: 'unreadable', sentence: `Its ${facts.length} facts cannot be read by this version: ${why}` }];
  }
}
