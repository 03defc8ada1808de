import type { RunView, StreamEntry } from '@conclave/contracts';
import { Fragment, useEffect, useMemo, useState } from 'react';
import { ErrorNote } from '../../components/error-note.js';
import { costText, counted, countText, durationText, Moment, momentText } from '../../components/figures.js';
import { Badge, Panel } from '../../components/page.js';
import type { LiveRun } from '../../run/run-fold.js';
import { changeAppearance, useAppearance } from '../../shell/appearance.js';
import type { Records } from './records.js';
import { type TimeScale, timeScale } from './time-scale.js';
import { WaterfallBar } from './waterfall-bar.js';
import { busyTimes, type DecisionLine, waterfallLines, type WorkLine } from './waterfall-lines.js';
import { WorkDetail } from './work-detail.js';

interface WaterfallProps {
  readonly runId: string;
  readonly record: RunView;
  readonly run: LiveRun;
  readonly entries: readonly StreamEntry[];
  readonly records: Records;
  /** Task whose line is open. */
  readonly opened: string | null;
  readonly onOpen: (id: string | null) => void;
}

const columns = 7;
const tickEveryMs = 1_000;

/** Each task of a run on one time axis, with its calls, the superseded attempts, and the decisions of the engine. */
export function Waterfall({ runId, record, run, entries, records, opened, onOpen }: WaterfallProps) {
  const now = useNow(!record.terminal);
  const { steps, calls } = records;
  const rounds = useMemo(() => waterfallLines(record, run, entries, { steps, calls }), [record, run, entries, steps, calls]);
  const scale = useMemo(() => timeScale(busyTimes(rounds, now)), [rounds, now]);
  const { clock } = useAppearance();
  const discarded = rounds.flatMap(({ lines }) => lines).flatMap((line) => (line.kind === 'work' ? [line.lost] : []));
  const attempts = discarded.reduce((sum, lost) => sum + lost.attempts, 0);
  const waste = discarded.reduce((sum, lost) => sum + lost.cost, 0);
  return (
    <Panel
      title="Waterfall"
      actions={
        <fieldset className="choice bare">
          <legend>Times of the waterfall</legend>
          {(['local', 'utc'] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="waterfall-clock" checked={clock === one} onChange={() => changeAppearance({ clock: one })} />
              <span>{one === 'utc' ? 'UTC' : 'Local'}</span>
            </label>
          ))}
        </fieldset>
      }
    >
      {records.error ? <ErrorNote error={records.error} /> : null}
      {records.isAbsent && (
        <p className="quiet" role="note">
          The log of this run cannot be read here; the times are those of its events, and single calls are not shown.
        </p>
      )}
      {attempts > 0 && (
        <p data-discarded={attempts}>
          {counted(attempts, 'attempt')} superseded, {costText(waste)} discarded.
        </p>
      )}
      <div className="table-box" tabIndex={0} role="region" aria-label="Waterfall">
        <table className="table waterfall">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col" className="waterfall-wide">
                Start
              </th>
              <th scope="col" className="number waterfall-wide">
                Queue
              </th>
              <th scope="col" className="number">
                Duration
              </th>
              <th scope="col" className="number waterfall-wide">
                Tokens
              </th>
              <th scope="col" className="number waterfall-wide">
                Cost
              </th>
              <th scope="col" className="waterfall-chart">
                <Axis scale={scale} clock={clock} />
              </th>
            </tr>
          </thead>
          {rounds.map(({ key, title, lines }) => (
            <tbody key={key}>
              <tr className="waterfall-round" data-round={key}>
                <th colSpan={columns} scope="rowgroup">
                  {title}
                </th>
              </tr>
              {lines.map((line) =>
                line.kind === 'decision' ? (
                  <DecisionRow key={line.id} line={line} scale={scale} />
                ) : (
                  <Fragment key={line.id}>
                    <WorkRow line={line} scale={scale} now={now} isOpen={opened === line.id} onOpen={onOpen} />
                    {opened === line.id && (
                      <tr className="waterfall-detail">
                        <td colSpan={columns}>
                          <WorkDetail runId={runId} line={line} hasCalls={!records.isAbsent} />
                        </td>
                      </tr>
                    )}
                  </Fragment>
                ),
              )}
            </tbody>
          ))}
        </table>
      </div>
      <ul className="row quiet waterfall-legend">
        {(
          [
            ['queue', 'waits for a worker'],
            ['work', 'works'],
            ['call', 'model or tool call'],
            ['lost', 'superseded attempt'],
            ['decision', 'decision of the engine'],
            ...(scale.breaks.length > 0 ? [['break', 'idle time, shortened'] as const] : []),
          ] as const
        ).map(([kind, words]) => (
          <li key={kind} className="row">
            <svg width="16" height="10" aria-hidden="true">
              <rect className={`bar-${kind}`} width="16" height="10" rx="2" />
            </svg>
            {words}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The time of this machine, while the run is in progress. */
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), tickEveryMs);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

/** First and last time on the axis, and the length of the idle times that it leaves out. */
function Axis({ scale, clock }: { readonly scale: TimeScale; readonly clock: 'local' | 'utc' }) {
  const idle = scale.breaks.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <span className="waterfall-axis figure">
      <span>{momentText(new Date(scale.from), clock, true)}</span>
      {idle > 0 && <span>{durationText(idle)} idle left out</span>}
      <span>+{durationText(scale.to - scale.from)}</span>
    </span>
  );
}

interface WorkRowProps {
  readonly line: WorkLine;
  readonly scale: TimeScale;
  readonly now: number;
  readonly isOpen: boolean;
  readonly onOpen: (id: string | null) => void;
}

function WorkRow({ line, scale, now, isOpen, onOpen }: WorkRowProps) {
  const { lost, tries } = line;
  return (
    <tr data-line={line.id} data-superseded={lost.attempts} className={isOpen ? 'open' : undefined}>
      <th scope="row" className="waterfall-what">
        <button type="button" className="waterfall-open" aria-expanded={isOpen} onClick={() => onOpen(isOpen ? null : line.id)}>
          <span className={line.replaced ? 'waterfall-title replaced' : 'waterfall-title'}>
            {line.title} {line.name && <span className="quiet">{line.name}</span>}
          </span>
          <span className="row waterfall-marks">
            {line.word !== 'done' && <Badge tone={line.tone}>{line.word}</Badge>}
            {line.replaced && <Badge tone="warn">replaced</Badge>}
            {lost.attempts > 0 && (
              <Badge tone="warn">
                {lost.attempts + 1} attempts, {costText(lost.cost)} discarded
              </Badge>
            )}
            {tries > 0 && <Badge tone="warn">{counted(tries, 'failed try', 'failed tries')}</Badge>}
          </span>
        </button>
      </th>
      <td className="waterfall-wide waterfall-start">{line.from === null ? '-' : <Moment at={line.from} precise />}</td>
      <td className="number waterfall-wide">
        {line.began === null || line.from === null ? '-' : durationText(Math.max(0, line.began - line.from))}
      </td>
      <td className="number">{line.durationMs === null ? '-' : durationText(line.durationMs)}</td>
      <td className="number waterfall-wide">{line.tokens === 0 ? '-' : countText(line.tokens)}</td>
      <td className="number waterfall-wide">{line.cost === 0 ? '-' : costText(line.cost)}</td>
      <td className="waterfall-chart">
        <WaterfallBar line={line} scale={scale} now={now} />
      </td>
    </tr>
  );
}

function DecisionRow({ line, scale }: { readonly line: DecisionLine; readonly scale: TimeScale }) {
  return (
    <tr className="waterfall-decision" data-rule={line.rule}>
      <th scope="row">
        Decides <code>{line.rule}</code>
        <span className="waterfall-narrow"> {line.sentence}</span>
      </th>
      <td className="waterfall-wide waterfall-start">
        <Moment at={line.at} precise />
      </td>
      <td colSpan={4} className="waterfall-wide">
        {line.sentence}
      </td>
      <td className="waterfall-narrow" />
      <td className="waterfall-chart">
        <WaterfallBar line={line} scale={scale} now={0} />
      </td>
    </tr>
  );
}
