import type { RunView, StreamEntry } from '@conclave/contracts';
import type { Tone } from '../../components/page.js';
import type { LiveRun } from '../../run/run-fold.js';
import { capabilityText, stateOf } from '../../run/task-words.js';
import type { CallRecord, Records } from './records.js';
import type { TimeSpan } from './time-scale.js';

/** A task, a plan, or other work of a run, with its calls. */
export interface WorkLine {
  readonly kind: 'work';
  readonly id: string;
  /** Its name inside its plan; empty for work outside a plan. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly word: string;
  readonly tone: Tone;
  readonly from: number | null;
  /** When its first call began; null if no call is known. */
  readonly began: number | null;
  readonly to: number | null;
  readonly durationMs: number | null;
  readonly tokens: number;
  readonly cost: number;
  readonly calls: readonly CallRecord[];
  /** What is stacked behind the winner: superseded attempts, their cause, and their cost. */
  readonly lost: { readonly attempts: number; readonly cost: number; readonly causes: readonly string[] };
  readonly tries: number;
  readonly replaced: boolean;
  readonly result: string;
}

export interface DecisionLine {
  readonly kind: 'decision';
  readonly id: string;
  readonly at: number;
  readonly rule: string;
  readonly sentence: string;
}

export interface RoundLines {
  readonly key: string;
  readonly title: string;
  readonly lines: readonly (WorkLine | DecisionLine)[];
}

/** Tasks outside the plans. */
const isOfEngine = (capability: string): boolean => capability.startsWith('judge.');

const tokensOf = ({ prompt, completion }: { readonly prompt: number; readonly completion: number }): number => prompt + completion;
export const endOf = ({ startedAt, durationMs }: CallRecord): number => startedAt + durationMs;
const least = (times: readonly number[]): number | null => (times.length === 0 ? null : Math.min(...times));
const most = (times: readonly number[]): number | null => (times.length === 0 ? null : Math.max(...times));

const causeOf = ({ failure, status }: CallRecord): string =>
  failure ? `${failure.code}: ${failure.message}` : status === 'ok' ? 'a later attempt took its place' : status;

function lostOf(calls: readonly CallRecord[]): WorkLine['lost'] {
  const superseded = calls.filter((call) => call.superseded);
  return {
    attempts: new Set(superseded.map(({ attempt }) => attempt)).size,
    cost: superseded.reduce((sum, { usage }) => sum + usage.cost, 0),
    causes: [...new Set(superseded.map(causeOf))],
  };
}

const sumOf = (calls: readonly CallRecord[]): { readonly tokens: number; readonly cost: number } => ({
  tokens: calls.reduce((sum, { usage }) => sum + tokensOf(usage), 0),
  cost: calls.reduce((sum, { usage }) => sum + usage.cost, 0),
});

interface Known {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly state: string;
  readonly openedAt: number | null;
  readonly settledAt: number | null;
  readonly durationMs: number | null;
  readonly usage: { readonly tokens: number; readonly cost: number } | null;
  readonly replaced: boolean;
  readonly result: string;
  /** End of its run; null while the run is in progress. */
  readonly endedAt: number | null;
}

function workLine(known: Known, calls: readonly CallRecord[]): WorkLine {
  const winning = calls.filter(({ superseded }) => !superseded);
  const began = least(calls.map(({ startedAt }) => startedAt));
  const from = known.openedAt ?? began;
  const to = known.settledAt ?? most(winning.map(endOf)) ?? (from !== null && known.durationMs !== null ? from + known.durationMs : null);
  const isOpen = known.state === 'open' && known.endedAt === null;
  const [word, tone] = stateOf({ state: known.state });
  const { tokens, cost } = known.usage ?? sumOf(winning);
  return {
    kind: 'work',
    id: known.id,
    name: known.name,
    title: known.title,
    text: known.text,
    word,
    tone,
    from,
    began,
    to: isOpen ? null : (to ?? known.endedAt ?? from),
    durationMs: from !== null && to !== null && !isOpen ? Math.max(0, to - from) : known.durationMs,
    tokens,
    cost,
    calls,
    lost: lostOf(calls),
    tries: calls.reduce((sum, { retries }) => sum + retries, 0),
    replaced: known.replaced,
    result: known.result,
  };
}

