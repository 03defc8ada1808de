import { lazy, Suspense, useEffect, useState } from 'react';
import { api } from '../../api/client.js';
import { loadPart } from '../../api/load-part.js';
import { CopyButton } from '../../components/copy-button.js';
import { ErrorNote } from '../../components/error-note.js';
import { durationText } from '../../components/figures.js';
import { Icon } from '../../components/icons.js';
import { Loading } from '../../components/loading.js';
import { Badge } from '../../components/page.js';
import { CacheNote } from '../../run/cache-note.js';
import { CostTable } from '../../run/cost-table.js';
import { Interventions, WaitingQuestion } from '../../run/interventions.js';
import { shownAnswer } from '../../run/markdown-blocks.js';
import { Rating } from '../../run/rating.js';
import { FailureNote } from '../../run/failure-note.js';
import { Gaps, RoundLanes, tasksFor } from '../../run/round-lanes.js';
import type { FeedState } from '../../run/run-feed.js';
import type { LiveRun } from '../../run/run-fold.js';
import { Sources } from '../../run/sources.js';
import { StepTimeline } from '../../run/step-timeline.js';
import { useRun } from '../../run/use-run.js';
import { WhyStopped } from '../../run/why-stopped.js';
import { keepAnswer, type Turn } from './thread.js';

const Markdown = lazy(() => loadPart(() => import('../../run/markdown.js')));
const PlanGraph = lazy(() => loadPart(() => import('../../run/plan-graph.js')));

interface TurnProps {
  readonly turn: Turn;
  /** The newest turn shows how its answer was produced; earlier turns do on request. */
  readonly isLast: boolean;
  readonly onRetry?: () => void;
}

/** One question, its answer as it grows, and beside it the progress of the run. */
export function RunTurn({ turn: { runId, question, model }, isLast, onRetry }: TurnProps) {
  const { run, state, error, record } = useRun(runId);
  const [selected, setSelected] = useState<string | null>(null);
  const [gap, setGap] = useState<string | null>(null);
  const [source, setSource] = useState<number | null>(null);
  const [shown, setShown] = useState<boolean | null>(null);
  const end = run.end ?? (record?.terminal ? record : null);
  const answer = run.answer || (record?.answer ?? '');
  const reason = end?.reason ?? null;
  const sources = run.end?.sources ?? record?.sources ?? [];
  useEffect(() => {
    if (end && answer !== '') keepAnswer(runId, answer);
  }, [end, answer, runId]);

  const chosenGap = run.gaps.find(({ text }) => text === gap);
  const highlighted = chosenGap ? tasksFor(chosenGap, run) : null;
  const isShown = shown ?? isLast;
  return (
    <article className={isShown ? 'turn' : 'turn closed'} aria-label={`Question: ${(question || record?.question) ?? ''}`}>
      <div className="turn-answer stack">
        <div className="question">
          <Question text={(question || record?.question) ?? ''} />
          <p className="quiet">
            {model || record?.template.id}
            <ElapsedTime run={run} />
          </p>
        </div>
        <WhyStopped runId={runId} run={run} record={record} />
        {state === 'refused' && error ? <ErrorNote error={error} /> : <FeedNote state={state} missing={run.missing} />}
        {!end && <Working runId={runId} run={run} isRefused={state === 'refused'} />}
        {record?.cached && <CacheNote record={record} />}
        {answer !== '' && (
          <Suspense fallback={<p className="answer-plain">{answer}</p>}>
            <Markdown
              text={shownAnswer(answer, reason)}
              cited={sources.flatMap(({ n }) => n ?? [])}
              marksUncited={end !== null}
              onCitation={setSource}
            />
          </Suspense>
        )}
        {end && sources.length > 0 && (
          <p className="quiet">
            <span className="uncited">Dotted</span>: a sentence that names no source.
          </p>
        )}
        {run.takenBack > 0 && !end && <p className="quiet">The beginning of the answer was withdrawn; the answer is written again.</p>}
        {record?.cutShort && <p className="quiet">The answer was cut short.</p>}
        {run.end && <FailureNote failure={run.end.failure} reason={reason} />}
        <WaitingQuestion runId={runId} run={run} />
        <Sources
          run={run}
          record={record}
          sources={sources}
          opened={source}
          onOpen={setSource}
          onTask={(id) => {
            setShown(true);
            setSelected(id);
          }}
        />
        {end && (
          <div className="turn-actions">
            {onRetry && (
              <button type="button" className="button" onClick={onRetry}>
                <Icon name="retry" /> Ask again
              </button>
            )}
            <button type="button" className="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
              {isShown ? 'Hide how it came about' : 'How it came about'}
            </button>
            {answer !== '' && <CopyButton what="the answer" text={() => answer} />}
            {answer !== '' && <Rating runId={runId} />}
          </div>
        )}
      </div>
      {isShown && (
        <aside className="thinking stack" aria-label="How the answer is made">
          <Interventions runId={runId} run={run} record={record} />
          {record && <CostTable record={record} />}
          {record?.steps && <StepTimeline run={run} record={record} />}
          {!record?.steps && (
            <details open>
              <summary>Plan</summary>
              <Suspense fallback={<Loading what="Loading the plan" />}>
                <PlanGraph run={run} selected={selected} highlighted={highlighted} onSelect={setSelected} />
              </Suspense>
            </details>
          )}
          <Gaps run={run} chosen={gap} onChoose={setGap} />
          <RoundLanes run={run} record={record} selected={selected} highlighted={highlighted} onSelect={setSelected} />
        </aside>
      )}
    </article>
  );
}

