import type { RunView } from '@conclave/contracts';
import { short } from '@conclave/platform';
import type { ToldFact } from './run-facts.js';

/** A run, its fork, and what the engine found in both. */
export interface ForkedPair {
  /** Last step that both share. */
  readonly step: number;
  readonly original: RunView;
  readonly fork: RunView;
  readonly originalFacts: readonly ToldFact[];
  readonly forkFacts: readonly ToldFact[];
}

/** A fact of both runs (` `), only of the original (`-`), or only of the fork (`+`), with its step in its run. */
export interface ComparedFact {
  readonly sign: ' ' | '-' | '+';
  readonly step: number;
  readonly sentence: string;
}

/** Facts that follow the shared step, as one list: the longest common part, with what only one of the runs has between. */
export function comparedFacts({ step, originalFacts, forkFacts }: ForkedPair): readonly ComparedFact[] {
  const a = originalFacts.filter((fact) => fact.step > step && !fact.quiet);
  const b = forkFacts.slice(forkFacts.findLastIndex(({ kind }) => kind === 'RunForked') + 1).filter(({ quiet }) => !quiet);
  const same = (i: number, j: number): boolean => untimed(a[i]!) === untimed(b[j]!);
  // common[i][j]: length of the longest common part of a from i on and b from j on.
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i]![j] = same(i, j) ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const told: ComparedFact[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && same(i, j)) {
      told.push({ sign: ' ', step: a[i]!.step, sentence: a[i]!.sentence });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      told.push({ sign: '-', step: a[i]!.step, sentence: a[i]!.sentence });
      i += 1;
    } else {
      told.push({ sign: '+', step: b[j]!.step, sentence: b[j]!.sentence });
      j += 1;
    }
  }
  return told;
}

/** A fact without how long it took and without the ids of child runs, which differ each time. */
const untimed = ({ kind, sentence }: ToldFact): string =>
  `${kind} ${sentence.replace(/ after [\d.]+ m?s\b/, '').replace(/\brun_[A-Za-z0-9]+~/g, '~')}`;

/** Tasks that were under way at the step and that the fork therefore did again, each with its call. */
export function repeatedTasks({ step, originalFacts, forkFacts }: ForkedPair): readonly string[] {
  const placeOf = ({ sentence }: ToldFact): string => /^Task (\S+)/.exec(sentence)?.[1] ?? '';
  // Facts before are copies of the original's, also of an earlier fork.
  const forkedAt = forkFacts.findLastIndex(({ kind }) => kind === 'RunForked');
  const ofOriginal = originalFacts.filter((fact) => fact.step <= step);
  const begun = new Set(ofOriginal.filter(({ kind }) => kind === 'TaskOpened').map(placeOf));
  const added = new Map(ofOriginal.filter(({ kind }) => kind === 'TaskAdmitted').map((fact) => [placeOf(fact), fact.sentence]));
  return forkFacts
    .slice(forkedAt + 1)
    .filter((fact) => fact.kind === 'TaskOpened' && fact.step === forkFacts[forkedAt]?.step && begun.has(placeOf(fact)))
    .map((fact) => (added.get(placeOf(fact)) ?? fact.sentence).replace(/^Task (.*?) was (?:added|sent to the workers)/, '$1'));
}

/** Both runs side by side: how they ended, what they cost, which facts differ, both answers. */
export function forkText(pair: ForkedPair): string {
  const { step, original, fork } = pair;
  const facts = comparedFacts(pair);
  const count = (...signs: readonly string[]): number => facts.filter(({ sign }) => signs.includes(sign)).length;
  const shared = fork.fork?.before ?? null;
  const spent = (run: RunView, of: (usage: RunView['usage']['total']) => number): string =>
    `${of(run.usage.total)}${shared ? `, ${of(run.usage.total) - of(shared)} after step ${step}` : ''}`;
  const tokens = ({ prompt, completion }: RunView['usage']['total']): number => prompt + completion;
  const rows: readonly (readonly [string, string, string])[] = [
    ['', `${original.id} (original)`, `${fork.id} (fork)`],
    ['outcome', outcomeOf(original), outcomeOf(fork)],
    ['rule', original.rule ?? '-', fork.rule ?? '-'],
    ['rounds', String(original.roundsUsed), String(fork.roundsUsed)],
    ['model calls', spent(original, ({ calls }) => calls), spent(fork, ({ calls }) => calls)],
    ['tokens', spent(original, tokens), spent(fork, tokens)],
    ...(original.usage.total.cost > 0 || fork.usage.total.cost > 0
      ? ([['cost', original.usage.total.cost.toFixed(4), fork.usage.total.cost.toFixed(4)]] as const)
      : []),
    ['seconds', secondsOf(original), `${secondsOf(fork)} after step ${step}`],
    ['facts after it', `${count(' ', '-')}, ${count('-')} of its own`, `${count(' ', '+')}, ${count('+')} of its own`],
  ];
  const width = Math.max(...rows.map(([, left]) => left.length));
  const isSame = original.answer === fork.answer;
  const repeated = repeatedTasks(pair);
  return [
    `${fork.id} is ${original.id} up to step ${step}, and live from there on.`,
    '',
    ...rows.map(([name, left, right]) => `${name.padEnd(16)}${left.padEnd(width + 3)}${right}`.trimEnd()),
    '',
    ...(repeated.length > 0
      ? [
          `Done again, because the original had begun it by step ${step}: what it changes may have been changed twice`,
          ...repeated.map((task) => `  ${short(task, 200)}`),
          '',
        ]
      : []),
    facts.length === count(' ')
      ? `Every fact after step ${step} is the same.`
      : `Facts after step ${step} (- of the original, + of the fork, the others of both)`,
    ...(facts.length === count(' ')
      ? []
      : facts.map(({ sign, step: of, sentence }) => `${sign} step ${String(of).padEnd(4)} ${short(sentence, 200)}`)),
    '',
    ...(isSame ? ['Both answers are the same', original.answer ?? '(none)'] : answersOf(original, fork)),
    '',
  ].join('\n');
}

const outcomeOf = ({ outcome, status }: RunView): string => outcome ?? `not ended (${status})`;
const secondsOf = ({ startedAt, completedAt }: RunView): string =>
  startedAt === null || completedAt === null ? '-' : ((completedAt - startedAt) / 1000).toFixed(1);

const answersOf = (original: RunView, fork: RunView): readonly string[] => [
  'Answer of the original',
  original.answer ?? '(none)',
  '',
  'Answer of the fork',
  fork.answer ?? '(none)',
];
