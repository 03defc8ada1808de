import { type KeyboardEvent, useRef } from 'react';
import type { RunView } from '@conclave/contracts';
import { costText, counted, countText, durationText } from '../components/figures.js';
import { Badge } from '../components/page.js';
import type { LiveGap, LiveRound, LiveRun, LiveTask } from './run-fold.js';
import { capabilityText, stateOf } from './task-words.js';

type TaskRecord = RunView['rounds'][number]['tasks'][number];

interface LanesProps {
  readonly run: LiveRun;
  readonly record: RunView | undefined;
  readonly selected: string | null;
  readonly highlighted: ReadonlySet<string> | null;
  readonly onSelect: (id: string | null) => void;
}

/** One lane per round, with its tasks as a list that arrow keys move through. */
export function RoundLanes({ run, record, selected, highlighted, onSelect }: LanesProps) {
  const list = useRef<HTMLDivElement>(null);
  const all = run.rounds.flatMap(({ tasks }) => tasks);
  const entrance = selected !== null && all.includes(selected) ? selected : all[0];
  const walk = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -all.length, End: all.length }[event.key];
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('button[data-task]') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus();
  };
  const records = new Map(record?.rounds.flatMap(({ tasks }) => tasks.map((task) => [task.id, task])) ?? []);
  return (
    <div className="lanes" ref={list} onKeyDown={walk}>
      {run.rounds.map((round) => (
        <Lane key={round.epoch} round={round} name={record?.steps ? 'plan' : run.roundName}>
          <ul className="lane-tasks">
            {round.tasks.map((id) => {
              const task = run.tasks.get(id)!;
              const own = records.get(id);
              return (
                <li key={id}>
                  <TaskRow
                    task={task}
                    record={own}
                    isEntrance={id === entrance}
                    isOpen={id === selected}
                    look={highlighted === null ? '' : highlighted.has(id) ? 'highlighted' : 'faded'}
                    onToggle={() => onSelect(id === selected ? null : id)}
                  />
                  {id === selected && <TaskDetail task={task} record={own} />}
                </li>
              );
            })}
          </ul>
        </Lane>
      ))}
    </div>
  );
}

function Lane({ round, name, children }: { readonly round: LiveRound; readonly name: string; readonly children: React.ReactNode }) {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)} ${round.epoch + 1}`;
  return (
    <section className="lane" aria-label={title} data-round={round.epoch}>
      <h3>
        {title}
        {round.fallback && <Badge tone="warn">one general task in place of an unusable plan</Badge>}
      </h3>
      {round.aim !== null && <p className="quiet">Planned for: {round.aim}</p>}
      {round.says !== null && <p className="quiet">The planner says: {round.says}</p>}
      {children}
      {round.decision && (
        <p className="lane-decision">
          <code>{round.decision.rule}</code> {round.decision.sentence}
        </p>
      )}
    </section>
  );
}

interface RowProps {
  readonly task: LiveTask;
  readonly record: TaskRecord | undefined;
  readonly isEntrance: boolean;
  readonly isOpen: boolean;
  readonly look: string;
  readonly onToggle: () => void;
}

function TaskRow({ task, record, isEntrance, isOpen, look, onToggle }: RowProps) {
  const [word, tone] = stateOf(task);
  return (
    <button
      type="button"
      className={`task-row ${look} ${record?.superseded ? 'superseded' : ''}`}
      data-task={task.name}
      data-state={task.state}
      aria-expanded={isOpen}
      tabIndex={isEntrance ? 0 : -1}
      onClick={onToggle}
    >
      <span className="task-name">{capabilityText(task.capability)}</span>
      <span className="task-text">{task.text || task.progress || ''}</span>
      <span className="row task-marks">
        {task.score && <Badge>{task.score.mean.toFixed(2)} of 5</Badge>}
        {task.attempts > 1 && <Badge tone="warn">{counted(task.attempts, 'attempt')}</Badge>}
        {record?.superseded && <Badge tone="warn">replaced</Badge>}
        {task.durationMs !== null && <span className="quiet figure">{durationText(task.durationMs)}</span>}
        <Badge tone={tone}>{word}</Badge>
      </span>
    </button>
  );
}

function TaskDetail({ task, record }: { readonly task: LiveTask; readonly record: TaskRecord | undefined }) {
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Task', record?.task ?? task.text],
    ['Now', task.state === 'open' ? task.progress : null],
    ['Result', task.summary],
    ['Confidence', task.confidence === null ? null : task.confidence.toFixed(2)],
    ['New facts', task.facts > 0 ? countText(task.facts) : null],
    ['Score', task.score ? `${task.score.mean.toFixed(2)} of 5, ${task.score.quality}` : null],
    ['Left open', record && record.gaps.length > 0 ? record.gaps.join(' ') : null],
    ['Notes', record?.notes?.join(' ')],
    ['Model', record?.model],
    [
      'Usage',
      record && record.usage.calls > 0
        ? `${counted(record.usage.calls, 'call')}, ${countText(record.usage.prompt + record.usage.completion)} tokens, cost ${costText(record.usage.cost)}`
        : null,
    ],
    ['Failure', record?.failure?.message],
  ];
  return (
    <dl className="task-detail">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** Ids of the tasks in the rounds that were planned for a gap. */
export const tasksFor = (gap: LiveGap, run: LiveRun): ReadonlySet<string> =>
  new Set(run.rounds.filter(({ epoch }) => gap.addressed.includes(epoch)).flatMap(({ tasks }) => tasks));

const gapWords = (gap: LiveGap, roundName: string): string =>
  [
    `found after ${roundName} ${gap.opened + 1}`,
    ...gap.carried.map((epoch) => `still open after ${epoch + 1}`),
    gap.closed === null ? '' : `closed after ${epoch1(gap.closed)}`,
  ]
    .filter((text) => text !== '')
    .join(', ');
const epoch1 = (epoch: number): number => epoch + 1;

interface GapsProps {
  readonly run: LiveRun;
  readonly chosen: string | null;
  readonly onChoose: (text: string | null) => void;
}

/** The gaps that were found; selecting one highlights the tasks that were planned for it. */
export function Gaps({ run, chosen, onChoose }: GapsProps) {
  if (run.gaps.length === 0) return null;
  return (
    <section aria-label="Gaps">
      <h3>Gaps</h3>
      <ul className="gaps">
        {run.gaps.map((gap) => {
          const state = gap.closed !== null ? 'closed' : gap.carried.length > 0 ? 'carried' : 'opened';
          return (
            <li key={`${gap.opened} ${gap.text}`}>
              <button
                type="button"
                className="gap"
                data-gap={state}
                aria-pressed={chosen === gap.text}
                onClick={() => onChoose(chosen === gap.text ? null : gap.text)}
              >
                <Badge tone={state === 'closed' ? 'good' : 'warn'}>{state}</Badge>
                <span>{gap.text}</span>
                <span className="quiet">{gapWords(gap, run.roundName)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
