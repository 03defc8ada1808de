import type { CallBodies } from '@conclave/contracts';
import { useState } from 'react';
import { costText, counted, countText, durationText, Moment } from '../../components/figures.js';
import { Badge } from '../../components/page.js';
import { capabilityText } from '../../run/task-words.js';
import { type CallRecord, readBodies } from './records.js';
import type { WorkLine } from './waterfall-lines.js';

interface DetailProps {
  readonly runId: string;
  readonly line: WorkLine;
  /** Whether the log of the run could be read. */
  readonly hasCalls: boolean;
}

/** Everything about one task, and each of its calls. */
export function WorkDetail({ runId, line, hasCalls }: DetailProps) {
  const { lost } = line;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['Task', line.text],
    ['Result', line.result],
    ['Started', line.from === null ? null : <Moment at={line.from} precise />],
    ['Waited for a worker', line.began === null || line.from === null ? null : durationText(Math.max(0, line.began - line.from))],
    ['Tokens', line.tokens > 0 ? countText(line.tokens) : null],
    ['Cost', line.cost > 0 ? costText(line.cost) : null],
    [
      'Discarded',
      lost.attempts > 0 ? `${counted(lost.attempts, 'attempt')}, cost ${costText(lost.cost)}: ${lost.causes.join('; ')}` : null,
    ],
  ];
  return (
    <div className="stack work-detail">
      <dl className="work-facts">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
      {line.calls.length === 0 ? (
        <p className="quiet">{hasCalls ? 'It made no call of a model or a tool.' : 'Its calls cannot be read here.'}</p>
      ) : (
        <ol className="work-calls">
          {line.calls.map((call) => (
            <Call key={`${call.id} ${call.step} ${call.attempt}`} runId={runId} call={call} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Call({ runId, call }: { readonly runId: string; readonly call: CallRecord }) {
  const { usage, retries, repeated } = call;
  return (
    <li className={call.superseded ? 'work-call superseded' : 'work-call'} data-attempt={call.attempt}>
      <p className="row">
        <strong>{capabilityText(call.purpose)}</strong>
        <span>{call.model}</span>
        {call.status !== 'ok' && <Badge tone="bad">{call.status}</Badge>}
        {(call.superseded || call.attempt > 1) && <Badge>attempt {call.attempt}</Badge>}
        {call.superseded && <Badge tone="warn">superseded, {costText(usage.cost)} discarded</Badge>}
      </p>
      <p className="quiet figure">
        <Moment at={call.startedAt} precise />, {durationText(call.durationMs)}
        {call.firstTokenMs !== null && `, first words after ${durationText(call.firstTokenMs)}`}
        {usage.prompt + usage.completion > 0 &&
          `, ${countText(usage.prompt)} tokens in and ${countText(usage.completion)} out, cost ${costText(usage.cost)}`}
        {usage.estimated && ' (estimated)'}
      </p>
      {call.reportedModel !== null && !call.model.startsWith(call.reportedModel) && (
        <p className="quiet">The server says that {call.reportedModel} answered.</p>
      )}
      {call.failure && (
        <p>
          <code>{call.failure.code}</code> {call.failure.message}
        </p>
      )}
      {retries > 0 && <p className="quiet">{counted(retries, 'try', 'tries')} of it failed before this result.</p>}
      {repeated !== undefined && (
        <p className="quiet">It was ended because the model had repeated itself for {countText(repeated)} characters.</p>
      )}
      <Bodies runId={runId} call={call} />
    </li>
  );
}

/** Prompt and reply, read on request; for readers without the right, who may read them. */
function Bodies({ runId, call }: { readonly runId: string; readonly call: CallRecord }) {
  const [bodies, setBodies] = useState<CallBodies | 'reading' | { readonly failure: string } | null>(null);
  if (call.bodies === 'not_kept') return <p className="quiet">Prompt and reply were not kept: prompts are not stored for this run.</p>;
  if (call.bodies === 'forbidden')
    return (
      <p className="quiet">
        Prompt and reply may be read by an auditor, an admin or a key with <code>detail: full</code>; yours shows only figures.
      </p>
    );
  const read = (): void => {
    setBodies('reading');
    readBodies(runId, call).then(setBodies, (error: unknown) =>
      setBodies({ failure: error instanceof Error ? error.message : String(error) }),
    );
  };
  if (bodies === null || bodies === 'reading')
    return (
      <p className="row">
        <button type="button" className="button small" disabled={bodies === 'reading'} onClick={read}>
          {bodies === 'reading' ? 'Reading ...' : 'Prompt and reply'}
        </button>
        <span className="quiet">The audit records that you read them.</span>
      </p>
    );
  if ('failure' in bodies) return <p role="alert">{bodies.failure}</p>;
  return (
    <div className="work-bodies">
      {(['request', 'reply'] as const).map((name) => (
        <section key={name} aria-label={name === 'request' ? 'Prompt' : 'Reply'}>
          <h3>{name === 'request' ? 'Prompt' : 'Reply'}</h3>
          <pre tabIndex={0} role="region" aria-label={name === 'request' ? 'Text of the prompt' : 'Text of the reply'}>
            {bodies[name]}
          </pre>
        </section>
      ))}
      {bodies.cut && <p className="quiet">Only the beginning is shown.</p>}
    </div>
  );
}
