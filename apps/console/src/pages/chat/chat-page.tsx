import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ErrorNote } from '../../components/error-note.js';
import { Icon } from '../../components/icons.js';
import { Loading } from '../../components/loading.js';
import { ask, useTemplates } from './asking.js';
import { Composer } from './composer.js';
import { FirstRun } from './first-run.js';
import { RunTurn, stopRun } from './run-turn.js';
import { useRun } from '../../run/use-run.js';
import { addTurn, type ChatMode, newThread, replaceTurn, type Turn, useThread } from './thread.js';
import { Welcome } from './welcome.js';

/** The conversation of this tab, or one run by its address. */
export default function ChatPage() {
  const { runId } = useParams({ strict: false }) as { readonly runId?: string };
  const navigate = useNavigate();
  const thread = useThread();
  const templates = useTemplates();
  const [mode, setMode] = useState<ChatMode>('chat');
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState(false);
  const end = useRef<HTMLDivElement>(null);

  const turns: readonly Turn[] =
    runId === undefined ? thread.turns : [thread.turns.find((turn) => turn.runId === runId) ?? { runId, question: '', model: '' }];
  const last = turns.at(-1);
  useEffect(() => {
    void end.current?.scrollIntoView({ block: 'nearest' });
  }, [turns.length]);

  const start = async (begin: () => Promise<Turn>, place: (turn: Turn) => void): Promise<void> => {
    setAsking(true);
    setError(null);
    await begin().then(
      async (turn) => {
        place(turn);
        if (runId !== undefined) await navigate({ to: '/' });
      },
      (failure: unknown) => setError(failure),
    );
    setAsking(false);
  };
  const onAsk = (model: string, question: string): void => void start(() => ask({ model, question, thread }), addTurn);
  const onRetry = (turn: Turn): void =>
    void start(
      () => ask({ ...turn, thread: { ...thread, turns: thread.turns.slice(0, thread.turns.indexOf(turn)) }, fresh: true }),
      (again) => (thread.turns.includes(turn) ? replaceTurn(turn.runId, again) : addTurn(again)),
    );

  const composer = (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Composer mode={mode} onMode={setMode} templates={templates.of(mode)} busy={asking} compact={turns.length > 0} onAsk={onAsk} />
    </>
  );
  if (!templates.isKnown)
    return templates.error ? (
      <section className="page">
        <h1>Chat</h1>
        <ErrorNote error={templates.error} onRetry={() => void templates.refetch()} />
      </section>
    ) : (
      <Loading />
    );
  if (turns.length === 0)
    return (
      <section className="page chat-empty">
        {templates.isDemo ? <FirstRun onAsk={onAsk} busy={asking} /> : <h1>What do you want to know?</h1>}
        {composer}
        <Welcome templates={templates.of('chat')} />
      </section>
    );
  return (
    <section className="page chat">
      <header className="page-head">
        <h1>Chat</h1>
        <div className="row">
          {last && <StopButton key={last.runId} runId={last.runId} />}
          <button
            type="button"
            className="button"
            onClick={() => {
              newThread();
              if (runId !== undefined) void navigate({ to: '/' });
            }}
          >
            New chat
          </button>
        </div>
      </header>
      {turns.map((turn) => (
        <RunTurn
          key={turn.runId}
          turn={turn}
          isLast={turn === last}
          {...(turn === last && turn.question !== '' ? { onRetry: () => onRetry(turn) } : {})}
        />
      ))}
      <div ref={end} />
      <div className="composer-place">{composer}</div>
    </section>
  );
}

/** Shown while the last run is in progress. */
function StopButton({ runId }: { readonly runId: string }) {
  const { run, record, state } = useRun(runId);
  const [sent, setSent] = useState(false);
  if (run.end || record?.terminal || state === 'refused') return null;
  return (
    <button
      type="button"
      className="button danger"
      disabled={sent}
      onClick={() => {
        setSent(true);
        stopRun(runId).catch(() => setSent(false));
      }}
    >
      <Icon name="stop" /> {sent ? 'Stopping' : 'Stop'}
    </button>
  );
}
