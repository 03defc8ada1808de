import type { Fact, Memory, ResultReady, TriedAction } from '@conclave/contracts';
import type { TaskState } from './state.js';
import { isNear, textKey } from './wording.js';

/** Source and text. The text of a tool is compared exactly, any other text without case and white space. */
export function factIdentity({ source, text }: Fact): string {
  const said = source.kind === 'tool' ? text.trim() : text.normalize('NFKC').replace(/\s+/gu, ' ').trim().toLowerCase();
  // Equal results of different calls are different facts: "open" for two days.
  const call = source.call === undefined ? '' : ` (${source.call})`;
  return `${source.url ?? source.title}${call} ${said}`;
}

/** Ledger with the new facts appended, except empty ones and those with the source and text of a current one. */
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

/** Current facts: without those of superseded results. */
export const currentFacts = ({ facts }: Memory): readonly Fact[] => facts.filter((fact) => !fact.superseded);

/** Facts of a result: its evidence, or the finding of an expert's answer. */
export function saidBy(
  ref: string,
  { spec, epoch }: Pick<TaskState, 'spec' | 'epoch'>,
  result: ResultReady['data'] | { readonly status: 'ok'; readonly finding: string; readonly confidence: number | null },
): readonly Fact[] {
  if (result.status !== 'ok') return [];
  if ('output' in result && (result.output?.kind === 'evidence' || result.output?.kind === 'run')) return result.output.facts;
  const text = 'finding' in result ? result.finding : result.output?.kind === 'answer' ? result.output.finding : '';
  if (text.trim() === '') return [];
  const source = { kind: 'expert', title: spec.capability.slice('expert.'.length), url: null } as const;
  return [{ text, source, taskId: ref, epoch, confidence: result.confidence }];
}

export type Repeat = 'new' | 'known' | 'retry' | 'near' | 'exhausted' | 'once';

/** A task's action, for comparison with others. */
export interface Action {
  readonly capability: string;
  /** Query, instruction, or a call as canonical JSON. */
  readonly argument: string;
  /** True for a call with arguments: it equals only an identical call and is near to no other. */
  readonly exact?: boolean | undefined;
  /** True for a call that may have side effects: it is not tried twice. */
  readonly once?: boolean | undefined;
}

/** Actions with the same key are the same action. */
export const actionKey = ({ capability, argument, exact }: Action): string =>
  `${capability} ${exact ? `= ${argument}` : textKey(argument)}`;

/**
 * Compares an action with those tried: `known` succeeded before (answer it from the ledger), `retry` failed once (allowed once more),
 * `once` was made and failed but may have had side effects, `exhausted` failed twice, `near` is a tried action in other words.
 */
export function repeatOf(tried: readonly TriedAction[], action: Action): Repeat {
  const key = actionKey(action);
  const same = tried.filter((other) => actionKey(other) === key);
  if (same.some(({ outcome }) => outcome === 'facts' || outcome === 'empty')) return 'known';
  if (action.once && same.some(({ unsent }) => !unsent)) return 'once';
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

/** The last six actions contain at most two distinct ones: oscillation. */
export function isOscillating(tried: readonly TriedAction[]): boolean {
  const window = tried.slice(-6);
  return window.length === 6 && new Set(window.map(actionKey)).size <= 2;
}
