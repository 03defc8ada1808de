import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, longestCommandText } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Request, Response } from 'express';
import { KeptSchema } from '../answers/kept-schema.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { Acceptance, type AcceptedRun } from '../runs/acceptance.js';
import { type AskTools, checkedRequest, type RepeatKey } from '../runs/checked-request.js';
import { Commands, type WayBack } from '../runs/commands.js';
import { Connections } from '../stream/connections.js';
import type { ChatQuestion } from './chat-request.js';
import { ChatSession } from './chat-session.js';
import type { ChunkFrame } from './chat-shapes.js';
import { type AnsweredRun, lastTurn } from './pending-questions.js';
import { type TemplateRequest, type Fit, RunResponses } from './run-responses.js';
import { firstTurn, RunTurn } from './run-turn.js';

/** Chat requests to a template. Each is a run, which is cancelled or parked when its last client leaves. */
@Injectable()
export class ChatRuns {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Acceptance) private readonly acceptance: Acceptance,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(KeptSchema) private readonly kept: KeptSchema,
    @Inject(RunResponses) private readonly responses: RunResponses,
  ) {}

  /** `question`: what the run is asked. Errors of acceptance pass through, before anything is written. */
  async answer(
    request: Request,
    response: Response,
    question: ChatQuestion,
    asked: TemplateRequest,
    body: { readonly raw: Buffer; readonly detail: 'redacted' | 'full'; readonly askTools?: AskTools | undefined },
  ): Promise<void> {
    const { template, caller } = asked;
    const checked = checkedRequest(request, question, template, caller, 'chat', body);
    const session = this.sessionOf(response, caller, checked.repeat.wayBack);
    const run = await session.accepting(this.acceptance.accept(checked, (known) => session.attach(known)));
    if (!session.open) return;
    if (run.cache) response.setHeader('x-conclave-cache', run.cache);
    await this.show(response, session, asked, { run, turn: new RunTurn(firstTurn), id: run.runId });
  }

  /**
   * Sends the last message, or the results of tools, as the answer to a run that has asked, and shows how the run continues. Throws REQUEST_INVALID
   * for an answer that is too long, STORE_*, LOG_UNAVAILABLE, before anything is written.
   */
  async goOn(response: Response, asked: TemplateRequest, answered: AnsweredRun, repeat: RepeatKey): Promise<void> {
    const { whole, caller } = asked;
    const { runId, seq: sent, usage } = answered;
    const { content: text } = lastTurn(whole);
    const command = answered.command ?? ({ name: 'answer', text } as const);
    if (!answered.command && text.length > longestCommandText)
      throw new Failure('REQUEST_INVALID', `The answer to a question of a run may have ${longestCommandText} characters.`, {
        param: 'messages',
      });
    const session = this.sessionOf(response, caller, repeat.wayBack);
    const run: AcceptedRun = { runId, attached: true, requestedAt: await this.state.now() };
    // Attached first: a client that disconnects from here on cancels or parks the run, as in its first turn.
    const answering = session.attach(run).then(() => sent ?? this.commands.issue(runId, caller.actor, command, repeat.key));
    const answer = await session.accepting(answering);
    this.options.logger.info('a message answers what a run waits for', { run: runId, command: answer, repeated: sent !== null });
    if (!session.open) return;
    const turn = new RunTurn({ answer, usage, mayRepeat: repeat.mayAttach });
    await this.show(response, session, asked, { run, turn, id: `${runId}-${answer}` });
  }

  private sessionOf(response: Response, caller: Caller, wayBack: WayBack): ChatSession {
    return new ChatSession({ state: this.state, commands: this.commands, connections: this.connections }, caller, response, wayBack);
  }

  /** `id`: of this turn, different from that of every other turn. Throws STORE_* before anything is written; the run then continues without the client. */
  private async show(
    response: Response,
    session: ChatSession,
    asked: TemplateRequest,
    { run, turn, id }: { readonly run: AcceptedRun; readonly turn: RunTurn; readonly id: string },
  ): Promise<void> {
    const { whole, template, caller, shape } = asked;
    const { runId } = run;
    response.setHeader('x-run-id', runId);
    response.setHeader('link', `</v1/runs/${runId}>; rel="describedby"`);
    const frame: ChunkFrame = {
      id: shape.prefix + id.slice('run_'.length),
      created: Math.floor(run.requestedAt / 1000),
      model: whole.model,
    };
    try {
      await shape.begun?.(frame, runId);
    } catch (error) {
      session.end('goes on');
      throw error;
    }
    if (!session.open) return;
    const schema = this.kept.of(whole.answer);
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const fit: Fit | null = schema
      ? (end) => this.kept.fit(end, { runId, schema, answer: whole.answer, template, caller, signal: leaving.signal })
      : null;
    const shown = { ...asked, run, turn, frame, fit };
    if (whole.stream) this.responses.stream(response, session, shown);
    else this.responses.wait(response, session, shown);
  }
}
