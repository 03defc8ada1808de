import { Inject, Injectable } from '@nestjs/common';
import {
  type AnswerFacts,
  type Caller,
  type ChatCompletionChunk,
  type ClientToolsAsked,
  Failure,
  isTerminal,
  type StreamBody,
  type StreamEntry,
  type Template,
  noUsage,
  type RunView,
  type RunCompletedEntry,
  type Usage,
} from '@conclave/contracts';
import { type JsonObject, STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { keepAlive, sendJson } from '../http/json-answer.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, type StreamEnd } from '../options.js';
import type { AcceptedRun } from '../runs/acceptance.js';
import { Sse } from '../stream/sse.js';
import { type Following, StreamHub, type Viewer } from '../stream/stream-hub.js';
import { Backlog } from './answer-text.js';
import type { AnswerShape } from './answer-shape.js';
import { ChatFrames, factsOf, factsOfCalls, factsOfQuestion, failureOf, finishOf } from './chat-frames.js';
import { type ChatQuestion, progressMode } from './chat-request.js';
import { type ChunkFrame, citations, completion } from './chat-shapes.js';
import { type ChatSession, shuttingDown } from './chat-session.js';
import { PendingQuestions } from './pending-questions.js';
import type { QuestionEntry, RunTurn } from './run-turn.js';

/** Makes the answer at the end of a run satisfy the requested schema. Never rejects. */
export type Fit = (end: RunCompletedEntry) => Promise<RunCompletedEntry>;
/** A request of a client to a template. */
export interface TemplateRequest {
  /** With its whole conversation, and its last message as received. */
  readonly whole: ChatQuestion;
  readonly template: Template;
  readonly caller: Caller;
  /** How the request's API presents the answer. */
  readonly shape: AnswerShape;
}
/** A run as shown by one response. */
export interface Shown extends TemplateRequest {
  readonly run: AcceptedRun;
  readonly turn: RunTurn;
  readonly frame: ChunkFrame;
  readonly fit: Fit | null;
}
/** What the end of a turn reports when the run asks its user. */
interface Asking {
  readonly question: string;
  readonly usage: Usage;
  readonly facts: AnswerFacts;
  /** The calls for the client to make; null if its user is asked. */
  readonly tools: ClientToolsAsked | null;
}
/** Entries that add to the text of an answer. */
const ofAnswer: ReadonlySet<StreamBody['kind']> = new Set(['composing', 'chunk', 'superseded']);

/** Failures of a turn after which its run continues. */
const goesOn: ReadonlySet<string> = new Set(['ANSWER_SUPERSEDED', 'COMMAND_REJECTED']);

/** Shows a run to one client, as a stream or as a whole answer, up to its end or to a question of the run. */
@Injectable()
export class RunResponses {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: Pick<StateStore, 'runs'>,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(PendingQuestions) private readonly pending: PendingQuestions,
  ) {}

  /**
   * Ends a turn with a question. The question is stored first, so that the next message finds its run. Results of tools find it by the ids
   * of their calls. Throws STORE_*.
   */
  private async asks({ run, turn, whole, caller }: Shown, { question, deadline, calls }: QuestionEntry): Promise<Asking> {
    const { runId } = run;
    if (calls) {
      const tools = (await this.state.runs.header(runId))?.data.clientTools;
      if (!tools) throw new Failure('RUN_NOT_FOUND');
      const usage = turn.usageOf(tools.usage);
      return { question, usage, facts: factsOfCalls(runId, usage), tools };
    }
    const view = this.options.describeRun((await this.state.runs.read(runId))?.state);
    const { total } = view.usage;
    await this.pending.note({ runId, question, deadline, usage: total }, whole, caller);
    const usage = turn.usageOf(total);
    return { question, usage, facts: factsOfQuestion(view, usage), tools: null };
  }

  stream(response: Response, session: ChatSession, shown: Shown): void {
    const { run, turn, whole, template, shape, frame, fit } = shown;
    const frames = new ChatFrames({
      frame,
      runId: run.runId,
      mode: shape.modeOf(progressMode(whole, template)),
      includeUsage: whole.includeUsage,
    });
    const writer = shape.writer(frame);
    const lines = (chunks: readonly ChatCompletionChunk[]): string => chunks.map((chunk) => writer.chunk(chunk)).join('');
    let following: Following | null = null;
    let firstContent = true;
    const close = (end: StreamEnd): void => {
      following?.stop();
      this.options.metrics.onStreamClose('chat', end);
    };
    const sse = new Sse(response, this.limits, {
      drained: () => following?.wake(),
      heartbeat: shape.heartbeat,
      tooSlow: () => {
        session.end('goes on');
        close('slow');
        this.options.logger.warn('dropped a client that did not read its stream', { run: run.runId });
      },
    });
    const finish = (events: string, failure: Failure | null, end: StreamEnd, after: 'is over' | 'goes on' | 'is parked'): void => {
      session.end(after);
      close(end);
      sse.end(events + (failure ? writer.fail(failure) : writer.done()));
      this.note(run.runId, failure);
    };
    /** Once the run has asked, the turn shows nothing more. */
    let hasAsked = false;
    const ask = (entry: QuestionEntry): void => {
      hasAsked = true;
      following?.stop();
      this.asks(shown, entry)
        .then(async ({ question, facts, usage, tools }) => {
          const { chunks } = tools ? frames.called(tools, facts, usage) : frames.asked(question, facts, usage);
          const events = lines(chunks);
          // The record of the run, which continues, will have another text.
          await shape.ended?.(frame, null);
          if (session.open) finish(events, null, 'finished', 'goes on');
        })
        .catch((error: unknown) => {
          if (session.open) finish('', asFailure(error), 'failed', 'goes on');
        });
    };
    const take = (all: readonly StreamBody[]): void => {
      const entries = turn.take(all);
      if (!fit) return show(entries);
      // Text that must satisfy a schema is held back until the end.
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
        if (hasAsked) break;
        if (entry.kind === 'question.asked') {
          ask(entry);
          break;
        }
        const { chunks, content, end } = turn.refuses(entry) ? frames.fail(refusedAnswer(entry)) : frames.take(entry);
        events += lines(chunks);
        if (content && firstContent) {
          firstContent = false;
          this.options.metrics.onFirstContent('chat', performance.now() - session.began);
        }
        if (!end) continue;
        const { failure } = end;
        const over = (): void =>
          finish(events, failure, failure ? 'failed' : 'finished', failure && goesOn.has(failure.code) ? 'goes on' : 'is over');
        if (failure || !shape.differs) return over();
        return void this.kept(shown, null).then(() => {
          if (session.open) over();
        });
      }
      if (events !== '') sse.send(events);
      if (!firstContent) this.options.probe?.reached('gateway', 'mid-stream', run.runId);
    };
    session.onLeft = () => close('disconnected');
    session.farewell = () => finish(lines(frames.fail(shuttingDown(run.runId)).chunks), shuttingDown(run.runId), 'shutdown', 'is parked');
    this.options.metrics.onStreamOpen('chat');
    // A cached answer is sent in one piece with the head. The response itself must not be corked: Node 24 loses what it holds at its end.
    const { socket } = response;
    if (run.kept) socket?.cork();
    sse.open(writer.open() + lines([frames.opening()]));
    if (run.kept) {
      take(run.kept);
      socket?.uncork();
      return;
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

  wait(response: Response, session: ChatSession, shown: Shown): void {
    const { run, turn, frame, fit, shape } = shown;
    const finish = async (ended: RunCompletedEntry): Promise<void> => {
      const end = fit ? await fit(ended) : ended;
      if (!session.open) return;
      const whole = end.answer === null ? null : wholeOf(frame, run.runId, end, end.answer);
      if (whole && shape.differs) await this.kept(shown, whole);
      if (!session.open) return;
      session.end('is over');
      this.sendAnswer(response, run.runId, shown, end, whole);
    };
    const fail = (failure: Failure): void => {
      if (!session.open) return;
      session.end('goes on');
      sendFailure(response, failure, this.limits.retryAfterS, true);
    };
    const ask = (entry: QuestionEntry): void => {
      following?.stop();
      this.asks(shown, entry)
        .then(async ({ question, facts, usage, tools }) => {
          const said = tools
            ? ({ content: tools.said, calls: tools.calls, finish: 'tool_calls' } as const)
            : ({ content: question, finish: 'stop' } as const);
          const whole = completion(frame, { ...said, usage, facts });
          await shape.ended?.(frame, whole);
          if (!session.open) return;
          session.end('goes on');
          sendJson(response, shape.whole(whole, frame), { 'x-conclave-outcome': facts.outcome });
          this.note(run.runId, null);
        })
        .catch((error: unknown) => fail(asFailure(error)));
    };
    const take = (entries: readonly StreamBody[]): void => {
      for (const entry of turn.take(entries)) {
        if (entry.kind === 'question.asked') return ask(entry);
        if (turn.refuses(entry)) return fail(refusedAnswer(entry));
        if (isTerminal(entry)) return void finish(entry);
      }
    };
    let following: Following | null = null;
    if (run.kept) return take(run.kept);
    if (shown.whole.keepAlive ?? this.limits.keepAliveJson) keepAlive(response, this.limits);
    const viewer: Viewer = {
      cursor: 0,
      ready: () => session.open,
      take,
      lost: (view) => take([completedOf(view)]),
      failed: (error) => {
        this.options.logger.error('a chat answer failed', { run: run.runId, error });
        session.end('goes on');
        sendFailure(response, asFailure(error), this.limits.retryAfterS, true);
      },
    };
    following = this.hub.follow(run.runId, viewer, run.attached);
    response.once('close', () => following?.stop());
  }

  /** Stores an answer in a form that the record of its run does not have. It was paid for, so it is sent even if that fails. */
  private async kept({ shape, frame, run }: Shown, completion: JsonObject | null): Promise<void> {
    try {
      await shape.ended?.(frame, completion);
    } catch (error) {
      this.options.logger.warn('the form of an answer could not be stored', { run: run.runId, error });
    }
  }

  private sendAnswer(response: Response, runId: string, { frame, shape }: Shown, end: RunCompletedEntry, whole: JsonObject | null): void {
    const headers = {
      'x-conclave-cost': String(end.usage.cost),
      'x-conclave-rounds': String(end.rounds),
      'x-conclave-outcome': end.outcome,
    };
    if (whole === null || end.outcome === 'cancelled' || end.outcome === 'failed') {
      const failure = failureOf(end);
      if (!response.headersSent) for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      sendFailure(response, failure, this.limits.retryAfterS, true);
      return this.note(runId, failure);
    }
    sendJson(response, shape.whole(whole, frame), headers);
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

/** The end of a run as a whole answer. */
const wholeOf = (frame: ChunkFrame, runId: string, end: RunCompletedEntry, content: string): JsonObject => ({
  ...completion(frame, {
    content,
    annotations: citations(end.sources, content),
    finish: finishOf(end),
    usage: end.usage,
    facts: factsOf(runId, end),
  }),
});

/** The failure of a turn whose answer came too late: the run has another answer, or no longer asks. */
const refusedAnswer = ({ reason }: { readonly reason: string }): Failure => new Failure('COMMAND_REJECTED', reason);

/** The terminal entry, from the stored run, when the stream no longer holds it. */
export const completedOf = (view: RunView): RunCompletedEntry => ({
  kind: 'run.completed',
  outcome: view.outcome ?? 'failed',
  rule: view.rule,
  reason: view.reason ?? '',
  reasonCode: view.reasonCode ?? '',
  answer: view.answer,
  cutShort: view.cutShort,
  sources: view.sources,
  usage: view.usage.total ?? noUsage,
  rounds: view.roundsUsed,
  failure: view.failure,
});