/** A long question scrolls in its own box, so that the answer stays near. */
function Question({ text }: { readonly text: string }) {
  const heading = <h2 dir="auto">{text}</h2>;
  if (text.length <= 400 && text.split('\n').length <= 8) return heading;
  return (
    <div className="question-long" role="region" aria-label="Question" tabIndex={0}>
      {heading}
    </div>
  );
}

interface WorkingProps {
  readonly runId: string;
  readonly run: LiveRun;
  /** The run may not be read, so it cannot be stopped either. */
  readonly isRefused: boolean;
}

/** The run's current activity, in the words of its events, and the button that ends it. Its events say when it has ended. */
function Working({ runId, run, isRefused }: WorkingProps) {
  const [sent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const stop = (): void => {
    setSent(true);
    setError(null);
    const command = { command: 'cancel', reason: 'stopped in the console' };
    api.post(`/v1/runs/${encodeURIComponent(runId)}/commands`, command).catch((failure: unknown) => {
      setSent(false);
      setError(failure);
    });
  };
  return (
    <>
      <div className="row">
        <p className="working" role="status">
          <span className="working-mark" aria-hidden="true" />
          {run.waitsFor ? 'Waits for your answer' : run.paused ? 'Paused' : (run.now ?? 'Works')}
        </p>
        {!isRefused && (
          <button type="button" className="button danger small" disabled={sent} onClick={stop}>
            <Icon name="stop" /> {sent ? 'Stopping' : 'Stop'}
          </button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function FeedNote({ state, missing }: { readonly state: FeedState; readonly missing: LiveRun['missing'] }) {
  return (
    <>
      {state === 'lost' && (
        <p role="status">
          <Badge tone="warn">connection lost</Badge> The run continues; this page reconnects automatically and carries on where it was.
        </p>
      )}
      {missing.map(({ from, to }) => (
        <p key={from} className="quiet" role="note">
          Events {from} to {to} are no longer kept; the answer so far was read as a whole.
        </p>
      ))}
    </>
  );
}

/** Time since the run began, or its whole duration after it ended. */
function ElapsedTime({ run }: { readonly run: LiveRun }) {
  const [now, setNow] = useState(() => Date.now());
  const isRunning = run.startedAt !== null && run.endedAt === null;
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (run.startedAt === null) return null;
  return <span className="figure">, {durationText(Math.max(0, (run.endedAt ?? now) - run.startedAt))}</span>;
}
