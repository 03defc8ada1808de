import type { CommandAccepted, RunView } from '@conclave/contracts';
import { type FormEvent, useRef, useState } from 'react';
import { api, ApiError } from '../api/client.js';
import { newKey } from '../api/post-once.js';
import { Icon } from '../components/icons.js';
import { Badge, type Tone } from '../components/page.js';
import type { LiveCommand, LiveRun } from './run-fold.js';

/** A command that this page has sent. Its number comes with the reply; all later states come only from the events of the run. */
interface Sent {
  readonly key: string;
  readonly name: string;
  readonly text: string;
  readonly seq: number | null;
  readonly refused: string | null;
}

const names: Readonly<Record<string, string>> = {
  pause: 'Pause',
  resume: 'Resume',
  steer: 'Steer',
  add_context: 'Add context',
  override_step: 'Override step',
  answer: 'Answer',
  cancel: 'Stop',
};
const texts: Readonly<Record<string, string>> = {
  steer: 'Guidance for every prompt from the next one on',
  add_context: 'Information, quoted as data',
};

interface Props {
  readonly runId: string;
  readonly run: LiveRun;
  readonly record: RunView | undefined;
}

/** Controls of a run in progress, and the state of each command: sent, accepted, then applied or rejected. */
export function Interventions({ runId, run, record }: Props) {
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const [writing, setWriting] = useState<string | null>(null);
  const takes = record?.takes ?? ['cancel'];
  const over = run.end !== null || record?.terminal === true;
  // One button, so that it keeps the focus when it changes.
  const pauseOrResume = run.paused ? 'resume' : 'pause';
  const buttons = useRef<HTMLDivElement>(null);
  /** Closes the field; the focus goes back to the button that opened it. */
  const close = (): void => {
    buttons.current?.querySelector<HTMLElement>(`[data-writes="${writing}"]`)?.focus();
    setWriting(null);
  };

  const send = async (name: string, body: Readonly<Record<string, string>>, text: string): Promise<void> => {
    const key = newKey();
    setSent((all) => [...all, { key, name, text, seq: null, refused: null }]);
    const change = (values: Partial<Sent>): void => setSent((all) => all.map((one) => (one.key === key ? { ...one, ...values } : one)));
    try {
      const path = `/v1/runs/${encodeURIComponent(runId)}/commands`;
      const { seq } = await api.post<CommandAccepted>(path, { command: name, ...body }, { 'idempotency-key': key });
      change({ seq });
    } catch (error) {
      change({ refused: error instanceof ApiError ? error.message : String(error) });
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string): string => String(form.get(name) ?? '').trim();
    if (writing === null) return;
    if (writing === 'override_step') {
      void send(writing, { skill: field('skill'), input: field('text') }, `${field('skill')}: ${field('text')}`);
    } else void send(writing, { text: field('text') }, field('text'));
    close();
  };
  const may = (name: string): boolean => takes.includes(name);
  const written = ['steer', 'add_context', 'override_step'].filter(may);
  if (over && sent.length === 0 && run.commands.length === 0) return null;
  return (
    <section className="stack" aria-label="Interventions">
      {!over && (
        <div className="row" ref={buttons}>
          {may(pauseOrResume) && (
            <button type="button" className="button" onClick={() => void send(pauseOrResume, {}, '')}>
              <Icon name={pauseOrResume} /> {names[pauseOrResume]}
            </button>
          )}
          {written.map((name) => (
            <button
              key={name}
              type="button"
              className="button"
              aria-expanded={writing === name}
              data-writes={name}
              onClick={() => setWriting(writing === name ? null : name)}
            >
              {names[name]}
            </button>
          ))}
        </div>
      )}
      {!over && writing !== null && (
        <form className="panel" onSubmit={submit}>
          {writing === 'override_step' && (
            <label className="field">
              <span>Capability of the step</span>
              <input name="skill" required placeholder="expert.general" />
            </label>
          )}
          <label className="field">
            <span>{writing === 'override_step' ? 'What it should do' : texts[writing]}</span>
            <textarea name="text" rows={3} required maxLength={20_000} autoFocus />
          </label>
          <div className="row">
            <button type="submit" className="button primary">
              Send
            </button>
            <button type="button" className="button" onClick={close}>
              Close
            </button>
          </div>
        </form>
      )}
      <CommandList sent={sent} run={run} over={over} />
    </section>
  );
}

