import type { RunView, StreamEntry } from '@conclave/contracts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { loadPart } from '../../api/load-part.js';
import { costText, countText, durationText, Moment } from '../../components/figures.js';
import { Icon } from '../../components/icons.js';
import { Loading } from '../../components/loading.js';
import { Badge, Panel } from '../../components/page.js';
import { shownAnswer } from '../../run/markdown-blocks.js';
import { Gaps, RoundLanes, tasksFor } from '../../run/round-lanes.js';
import { type LiveRun, RunFold } from '../../run/run-fold.js';
import { eventText, isDetail } from './event-words.js';
import type { ShownRun } from './shown-run.js';
import { spentBy } from './spent.js';

const PlanGraph = lazy(() => loadPart(() => import('../../run/plan-graph.js')));
const Markdown = lazy(() => loadPart(() => import('../../run/markdown.js')));

/** Milliseconds between two events during playback, and before a position is written to the address. */
const playEveryMs = 500;
const addressAfterMs = 400;

interface ReplayProps {
  readonly shown: ShownRun;
  readonly record: RunView;
  readonly selected: string | null;
  readonly onSelect: (id: string | null) => void;
}

/** Number of the event up to which the run is shown; null follows the last one. The address contains it as `seq`. */
function usePlace(runId: string): readonly [number | null, (at: number | null) => void] {
  const { seq } = useSearch({ strict: false }) as { readonly seq?: number };
  const wanted = seq === undefined || Number.isNaN(Number(seq)) ? null : Number(seq);
  const [at, setAt] = useState<number | null>(wanted);
  const written = useRef(wanted);
  const navigate = useNavigate();
  useEffect(() => {
    if (wanted === written.current) return;
    written.current = wanted;
    setAt(wanted);
  }, [wanted]);
  useEffect(() => {
    if (at === written.current) return;
    const timer = setTimeout(() => {
      written.current = at;
      void navigate({
        to: '/console/runs/$runId',
        params: { runId } as never,
        search: (at === null ? {} : { seq: at }) as never,
        replace: true,
        resetScroll: false,
      });
    }, addressAfterMs);
    return () => clearTimeout(timer);
  }, [at, navigate, runId]);
  return [at, setAt];
}

