import { Inject, Injectable } from '@nestjs/common';
import { type Caller, ChatCompletionRequest, Failure, type ModelChoice, type Template } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import type { Request, Response } from 'express';
import { byEndUser, Callers } from '../http/caller.js';
import { parseBody } from '../http/request-shape.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { Acceptance, type AcceptedRun } from '../runs/acceptance.js';
import { checkedRequest, repeatOf } from '../runs/checked-request.js';
import { Skills } from '../skills/skills.js';
import type { AnswerShape } from './answer-shape.js';
import { beginsAnswer, parseChatRequest, readChatRequest, refuseBegunAnswer } from './chat-request.js';
import { ChatRuns } from './chat-runs.js';
import { ClientTools } from './client-tools.js';
import { DirectCalls } from './direct-calls.js';
import { passedBody, readPassedRequest } from './passed-request.js';
import { asAnswer } from './forced-tool.js';
import { PendingQuestions } from './pending-questions.js';
import { withinReach } from './question-size.js';
import { ToolResults } from './tool-results.js';
import { hasToolsInText, stepModels } from './tools-in-text.js';
import { readUtility, smallModel, utilityBody } from './utility-requests.js';

/** The fields that decide what answers; the rest of the body is read by its handler. */
const NamedModel = ChatCompletionRequest.pick({ model: true });

/** A question in any of the APIs. */
export interface AskedQuestion {
  readonly caller: Caller;
  /** The request in the chat protocol. */
  readonly body: JsonObject;
  /** The request as received, to recognise repeats. */
  readonly raw: Buffer;
  readonly shape: AnswerShape;
}

/** The single path from a question to its answer, for every API: the same checks, limits and runs. */
@Injectable()
export class AskedQuestions {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(ChatRuns) private readonly runs: ChatRuns,
    @Inject(DirectCalls) private readonly direct: DirectCalls,
    @Inject(Skills) private readonly skills: Skills,
    @Inject(PendingQuestions) private readonly pending: PendingQuestions,
    @Inject(Acceptance) private readonly acceptance: Acceptance,
    @Inject(ClientTools) private readonly tools: ClientTools,
    @Inject(ToolResults) private readonly results: ToolResults,
  ) {}

  /** Answers on the response. Throws before anything is written, so every refusal comes before the head of a stream. */
  async answer(request: Request, response: Response, question: AskedQuestion): Promise<void> {
    try {
      await this.answered(request, response, ofEndUser(question));
    } catch (error) {
      throw renamed(error, question.shape);
    }
  }

  /** Starts a run that continues without its client. Throws REQUEST_INVALID for a model that is not a template, and what `answer` throws. */
  async start(request: Request, question: AskedQuestion): Promise<{ readonly run: AcceptedRun; readonly template: Template }> {
    const { caller, body, raw, shape } = ofEndUser(question);
    try {
      const { model } = parseBody(NamedModel, body);
      const resolved = await this.directory.resolve(model, caller.tenant, raw, await this.callers.mayAsk(request));
      if (resolved.kind !== 'template')
        throw new Failure('REQUEST_INVALID', 'Only a template answers in the background: a single model is asked while its client waits.', {
          param: 'model',
        });
      const { template } = resolved;
      const parsed = parseChatRequest(body);
      refuseBegunAnswer(parsed.messages);
      const whole = readChatRequest(parsed, request.headers, this.limits.maxMessages);
      const asked = await this.skills.applied(withinReach(whole, template));
      const detail = await this.callers.detailOf(request, whole.options.detail);
      const checked = checkedRequest(request, asked, template, caller, 'runs', { raw, detail });
      return { run: await this.acceptance.accept(checked, () => Promise.resolve()), template };
    } catch (error) {
      throw renamed(error, shape);
    }
  }

  private async answered(request: Request, response: Response, sent: AskedQuestion): Promise<void> {
    const { caller, raw } = sent;
    const { model } = parseBody(NamedModel, sent.body);
    const resolved = await this.directory.resolve(model, caller.tenant, raw, await this.callers.mayAsk(request));
    const direct = (models: string | ModelChoice): Promise<void> =>
      this.direct.answer(response, readPassedRequest(sent.body, request.headers, this.limits.maxMessages), models, {
        caller,
        shape: sent.shape,
      });
    if (resolved.kind !== 'template') return direct(resolved.kind === 'model' ? resolved.ref : resolved);
    const { template } = resolved;
    const toolModel = ClientTools.passedTo(template, sent.body);
    if (toolModel !== null) return direct(toolModel);
    const question = asAnswer(sent);
    try {
      const parsed = parseChatRequest(question.body);
      // What a run writes is no continuation: only a model can go on in the middle of a sentence, and its server decides how.
      if (hasToolsInText(parsed) || beginsAnswer(parsed.messages)) return await direct(stepModels(template));
      await this.byRun(request, response, question, parsed, template);
    } catch (error) {
      throw question === sent ? error : renamed(error, question.shape);
    }
  }

  private async byRun(
    request: Request,
    response: Response,
    sent: AskedQuestion,
    parsed: ChatCompletionRequest,
    template: Template,
  ): Promise<void> {
    const { caller, body, raw, shape } = sent;
    const whole = readChatRequest(parsed, request.headers, this.limits.maxMessages);
    const question = withinReach(whole, template);
    const utility = readUtility(question, request.headers);
    if (utility) {
      const { model, stream, includeUsage, keepAlive } = question;
      const small = smallModel(template, await this.directory.models());
      return this.direct.answer(
        response,
        { model, stream, includeUsage, keepAlive, body: utilityBody(body) },
        small,
        { caller, shape },
        utility,
      );
    }
    const asked = { whole, template, caller, shape };
    const repeat = repeatOf(request, caller, 'chat', raw);
    const waiting =
      (await this.results.awaited(body, template, caller, repeat)) ?? (await this.pending.answered(whole, template, caller, repeat));
    if (waiting) return this.runs.goOn(response, asked, waiting, repeat);
    const detail = await this.callers.detailOf(request, question.options.detail);
    const passed = { ...whole, body: passedBody(body) };
    const askTools = this.tools.asking(template, passed, { caller, shape }, response);
    await this.runs.answer(request, response, await this.skills.applied(question), asked, { raw, detail, askTools });
  }
}

/** Converts an error to the names that the client used. */
const renamed = (error: unknown, { named }: AnswerShape): unknown => (named && error instanceof Failure ? named(error) : error);

/** The end user comes from the body unless a header names one. */
const ofEndUser = (question: AskedQuestion): AskedQuestion => ({ ...question, caller: byEndUser(question.caller, question.body) });
