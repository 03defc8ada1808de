import {
  factSentence,
  isQuiet,
  readFact,
  type RequestedTask,
  type RunFact,
  type RunFactList,
  type StepRecorded,
} from '@conclave/contracts';

/** Fact members that a step copies from its input, by kind of fact. */
const bodies: Readonly<Partial<Record<RunFact['kind'], string>>> = {
  RunStarted: 'request',
  PlanTaken: 'plan',
  PlanRefused: 'plan',
  TaskSettled: 'result',
};

type Recorded = Record<string, unknown>;
/** The events of a step that its facts may refer to. */
interface TakenIn {
  readonly input: { readonly data: unknown };
  /** The request of a run that began with another input. */
  readonly request?: { readonly data: unknown } | null | undefined;
}

/** Facts as stored beside their step's input, without the parts that are in the input. */
export const recordedFacts = (facts: readonly RunFact[], { input, request }: TakenIn): Recorded[] =>
  facts.map((fact) => {
    const member = bodies[fact.kind];
    const stored: Recorded = { ...fact };
    if (member !== undefined && stored[member] === input.data) stored[member] = { input: true };
    else if (member !== undefined && request && stored[member] === request.data) stored[member] = { request: true };
    return stored;
  });

/** Restores recorded facts. Throws if today's code does not know them. */
export const restoredFacts = ({ facts, input, request }: TakenIn & { readonly facts: readonly Recorded[] }): RunFact[] =>
  facts.map((stored) => {
    const member = bodies[stored['kind'] as RunFact['kind']];
    const reference = member === undefined ? undefined : (stored[member] as { input?: boolean; request?: boolean } | null);
    if (member !== undefined && reference?.input === true) return readFact({ ...stored, [member]: input.data });
    if (member !== undefined && reference?.request === true) return readFact({ ...stored, [member]: request?.data });
    return readFact(stored);
  });

/** One fact for readers, with its step and the time of it. */
type ToldFact = RunFactList['data'][number];

/**
 * Every fact of consecutive steps in order, from the first step on. A step that this version cannot read is one entry that says so.
 */
export function toldFacts(
  steps: readonly Pick<StepRecorded['data'], 'version' | 'now' | 'input' | 'request' | 'facts'>[],
): readonly ToldFact[] {
  const asked = new Map<string, RequestedTask>();
  return steps.flatMap((step) => {
    const at = { step: step.version, at: step.now };
    try {
      return restoredFacts(step).map((fact) => {
        if (fact.kind === 'TaskAdmitted') asked.set(fact.ref, fact.wish);
        return { ...at, kind: fact.kind, sentence: factSentence(fact, asked), ...(isQuiet(fact) ? { quiet: true } : {}) };
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [{ ...at, kind: 'unreadable', sentence: `Its ${step.facts.length} facts cannot be read by this version: ${why}` }];
    }
  });
}
