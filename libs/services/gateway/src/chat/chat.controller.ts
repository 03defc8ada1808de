import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ChatCompletionRequest } from '@conclave/contracts';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { Skills } from '../skills/skills.js';
import { readChatRequest } from './chat-request.js';
import { repeatOf } from '../runs/acceptance.js';
import { ChatRuns } from './chat-runs.js';
import { DirectCalls } from './direct-calls.js';
import { readPassedRequest } from './passed-request.js';
import { PendingQuestions } from './pending-questions.js';
import { withinReach } from './question-size.js';
import { readUtility, smallModel, utilityBody } from './utility-requests.js';

@Controller('v1/chat/completions')
export class ChatController {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(ChatRuns) private readonly runs: ChatRuns,
    @Inject(DirectCalls) private readonly direct: DirectCalls,
    @Inject(Skills) private readonly skills: Skills,
    @Inject(PendingQuestions) private readonly pending: PendingQuestions,
  ) {}

  /** Every refusal is sent before the head of a stream. */
  @Post()
  async complete(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    const { model } = parseBody(ChatCompletionRequest.pick({ model: true }), body.value);
    const resolved = await this.directory.resolve(model, caller.tenant, body.raw);
    if (resolved.kind === 'model') {
      const passed = readPassedRequest(body.value, request.headers, this.limits.maxMessages);
      await this.direct.answer(response, passed, resolved.ref, caller);
    } else {
      const whole = readChatRequest(body.value, request.headers, this.limits.maxMessages);
      const question = withinReach(whole, resolved.template);
      const utility = readUtility(question, request.headers);
      if (utility) {
        const { stream, includeUsage } = question;
        const small = smallModel(resolved.template, await this.directory.models());
        return this.direct.answer(response, { model, stream, includeUsage, body: utilityBody(body.value) }, small, caller, utility);
      }
      const asked = { whole, template: resolved.template, caller };
      const repeat = repeatOf(request, caller, 'chat', body.raw);
      const waiting = await this.pending.answered(whole, resolved.template, caller, repeat);
      if (waiting) return this.runs.goOn(response, asked, waiting, repeat);
      const detail = await this.callers.detailOf(request, question.options.detail);
      await this.runs.answer(request, response, await this.skills.applied(question), asked, { raw: body.raw, detail });
    }
  }
}
