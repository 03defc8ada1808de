import { Inject, Injectable } from '@nestjs/common';
import {
  type Caller,
  type ChatCompletionChunk,
  type Failure,
  isTerminal,
  type StreamBody,
  type StreamEntry,
  type Template,
  noUsage,
  type RunView,
  type RunCompletedEntry,
} from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Request, Response } from 'express';
import { KeptSchema } from '../answers/kept-schema.js';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, type StreamEnd } from '../options.js';
import { Acceptance, type AcceptedRun, checkedRequest } from '../runs/acceptance.js';
import { Commands } from '../runs/commands.js';
import { Connections } from '../stream/connections.js';
import { Sse } from '../stream/sse.js';
import { type Following, StreamHub, type Viewer } from '../stream/stream-hub.js';
import { Backlog } from './answer-text.js';
import { ChatFrames, errorLine, factsOf, failureOf, finishOf } from './chat-frames.js';
import { type ChatQuestion, progressMode } from './chat-request.js';
import { type ChunkFrame, citations, completion } from './chat-shapes.js';
import { ChatSession, shuttingDown } from './chat-session.js';

/** Makes the answer at the end of a run satisfy the requested schema. Never rejects. */
type Fit = (end: RunCompletedEntry) => Promise<RunCompletedEntry>;
/** Entries that add to the text of an answer. */
const ofAnswer: ReadonlySet<StreamBody['kind']> = new Set(['composing', 'chunk', 'superseded']);

