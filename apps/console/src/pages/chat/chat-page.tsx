import { Navigate, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/session.js';
import { ErrorNote } from '../../components/error-note.js';
import { Loading } from '../../components/loading.js';
import { ask, useTemplates } from './asking.js';
import { Composer } from './composer.js';
import { FirstRun } from './first-run.js';
import { RunTurn } from './run-turn.js';
import { addTurn, type ChatMode, newThread, replaceTurn, type Turn, useThread } from './thread.js';
import { Welcome } from './welcome.js';

/** The conversation of this tab, or one run by its address. A reader who may not ask is shown the page of the run. */
export default function ChatPage() {
  const { runId } = useParams({ strict: false }) as { readonly runId?: string };
  const { may_change: mayChange } = useSession();
  if (runId !== undefined && !mayChange) return <Navigate to="/console/runs/$runId" params={{ runId } as never} replace />;
  return <Conversation {...(runId === undefined ? {} : { runId })} />;
}

function Conversation({ runId }: { readonly runId?: string }) {
  const navigate = useNavigate();
  const thread = useThread();
  const templates = useTemplates();
  const [mode, setMode] = useState<ChatMode>('chat');
  const [chosen, setChosen] = useState<Partial<Record<ChatMode, string>>>({});
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState(false);
  const end = useRef<HTMLDivElement>(null);

  const turns: readonly Turn[] =
    runId === undefined ? thread.turns : [thread.turns.find((turn) => turn.runId === runId) ?? { runId, question: '', model: '' }];
  const last = turns.at(-1);
  useEffect(() => {
    // The newest question goes to the top, and its answer grows below it.
    if (turns.length > 1) end.current?.previousElementSibling?.scrollIntoView({ block: 'start' });
  }, [turns.length]);

  const start = async (begin: () => Promise<Turn>, place: (turn: Turn) => void): Promise<boolean> => {
    setAsking(true);
    setError(null);
    const isAccepted = await begin().then(
      async (turn) => {
        place(turn);
        if (runId !== undefined) await navigate({ to: '/' });
        return true;
      },
      (failure: unknown) => {
        setError(failure);
        return false;
      },
    );
    setAsking(false);
    return isAccepted;
  };
  const onAsk = (model: string, question: string): Promise<boolean> => start(() => ask({ model, question, thread }), addTurn);
  const onRetry = (turn: Turn): void =>
    void start(
      () => ask({ ...turn, thread: { ...thread, turns: thread.turns.slice(0, thread.turns.indexOf(turn)) }, fresh: true }),
      (again) => (thread.turns.includes(turn) ? replaceTurn(turn.runId, again) : addTurn(again)),
    );

  const composer = (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Composer
        mode={mode}
        onMode={setMode}
        templates={templates.of(mode)}
        chosen={chosen[mode]}
        onChoose={(template) => setChosen({ ...chosen, [mode]: template })}
        busy={asking}
        compact={turns.length > 0}
        onAsk={onAsk}
      />
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
        {templates.isDemo ? (
          <FirstRun onAsk={(model, question) => void onAsk(model, question)} busy={asking} />
        ) : (
          <h1>What do you want to know?</h1>
        )}
        {composer}
        <Welcome templates={templates.of('chat')} />
      </section>
    );
  return (
    <section className="page chat">
      <header className="page-head">
        <h1>Chat</h1>
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
