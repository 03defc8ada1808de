import type { DeadLetterItem, DeadLetterList, DeadLetterSettled, DeadLetterView, ServicesReport } from '@conclave/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { queries } from '../../api/queries.js';
import { ErrorNote } from '../../components/error-note.js';
import { bytesText, counted, Moment } from '../../components/figures.js';
import { Loading } from '../../components/loading.js';
import { Badge, Empty, Panel } from '../../components/page.js';

type Consumers = ServicesReport['consumers'];

/** Milliseconds between two reads while a re-driven record may still fail. */
const lookMs = 1_500;

/** Records that failed in the same way at the same place. */
const failureOf = ({ group, topic, reason, error }: DeadLetterItem): string =>
  `${group ?? 'unknown group'} could not handle ${topic ?? 'a record'}: ${error ?? reason}`;

function grouped(letters: readonly DeadLetterItem[]): readonly (readonly [string, readonly DeadLetterItem[]])[] {
  const groups = new Map<string, DeadLetterItem[]>();
  for (const letter of letters) groups.set(failureOf(letter), [...(groups.get(failureOf(letter)) ?? []), letter]);
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}

/** Records that could not be handled, grouped by failure: where a re-drive would send them, and the state of those that were re-driven. */
export function DeadLetters({ consumers }: { readonly consumers: Consumers }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['dead-letters'],
    queryFn: ({ signal }) => api.get<DeadLetterList>('/v1/admin/dead-letters?all=true&limit=200', signal),
    refetchInterval: lookMs * 2,
  });
  const open = data?.data.filter(({ settled }) => settled === null).length ?? 0;
  return (
    <Panel title="Dead letters" actions={data && <Badge tone={open > 0 ? 'bad' : 'good'}>{open} open</Badge>}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading dead letters" />}
      {data?.data.length === 0 && (
        <Empty>
          <p>Every record was handled.</p>
        </Empty>
      )}
      {data && data.data.length < data.total && (
        <p className="quiet">
          The newest {data.data.length} of {data.total}.
        </p>
      )}
      {grouped(data?.data ?? []).map(([failure, letters]) => (
        <section key={failure} className="health-failure" aria-label={failure}>
          <h3>
            {failure} <span className="quiet">{counted(letters.length, 'record')}</span>
          </h3>
          <ul className="stack health-list">
            {letters.map((letter) => (
              <Letter key={letter.id} letter={letter} all={data!.data} consumers={consumers} />
            ))}
          </ul>
        </section>
      ))}
    </Panel>
  );
}

interface LetterProps {
  readonly letter: DeadLetterItem;
  readonly all: readonly DeadLetterItem[];
  readonly consumers: Consumers;
}

/** The state of a re-driven letter: a record that fails again becomes another letter, which names this one. */
function fateOf({ id, settled, group }: DeadLetterItem, all: readonly DeadLetterItem[], consumers: Consumers): string {
  if (settled === null) return 'open';
  if (settled.action === 'discarded') return 'discarded';
  if (all.some(({ redriveOf }) => redriveOf === id)) return 're-driven -> failed again';
  const lag = consumers.find((one) => one.group === group)?.lag;
  return lag === 0 ? 're-driven -> succeeded' : 're-driven -> being handled';
}

function Letter({ letter, all, consumers }: LetterProps) {
  const [isDry, setDry] = useState(false);
  const after = (): Promise<unknown> =>
    Promise.all([queries.invalidateQueries({ queryKey: ['dead-letters'] }), queries.invalidateQueries({ queryKey: ['services'] })]);
  const redrive = useMutation({
    mutationFn: () => api.post<DeadLetterSettled>(`/v1/admin/dead-letters/${encodeURIComponent(letter.id)}/redrive`, {}),
    onSuccess: after,
  });
  const discard = useMutation({
    mutationFn: () => api.post<DeadLetterSettled>(`/v1/admin/dead-letters/${encodeURIComponent(letter.id)}/discard`, {}),
    onSuccess: after,
  });
  const fate = fateOf(letter, all, consumers);
  const tone =
    fate === 'open'
      ? 'bad'
      : fate.endsWith('succeeded')
        ? 'good'
        : fate.endsWith('again')
          ? 'warn'
          : fate === 'discarded'
            ? 'plain'
            : 'busy';
  return (
    <li className="health-letter" data-letter={letter.id}>
      <div className="row">
        <Badge tone={tone}>{fate}</Badge>
        <code>{letter.record ?? letter.id}</code>
        <span>{letter.type ?? 'unknown type'}</span>
        <span className="quiet">
          <Moment at={letter.diedAt} />
          {letter.attempts !== null && `, ${counted(letter.attempts, 'attempt')}`}, {bytesText(letter.bytes)}
        </span>
        {letter.runId !== null && (
          <Link to="/console/chat/$runId" params={{ runId: letter.runId } as never}>
            {letter.runId}
          </Link>
        )}
      </div>
      {letter.settled === null && (
        <div className="row">
          <button
            type="button"
            className="button small"
            aria-expanded={isDry}
            onClick={() => setDry(!isDry)}
            aria-label={`Dry run of ${letter.id}`}
          >
            Dry run
          </button>
          {isDry && (
            <>
              <button
                type="button"
                className="button small primary"
                disabled={redrive.isPending}
                onClick={() => redrive.mutate()}
                aria-label={`Re-drive ${letter.id}`}
              >
                Re-drive
              </button>
              <button
                type="button"
                className="button small danger"
                disabled={discard.isPending}
                onClick={() => discard.mutate()}
                aria-label={`Discard ${letter.id}`}
              >
                Discard
              </button>
            </>
          )}
        </div>
      )}
      {(redrive.error ?? discard.error) && <ErrorNote error={redrive.error ?? discard.error} />}
      {isDry && letter.settled === null && <DryRun id={letter.id} />}
      {letter.settled && (
        <p className="quiet">
          {letter.settled.action} by {letter.settled.actor}, <Moment at={letter.settled.at} />
        </p>
      )}
    </li>
  );
}

/** Where a re-drive would send the record, under which id, and what it could still change. Sends nothing. */
function DryRun({ id }: { readonly id: string }) {
  const { data, error } = useQuery({
    queryKey: ['dead-letter', id],
    queryFn: ({ signal }) => api.get<DeadLetterView>(`/v1/admin/dead-letters/${encodeURIComponent(id)}`, signal),
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Loading what="Reading the record" />;
  return (
    <div className="health-dry" role="region" aria-label={`Dry run of ${id}`}>
      <dl>
        <dt>Destination</dt>
        <dd>
          topic <code>{data.topic ?? 'unknown'}</code>, only for the group <code>{data.group ?? 'unknown'}</code>
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{data.eventId ?? 'none'}</code>, unchanged: a group that has handled it skips it
        </dd>
        <dt>Body</dt>
        <dd>{bytesText(data.bytes)}, byte by byte as it was</dd>
      </dl>
      {data.effects.map((sentence) => (
        <p key={sentence} className="quiet">
          {sentence}
        </p>
      ))}
    </div>
  );
}