/** When each plan was requested and when it arrived. */
function planTimes(entries: readonly StreamEntry[]) {
  const asked = new Map<number, number>();
  const came = new Map<number, number>();
  for (const entry of entries) {
    if (entry.kind === 'planning') asked.set(entry.epoch, entry.at);
    if (entry.kind === 'replanning') asked.set(entry.iteration, entry.at);
    if (entry.kind === 'plan.ready') came.set(entry.epoch, entry.at);
  }
  return { asked, came };
}

const timeOf = (line: WorkLine | DecisionLine): number => (line.kind === 'decision' ? line.at : (line.from ?? Number.POSITIVE_INFINITY));

/** All work of a run, round by round, in order of time. */
export function waterfallLines(
  record: RunView,
  run: LiveRun,
  entries: readonly StreamEntry[],
  { steps, calls }: Pick<Records, 'steps' | 'calls'>,
): readonly RoundLines[] {
  const { asked, came } = planTimes(entries);
  const endedAt = record.completedAt;
  const byOwner = new Map<string, CallRecord[]>();
  for (const call of calls) byOwner.set(call.owner, [...(byOwner.get(call.owner) ?? []), call]);
  const outputAt = new Map(steps.flatMap(({ at, outputs }) => outputs.map(({ id }) => [id, at] as const)));
  const used = new Set<string>();
  const callsOf = (owner: string): readonly CallRecord[] => {
    used.add(owner);
    return byOwner.get(owner) ?? [];
  };
  const rounds = record.rounds.map(({ epoch, tasks, planUsage }): RoundLines => {
    const planId = `${record.id}/${epoch}/plan`;
    const planCalls = callsOf(planId);
    const plan =
      planCalls.length > 0 || planUsage.calls > 0
        ? [
            workLine(
              {
                id: planId,
                name: '',
                title: 'Plans',
                text: '',
                state: endedAt === null && !came.has(epoch) ? 'open' : 'ok',
                openedAt: asked.get(epoch) ?? outputAt.get(planId) ?? null,
                settledAt: came.get(epoch) ?? null,
                endedAt,
                durationMs: null,
                usage: { tokens: tokensOf(planUsage), cost: planUsage.cost },
                replaced: false,
                result: '',
              },
              planCalls,
            ),
          ]
        : [];
    const work = tasks.map((task) => {
      const live = run.tasks.get(task.id);
      return workLine(
        {
          id: task.id,
          name: isOfEngine(task.capability) ? '' : (task.id.split('/').at(-1) ?? task.id),
          title: capabilityText(task.capability),
          text: task.task,
          state: task.status,
          openedAt: live?.openedAt ?? outputAt.get(task.id) ?? null,
          settledAt: live?.settledAt ?? null,
          endedAt,
          durationMs: task.durationMs,
          usage: { tokens: tokensOf(task.usage), cost: task.usage.cost },
          replaced: task.superseded === true,
          result: task.failure?.message ?? live?.summary ?? '',
        },
        callsOf(task.id),
      );
    });
    const decisions = record.decisions
      .filter((decision) => decision.epoch === epoch)
      .map(({ rule, sentence, at }): DecisionLine => ({ kind: 'decision', id: `${epoch} ${rule} ${at}`, at, rule, sentence }));
    const name = run.roundName;
    return {
      key: String(epoch),
      title: `${name.charAt(0).toUpperCase()}${name.slice(1)} ${epoch + 1}`,
      lines: [...plan, ...work, ...decisions].sort((one, other) => timeOf(one) - timeOf(other)),
    };
  });
  const rest = [...byOwner].filter(([owner]) => !used.has(owner));
  if (rest.length === 0) return rounds;
  const others = rest.map(([owner, mine]) =>
    workLine(
      {
        id: owner,
        name: '',
        title: capabilityText(mine[0]!.purpose),
        text: '',
        state: mine.at(-1)!.status,
        openedAt: null,
        settledAt: null,
        endedAt,
        durationMs: null,
        usage: null,
        replaced: false,
        result: '',
      },
      mine,
    ),
  );
  return [...rounds, { key: 'others', title: 'Outside the rounds', lines: others }];
}

/** Times in which something happened. */
export const busyTimes = (rounds: readonly RoundLines[], now: number): readonly TimeSpan[] =>
  rounds.flatMap(({ lines }) =>
    lines.flatMap((line): readonly TimeSpan[] =>
      line.kind === 'decision'
        ? [{ from: line.at, to: line.at }]
        : [
            ...(line.from === null ? [] : [{ from: line.from, to: line.to ?? now }]),
            ...line.calls.map((call) => ({ from: call.startedAt, to: endOf(call) })),
          ],
    ),
  );
