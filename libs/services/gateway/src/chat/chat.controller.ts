import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { chatShape } from './answer-shape.js';
import { AskedQuestions } from './asked-questions.js';
import { withoutNoTools } from './client-tools.js';

@Controller('v1/chat/completions')
export class ChatController {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(AskedQuestions) private readonly questions: AskedQuestions,
  ) {}

  /** Every refusal is sent before the head of a stream. */
  @Post()
  async complete(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value, raw } = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    await this.questions.answer(request, response, { caller, body: withoutNoTools(value), raw, shape: chatShape });
  }
}