/** The run as of any of its events: plan, rounds, cost and answer. */
export function Replay({ shown: { run, entries, origin }, record, selected, onSelect }: ReplayProps) {
  const [at, setAt] = usePlace(record.id);
  const [isPlaying, setIsPlaying] = useState(false);
  const [gap, setGap] = useState<string | null>(null);
  const panel = useRef<HTMLDivElement>(null);
  const last = entries.at(-1)?.id ?? 0;
  const place = at === null ? last : Math.max(0, Math.min(at, last));
  // While it follows the last event, the run is already folded.
  const then = useMemo(() => (at === null || place >= last ? run : RunFold.upTo(entries, place)), [at, place, last, run, entries]);
  const entry = entries.find(({ id }) => id === place);
  const stops = useMemo(() => entries.filter((one) => !isDetail(one)).map(({ id }) => id), [entries, last]);
  const next = stops.find((id) => id > place);
  const before = [...stops].reverse().find((id) => id < place);

  const isLinked = useRef(at !== null);
  useEffect(() => {
    if (isLinked.current && last > 0) {
      isLinked.current = false;
      panel.current?.scrollIntoView({ block: 'start' });
    }
  }, [last]);
  useEffect(() => {
    if (!isPlaying) return;
    if (next === undefined) return setIsPlaying(false);
    const timer = setTimeout(() => setAt(next), playEveryMs);
    return () => clearTimeout(timer);
  }, [isPlaying, next, setAt]);

  const chosenGap = then.gaps.find(({ text }) => text === gap);
  return (
    <Panel
      title="Replay"
      actions={
        <>
          {origin === 'log' && <Badge>from the log</Badge>}
          <Badge tone="busy">recorded, no cost</Badge>
        </>
      }
    >
      <div className="stack replay" ref={panel}>
        <div className="replay-controls">
          <div className="row">
            <button type="button" className="button" disabled={before === undefined} onClick={() => setAt(before!)}>
              <span aria-hidden="true">‹</span> <span className="visually-hidden">Previous event</span>
            </button>
            <button
              type="button"
              className="button"
              onClick={() => {
                if (!isPlaying && next === undefined) setAt(stops[0] ?? 0);
                setIsPlaying(!isPlaying);
              }}
            >
              <Icon name={isPlaying ? 'pause' : 'resume'} /> {isPlaying ? 'Halt' : 'Play'}
            </button>
            <button type="button" className="button" disabled={next === undefined} onClick={() => setAt(next!)}>
              <span aria-hidden="true">›</span> <span className="visually-hidden">Next event</span>
            </button>
          </div>
          <input
            type="range"
            min={0}
            max={last}
            value={place}
            aria-label="Event up to which the run is shown"
            aria-valuetext={entry ? `Event ${place} of ${last}: ${eventText(entry)}` : `Event ${place} of ${last}`}
            onChange={({ target }) => {
              setIsPlaying(false);
              setAt(Number(target.value));
            }}
          />
        </div>
        <p className="replay-event" data-seq={place}>
          <span className="quiet figure">
            Event {place} of {last}
            {entry && (
              <>
                , <Moment at={entry.at} precise />
                {then.startedAt !== null && <> (+{durationText(Math.max(0, entry.at - then.startedAt))})</>}
              </>
            )}
          </span>
          <span>{entry ? eventText(entry) : 'Before the first event.'}</span>
        </p>
        <SpentThen run={then} record={record} />
        <div className="replay-plan">
          <div className="stack">
            <Suspense fallback={<Loading what="Loading the plan" />}>
              <PlanGraph run={then} selected={selected} highlighted={chosenGap ? tasksFor(chosenGap, then) : null} onSelect={onSelect} />
            </Suspense>
            <Gaps run={then} chosen={gap} onChoose={setGap} />
            <AnswerThen run={then} entries={entries} place={place} />
          </div>
          <RoundLanes
            run={then}
            record={place >= last ? record : undefined}
            selected={selected}
            highlighted={chosenGap ? tasksFor(chosenGap, then) : null}
            onSelect={onSelect}
          />
        </div>
      </div>
    </Panel>
  );
}

function SpentThen({ run, record }: { readonly run: LiveRun; readonly record: RunView }) {
  const { calls, tokens, cost } = spentBy(run, record);
  const { total } = record.usage;
  const figures: readonly (readonly [string, string, string])[] = [
    ['Rounds', countText(run.rounds.length), countText(record.rounds.length)],
    ['Calls', countText(calls), countText(total.calls)],
    ['Tokens', countText(tokens), countText(total.prompt + total.completion)],
    // Without prices there is nothing to show.
    ...(record.limits.cost !== null || total.cost > 0 ? [['Cost', costText(cost), costText(total.cost)] as const] : []),
  ];
  return (
    <dl className="replay-spent">
      {figures.map(([name, value, all]) => (
        <div key={name} data-spent={name}>
          <dt className="quiet">{name}</dt>
          <dd className="figure">
            <strong>{value}</strong> <span className="quiet">of {all}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The answer as far as it was written; after the end of the run it is shown above. */
function AnswerThen({ run, entries, place }: { readonly run: LiveRun; readonly entries: readonly StreamEntry[]; readonly place: number }) {
  if (place >= (entries.at(-1)?.id ?? 0)) return null;
  return (
    <section aria-label="Answer at this event" className="stack">
      <h3>Answer at this event</h3>
      {run.answer === '' ? (
        <p className="quiet">Nothing was written yet.</p>
      ) : (
        <Suspense fallback={<p className="answer-plain">{run.answer}</p>}>
          <Markdown text={shownAnswer(run.answer, run.end?.reason ?? null)} />
        </Suspense>
      )}
    </section>
  );
}
