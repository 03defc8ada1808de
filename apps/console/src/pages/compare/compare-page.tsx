import type { RunView } from '@conclave/contracts';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { ErrorNote } from '../../components/error-note.js';
import { costText, countText, durationText } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Empty, Page, Panel } from '../../components/page.js';
import { outcomeOf } from '../../run/outcome-words.js';
import { capabilityText, stateOf } from '../../run/task-words.js';
import { type FollowedRun, useRun } from '../../run/use-run.js';
import { alignTasks, type Pair } from './align.js';
import { Answers } from './answers.js';

type Task = NonNullable<Pair['left']>;

/** Two runs side by side; a run in progress is updated. */
export default function ComparePage() {
  const { left, right } = useSearch({ strict: false }) as { readonly left?: string; readonly right?: string };
  if (!left || !right)
    return (
      <Page title="Compare runs">
        <Empty>
          <p>Two runs are compared.</p>
          <Link to="/console/runs" className="button">
            Choose them among the runs
          </Link>
        </Empty>
      </Page>
    );
  return <TwoRuns key={`${left} ${right}`} left={String(left)} right={String(right)} />;
}

function TwoRuns({ left, right }: { readonly left: string; readonly right: string }) {
  const [one, other] = [useRun(left), useRun(right)];
  const refused = [one, other].find(({ state }) => state === 'refused');
  if (refused)
    return (
      <Page title="Compare runs">
        <ErrorNote error={refused.error} />
      </Page>
    );
  if (!one.record || !other.record)
    return (
      <Page title="Compare runs">
        <Loading what="Reading both runs" />
      </Page>
    );
  const isSame = one.record.question === other.record.question;
  return (
    <Page title="Compare runs" lead={isSame ? 'The same question, asked twice.' : 'Two questions.'}>
      {isSame && <p className="compare-question">{one.record.question}</p>}
      <Figures left={one.record} right={other.record} />
      <Tasks left={one.record} right={other.record} />
      <Answers left={answerOf(one)} right={answerOf(other)} isOver={one.record.terminal && other.record.terminal} />
    </Page>
  );
}

const answerOf = ({ run, record }: FollowedRun): string => run.answer || (record?.answer ?? '');

const secondsOf = ({ startedAt, acceptedAt, completedAt }: RunView): number | null =>
  completedAt === null ? null : Math.max(0, completedAt - (startedAt ?? acceptedAt));

/** Template, outcome and cost of each, with the difference. */
function Figures({ left, right }: { readonly left: RunView; readonly right: RunView }) {
  const tokens = ({ usage: { total } }: RunView): number => total.prompt + total.completion;
  const lines: readonly (readonly [string, (run: RunView) => number | null, (value: number) => string])[] = [
    ['Rounds', (run) => run.roundsUsed, countText],
    ['Calls', (run) => run.usage.total.calls, countText],
    ['Tokens', tokens, countText],
    ['Cost', (run) => run.usage.total.cost, costText],
    ['Duration', secondsOf, durationText],
  ];
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Figures of both runs">
      <table className="table compare-figures">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Figure</span>
            </th>
            {[left, right].map((run, n) => (
              <th key={n} scope="col" className="number">
                <Link to="/console/runs/$runId" params={{ runId: run.id } as never}>
                  {n === 0 ? 'First' : 'Second'}: {run.template.id}
                </Link>
              </th>
            ))}
            <th scope="col" className="number">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Outcome</th>
            {[left, right].map((run, n) => {
              const [word, tone] = outcomeOf(run);
              return (
                <td key={n} className="number" data-outcome={n === 0 ? 'left' : 'right'}>
                  <Badge tone={tone}>{word}</Badge>
                </td>
              );
            })}
            <td className="number">{left.status === right.status ? 'none' : 'other outcome'}</td>
          </tr>
          {lines.map(([name, read, show]) => {
            const [one, other] = [read(left), read(right)];
            const more = one === null || other === null ? null : other - one;
            return (
              <tr key={name} data-figure={name}>
                <th scope="row">{name}</th>
                <td className="number">{one === null ? '-' : show(one)}</td>
                <td className="number">{other === null ? '-' : show(other)}</td>
                <td className="number">{more === null ? '-' : more === 0 ? 'none' : `${more > 0 ? '+' : '−'}${show(Math.abs(more))}`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {[left, right].map((run, n) =>
        run.reason === null ? null : (
          <p key={n} className="quiet compare-reason">
            {n === 0 ? 'First' : 'Second'}: {run.reason} {run.rule && <code>{run.rule}</code>}
          </p>
        ),
      )}
    </div>
  );
}

/** Corresponding tasks, with a button to the first pair that differs. */
function Tasks({ left, right }: { readonly left: RunView; readonly right: RunView }) {
  const pairs = useMemo(() => alignTasks(left, right), [left, right]);
  const first = pairs.findIndex(({ differences }) => differences.length > 0);
  const target = useRef<HTMLTableRowElement>(null);
  return (
    <Panel
      title="Tasks"
      actions={
        <button
          type="button"
          className="button"
          disabled={first < 0}
          onClick={() => {
            target.current?.scrollIntoView({ block: 'center' });
            target.current?.focus({ preventScroll: true });
          }}
        >
          {first < 0 ? 'No difference' : 'To the first difference'}
        </button>
      }
    >
      <div className="table-box" tabIndex={0} role="region" aria-label="Tasks of both runs">
        <table className="table compare-tasks">
          <thead>
            <tr>
              <th scope="col">Round</th>
              <th scope="col">First: {left.template.id}</th>
              <th scope="col">Second: {right.template.id}</th>
              <th scope="col">Difference</th>
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair, n) => (
              <tr
                key={n}
                ref={n === first ? target : undefined}
                tabIndex={n === first ? -1 : undefined}
                className={pair.differences.length > 0 ? 'differs' : undefined}
                data-first={n === first || undefined}
              >
                <th scope="row">{pair.epoch === null ? 'end' : pair.epoch + 1}</th>
                <td>{pair.left ? <TaskCell task={pair.left} /> : <span className="quiet">no such task</span>}</td>
                <td>{pair.right ? <TaskCell task={pair.right} /> : <span className="quiet">no such task</span>}</td>
                <td>{pair.differences.join(', ') || <span className="quiet">none</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function TaskCell({ task }: { readonly task: Task }) {
  const [word, tone] = stateOf({ state: task.status });
  const tokens = task.usage.prompt + task.usage.completion;
  return (
    <div className="compare-task">
      <p className="row">
        <strong>{capabilityText(task.capability)}</strong> <Badge tone={tone}>{word}</Badge>
      </p>
      <p className="compare-text">{task.task}</p>
      <p className="quiet figure">
        {[
          task.durationMs === null ? '' : durationText(task.durationMs),
          tokens > 0 ? `${countText(tokens)} tokens` : '',
          task.usage.cost > 0 ? `cost ${costText(task.usage.cost)}` : '',
          task.model ?? '',
        ]
          .filter((text) => text !== '')
          .join(', ')}
      </p>
    </div>
  );
}