/** Chat requests to a template. Each is a run, which is cancelled when its last client leaves. */
@Injectable()
export class ChatRuns {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Acceptance) private readonly acceptance: Acceptance,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(KeptSchema) private readonly kept: KeptSchema,
  ) {}

  /** Errors of acceptance pass through, before anything is written. */
  async answer(
    request: Request,
    response: Response,
    question: ChatQuestion,
    template: Template,
    caller: Caller,
    body: { readonly raw: Buffer; readonly detail: 'redacted' | 'full' },
  ): Promise<void> {
    const session = new ChatSession({ state: this.state, commands: this.commands, connections: this.connections }, caller, response);
    const run = await session.accepting(
      this.acceptance.accept(checkedRequest(request, question, template, caller, 'chat', body), (known) => session.attach(known)),
    );
    if (!session.open) return;
    response.setHeader('x-run-id', run.runId);
    if (run.cache) response.setHeader('x-conclave-cache', run.cache);
    response.setHeader('link', `</v1/runs/${run.runId}>; rel="describedby"`);
    const frame: ChunkFrame = {
      id: `chatcmpl-${run.runId.slice('run_'.length)}`,
      created: Math.floor(run.requestedAt / 1000),
      model: question.model,
    };
    const schema = this.kept.of(question.answer);
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const fit: Fit | null = schema
      ? (end) => this.kept.fit(end, { runId: run.runId, schema, answer: question.answer, template, caller, signal: leaving.signal })
      : null;
    if (question.stream) this.stream(response, session, run, question, template, frame, fit);
    else this.wait(response, session, run, frame, fit);
  }

  private stream(
    response: Response,
    session: ChatSession,
    run: AcceptedRun,
    question: ChatQuestion,
    template: Template,
    frame: ChunkFrame,
    fit: Fit | null,
  ): void {
    const frames = new ChatFrames({ frame, runId: run.runId, mode: progressMode(question, template), includeUsage: question.includeUsage });
    let following: Following | null = null;
    let firstContent = true;
    const close = (end: StreamEnd): void => {
      following?.stop();
      this.options.metrics.onStreamClose('chat', end);
    };
    const sse = new Sse(response, this.limits, {
      drained: () => following?.wake(),
      tooSlow: () => {
        session.end('goes on');
        close('slow');
        this.options.logger.warn('dropped a client that did not read its stream', { run: run.runId });
      },
    });
    const finish = (events: string, failure: Failure | null, end: StreamEnd, after: 'is over' | 'goes on'): void => {
      session.end(after);
      close(end);
      sse.end(events + (failure ? errorLine(failure) : 'data: [DONE]\n\n'));
      this.note(run.runId, failure);
    };
    const take = (entries: readonly StreamBody[]): void => {
      if (!fit) return show(entries);
      // Text that must satisfy a schema is held until the end.
      const [end] = entries.filter(isTerminal) as RunCompletedEntry[];
      show(entries.filter((entry) => !isTerminal(entry) && !ofAnswer.has(entry.kind)));
      if (end)
        void fit(end).then((fitted) => {
          if (session.open) show([fitted]);
        });
    };
    const show = (entries: readonly StreamBody[]): void => {
      let events = '';
      for (const entry of entries) {
        const { chunks, content, end } = frames.take(entry);
        events += lines(chunks);
        if (content && firstContent) {
          firstContent = false;
          this.options.metrics.onFirstContent('chat', performance.now() - session.began);
        }
        if (!end) continue;
        return finish(
          events,
          end.failure,
          end.failure ? 'failed' : 'finished',
          end.failure?.code === 'ANSWER_SUPERSEDED' ? 'goes on' : 'is over',
        );
      }
      if (events !== '') sse.send(events);
      if (!firstContent) this.options.probe?.reached('gateway', 'mid-stream', run.runId);
    };
    session.onLeft = () => close('disconnected');
    session.farewell = () => finish(lines(frames.fail(shuttingDown(run.runId)).chunks), shuttingDown(run.runId), 'shutdown', 'goes on');
    this.options.metrics.onStreamOpen('chat');
    // A cached answer is sent in one piece with the head.
    if (run.kept) response.cork();
    sse.open(lines([frames.opening()]));
    if (run.kept) {
      take(run.kept);
      return response.uncork();
    }
    const backlog = run.attached ? new Backlog<StreamEntry>() : null;
    const viewer: Viewer = {
      cursor: 0,
      ready: () => sse.ready,
      take: (entries, last) => take(backlog ? backlog.take(entries, viewer.cursor < last) : entries),
      lost: (view) => take([completedOf(view)]),
      failed: (error) => {
        this.options.logger.error('a chat stream failed', { run: run.runId, error });
        finish('', asFailure(error), 'failed', 'goes on');
      },
    };
    following = this.hub.follow(run.runId, viewer, run.attached);
  }

  private wait(response: Response, session: ChatSession, run: AcceptedRun, frame: ChunkFrame, fit: Fit | null): void {
    const finish = async (ended: RunCompletedEntry): Promise<void> => {
      const end = fit ? await fit(ended) : ended;
      if (!session.open) return;
      session.end('is over');
      this.sendAnswer(response, run.runId, frame, end);
    };
    const take = (entries: readonly StreamBody[]): void => {
      const end = entries.find(isTerminal) as RunCompletedEntry | undefined;
      if (end) void finish(end);
    };
    if (run.kept) return take(run.kept);
    const viewer: Viewer = {
      cursor: 0,
      ready: () => session.open,
      take,
      lost: (view) => void finish(completedOf(view)),
      failed: (error) => {
        this.options.logger.error('a chat answer failed', { run: run.runId, error });
        session.end('goes on');
        if (!response.headersSent) sendFailure(response, asFailure(error), this.limits.retryAfterS, true);
      },
    };
    const following = this.hub.follow(run.runId, viewer, run.attached);
    response.once('close', () => following.stop());
  }

  private sendAnswer(response: Response, runId: string, frame: ChunkFrame, end: RunCompletedEntry): void {
    response.setHeader('x-conclave-cost', String(end.usage.cost));
    response.setHeader('x-conclave-rounds', String(end.rounds));
    response.setHeader('x-conclave-outcome', end.outcome);
    if (end.answer === null || end.outcome === 'cancelled' || end.outcome === 'failed') {
      const failure = failureOf(end);
      sendFailure(response, failure, this.limits.retryAfterS, true);
      return this.note(runId, failure);
    }
    const annotations = citations(end.sources, end.answer);
    response
      .status(200)
      .json(completion(frame, { content: end.answer, annotations, finish: finishOf(end), usage: end.usage, facts: factsOf(runId, end) }));
    this.note(runId, null);
  }

  private note(runId: string, failure: Failure | null): void {
    this.options.probe?.note({
      actor: 'gateway',
      op: 'client',
      phase: failure ? 'failed' : 'answered',
      id: runId,
      data: failure ? { code: failure.code } : undefined,
    });
  }
}

const lines = (chunks: readonly ChatCompletionChunk[]): string => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

/** The terminal entry, from the stored run, when the stream no longer holds it. */
const completedOf = (view: RunView): RunCompletedEntry => ({
  kind: 'run.completed',
  outcome: view.outcome ?? 'failed',
  rule: view.rule,
  reason: view.reason ?? '',
  reasonCode: view.reasonCode ?? '',
  answer: view.answer,
  cutShort: view.cutShort,
  sources: view.sources,
  usage: view.usage.total ?? noUsage,
  rounds: view.rounds.length,
  failure: view.failure,
});
