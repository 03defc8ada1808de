import type { RunView } from '@conclave/contracts';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { loadPart } from '../../api/load-part.js';
import { ErrorNote } from '../../components/error-note.js';
import { durationText, Moment } from '../../components/figures.js';
import { useSession } from '../../api/session.js';
import { Loading } from '../../components/loading.js';
import { Badge, Page, Panel } from '../../components/page.js';
import { CacheNote } from '../../run/cache-note.js';
import { CostTable } from '../../run/cost-table.js';
import { Interventions, WaitingQuestion } from '../../run/interventions.js';
import { FailureNote } from '../../run/failure-note.js';
import { shownAnswer } from '../../run/markdown-blocks.js';
import { outcomeOf } from '../../run/outcome-words.js';
import { Sources } from '../../run/sources.js';
import { StepTimeline } from '../../run/step-timeline.js';
import { WhyStopped } from '../../run/why-stopped.js';
import { AskWith } from './ask-with.js';
import { FactList } from './fact-list.js';
import { Replay } from './replay.js';
import { type ShownRun, useShownRun } from './shown-run.js';
import { Waterfall } from './waterfall.js';

const Markdown = lazy(() => loadPart(() => import('../../run/markdown.js')));

/** Everything about one run. */
export default function RunPage() {
  const { runId } = useParams({ strict: false }) as { readonly runId: string };
  // Another run is another page: nothing stays open.
  return <OneRun key={runId} runId={runId} />;
}

function OneRun({ runId }: { readonly runId: string }) {
  const shown = useShownRun(runId);
  const { run, record, records, state, error } = shown;
  const [opened, setOpened] = useState<string | null>(null);
  const { may_change: mayChange } = useSession();
  if (state === 'refused')
    return (
      <Page title="Run">
        <ErrorNote error={error} />
      </Page>
    );
  if (!record)
    return (
      <Page title="Run">
        <Loading what="Reading the run" />
      </Page>
    );
  return (
    <Page
      title="Run"
      lead={<RunLine record={record} />}
      actions={
        mayChange && (
          <Link to="/console/chat/$runId" params={{ runId } as never} className="button">
            Open in the chat
          </Link>
        )
      }
    >
      <p className="run-question">{record.question}</p>
      <WhyStopped runId={runId} run={run} record={record} />
      {mayChange && (
        <>
          <WaitingQuestion runId={runId} run={run} />
          <Interventions runId={runId} run={run} record={record} />
        </>
      )}
      <div className="run-top">
        <Answer shown={shown} record={record} onTask={setOpened} />
        <div className="stack">
          <Panel title="Cost">
            <CostTable record={record} />
          </Panel>
          {record.terminal && (
            <Panel title="Compare">
              <AskWith record={record} />
            </Panel>
          )}
          {record.steps && (
            <section className="panel run-steps">
              <StepTimeline run={run} record={record} />
            </section>
          )}
        </div>
      </div>
      <Waterfall runId={runId} record={record} run={run} entries={shown.entries} records={records} opened={opened} onOpen={setOpened} />
      <Replay shown={shown} record={record} selected={opened} onSelect={setOpened} />
      <FactList runId={runId} ended={record.terminal} />
    </Page>
  );
}

/** Template, times and outcome in one line. */
function RunLine({ record }: { readonly record: RunView }) {
  const [word, tone] = outcomeOf(record);
  const from = record.startedAt ?? record.acceptedAt;
  return (
    <>
      <Badge tone={tone}>{word}</Badge> <code>{record.id}</code>, template {record.template.id} (version {record.template.version},{' '}
      {record.template.strategy}), <Moment at={record.acceptedAt} />
      {record.completedAt !== null && <>, {durationText(Math.max(0, record.completedAt - from))}</>}
      {record.fork && (
        <>
          , from step {record.fork.step} of{' '}
          <Link to="/console/runs/$runId" params={{ runId: record.fork.of } as never}>
            another run
          </Link>
        </>
      )}
    </>
  );
}

interface AnswerProps {
  readonly shown: ShownRun;
  readonly record: RunView;
  readonly onTask: (id: string) => void;
}

function Answer({ shown: { run }, record, onTask }: AnswerProps) {
  const [source, setSource] = useState<number | null>(null);
  const answer = run.answer || (record.answer ?? '');
  const sources = run.end?.sources ?? record.sources;
  return (
    <Panel title="Answer">
      {record.cached && <CacheNote record={record} />}
      {answer === '' ? (
        <p className="quiet">{record.terminal ? 'There is no answer.' : 'Nothing is written yet.'}</p>
      ) : (
        <Suspense fallback={<p className="answer-plain">{answer}</p>}>
          <Markdown
            text={shownAnswer(answer, record.reason)}
            cited={sources.flatMap(({ n }) => n ?? [])}
            marksUncited={record.terminal}
            onCitation={setSource}
          />
        </Suspense>
      )}
      {record.terminal && sources.length > 0 && (
        <p className="quiet">
          <span className="uncited">Dotted</span>: a sentence that names no source.
        </p>
      )}
      {record.cutShort && <p className="quiet">The answer was cut short.</p>}
      <FailureNote failure={record.failure} reason={record.reason} />
      <Sources
        run={run}
        record={record}
        sources={sources}
        opened={source}
        onOpen={setSource}
        onTask={(id) => {
          onTask(id);
          document.querySelector(`[data-line="${CSS.escape(id)}"]`)?.scrollIntoView({ block: 'center' });
        }}
      />
    </Panel>
  );
}
