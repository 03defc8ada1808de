import type { Fact, Memory, ResultReady, TriedAction } from '@conclave/contracts';
import type { TaskState } from './state.js';
import { isNear, textKey } from './wording.js';

/** Source and text. What a tool says is compared sign by sign; of a text neither case nor blanks count. */
export function factIdentity({ source, text }: Fact): string {
  const said = source.kind === 'tool' ? text.trim() : text.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();
  return `${source.url ?? source.title} ${said}`;
}

/** Ledger with the new facts appended; a fact with the same source and text as a current one is not a new one. */
export function addFacts(memory: Memory, facts: readonly Fact[]): Memory {
  const known = new Set(memory.facts.filter((fact) => !fact.superseded).map(factIdentity));
  const fresh: Fact[] = [];
  for (const fact of facts) {
    const id = factIdentity(fact);
    if (known.has(id) || fact.text.trim() === '') continue;
    known.add(id);
    fresh.push(fact);
  }
  return fresh.length === 0 ? memory : { ...memory, facts: [...memory.facts, ...fresh] };
}

/** What is known now: without the facts of results that a later one took the place of. */
export const currentFacts = ({ facts }: Memory): readonly Fact[] => facts.filter((fact) => !fact.superseded);

/** Facts that a result brings: its evidence, or the finding of an expert's answer. */
export function saidBy(
  ref: string,
  { spec, epoch }: Pick<TaskState, 'spec' | 'epoch'>,
  result: ResultReady['data'] | { readonly status: 'ok'; readonly finding: string; readonly confidence: number | null },
): readonly Fact[] {
  if (result.status !== 'ok') return [];
  if ('output' in result && result.output?.kind === 'evidence') return result.output.facts;
  const text = 'finding' in result ? result.finding : result.output?.kind === 'answer' ? result.output.finding : '';
  if (text.trim() === '') return [];
  const source = { kind: 'expert', title: spec.capability.slice('expert.'.length), url: null } as const;
  return [{ text, source, taskId: ref, epoch, confidence: result.confidence }];
}

export type Repeat = 'new' | 'known' | 'retry' | 'near' | 'exhausted' | 'once';

/** What a task does, as it is compared with others. */
export interface Action {
  readonly capability: string;
  /** Query, instruction, or a call as canonical JSON. */
  readonly argument: string;
  /** True for a call with arguments: it is the same only sign by sign, and near to none. */
  readonly exact?: boolean | undefined;
  /** True for a call that may have changed something: it is not tried twice. */
  readonly once?: boolean | undefined;
}

/** Two actions with the same key are one. */
export const actionKey = ({ capability, argument, exact }: Action): string =>
  `${capability} ${exact ? `= ${argument}` : textKey(argument)}`;

/**
 * What an action is in the light of what was tried: `known` succeeded before (answer it from the ledger), `retry` failed once (allowed once more),
 * `once` failed and may have changed something all the same, `exhausted` failed twice, `near` says the same as a tried one in other words.
 */
export function repeatOf(tried: readonly TriedAction[], action: Action): Repeat {
  const key = actionKey(action);
  const same = tried.filter((other) => actionKey(other) === key);
  if (same.some(({ outcome }) => outcome === 'facts' || outcome === 'empty')) return 'known';
  if (same.length > 0 && action.once) return 'once';
  if (same.length > 1) return 'exhausted';
  if (same.length === 1) return 'retry';
  const close = tried.some(
    (other) =>
      !action.exact &&
      !other.exact &&
      other.capability === action.capability &&
      other.outcome !== 'failed' &&
      other.outcome !== 'cancelled' &&
      isNear(other.argument, action.argument),
  );
  return close ? 'near' : 'new';
}

/** Last six actions with two or fewer distinct ones: going in circles. */
export function isOscillating(tried: readonly TriedAction[]): boolean {
  const window = tried.slice(-6);
  return window.length === 6 && new Set(window.map(actionKey)).size <= 2;
}
