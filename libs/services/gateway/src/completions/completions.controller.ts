import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import { CompletionRequest } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { AskedQuestions } from '../chat/asked-questions.js';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { chatOf, checkPossible, completionShape } from './completion-shape.js';

/** OpenAI's legacy API. */
@Controller('v1/completions')
export class CompletionsController {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(AskedQuestions) private readonly questions: AskedQuestions,
  ) {}

  @Post()
  async complete(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value, raw } = await readJsonBody(request, this.limits.maxBodyBytes);
    const asked = parseBody(CompletionRequest, value);
    checkPossible(asked);
    const fields = chatOf(asked);
    await this.questions.answer(request, response, { caller, body: fields.body, raw, shape: completionShape(fields) });
  }
}