function CommandList({ sent, run, over }: { readonly sent: readonly Sent[]; readonly run: LiveRun; readonly over: boolean }) {
  const own = new Map(sent.flatMap((one) => (one.seq === null ? [] : [[one.seq, one] as const])));
  const ofOthers = run.commands.filter(({ seq }) => !own.has(seq)).map((command) => ({ command, sent: undefined }));
  const rows = [...ofOthers, ...sent.map((one) => ({ command: run.commands.find(({ seq }) => seq === one.seq), sent: one }))];
  if (rows.length === 0) return null;
  return (
    <ol className="commands" aria-label="Commands">
      {rows.map(({ command, sent: mine }) => (
        <CommandRow key={mine?.key ?? command!.seq} command={command} sent={mine} run={run} over={over} />
      ))}
    </ol>
  );
}

interface RowProps {
  readonly command: LiveCommand | undefined;
  readonly sent: Sent | undefined;
  readonly run: LiveRun;
  readonly over: boolean;
}

function CommandRow({ command, sent, run, over }: RowProps) {
  const name = command?.name || sent?.name || '';
  const text = sent?.text || command?.text || '';
  const isSettled = command !== undefined && command.state !== 'accepted';
  const steps: readonly (readonly [string, Tone])[] = [
    ['sent', 'plain'],
    ...(sent?.refused ? [[`refused: ${sent.refused}`, 'bad'] as const] : []),
    ...(command ? [[`accepted (command ${command.seq})`, 'busy'] as const] : []),
    ...(command?.state === 'applied'
      ? [[`applied in ${run.roundName} ${(command.round ?? 0) + 1} (event ${command.by})`, 'good'] as const]
      : []),
    ...(command?.state === 'rejected' ? [[`rejected: ${command.reason}`, 'bad'] as const] : []),
    ...(over && !isSettled && !sent?.refused ? [['not applied: the run had ended', 'warn'] as const] : []),
  ];
  const next = command?.state === 'applied' ? run.rounds.find(({ plannedBy }) => plannedBy !== null && plannedBy > command.by) : undefined;
  return (
    <li data-command={name}>
      <p>
        <strong>{names[name] ?? name}</strong> {text && <q>{text}</q>}
      </p>
      <p className="row">
        {steps.map(([word, tone]) => (
          <Badge key={word} tone={tone}>
            {word}
          </Badge>
        ))}
      </p>
      {next && (
        <p className="quiet">
          The plan after it: {run.roundName} {next.epoch + 1} with {next.tasks.length} tasks (event {next.plannedBy}).
        </p>
      )}
    </li>
  );
}

/** The question of a waiting run, and a field for the answer. */
export function WaitingQuestion({ runId, run }: { readonly runId: string; readonly run: LiveRun }) {
  const [state, setState] = useState<'asked' | 'sent' | { readonly refused: string }>('asked');
  if (!run.waitsFor) return null;
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('answer') ?? '').trim();
    setState('sent');
    await api
      .post(`/v1/runs/${encodeURIComponent(runId)}/commands`, { command: 'answer', text }, { 'idempotency-key': newKey() })
      .catch((error: unknown) => setState({ refused: error instanceof Error ? error.message : String(error) }));
  };
  return (
    <form className="note warn" onSubmit={(event) => void submit(event)}>
      <div className="stack">
        <p>
          <strong>The run asks you:</strong> {run.waitsFor.question}
        </p>
        <label className="field">
          <span>Your answer</span>
          <textarea name="answer" rows={2} required maxLength={20_000} />
        </label>
        <div className="row">
          <button type="submit" className="button primary" disabled={state === 'sent'}>
            {state === 'sent' ? 'Sent, not applied yet' : 'Answer'}
          </button>
          {typeof state === 'object' && <span className="quiet">{state.refused}</span>}
        </div>
      </div>
    </form>
  );
}
