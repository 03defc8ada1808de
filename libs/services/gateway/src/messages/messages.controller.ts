import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import { type CountedTokens, CountTokensRequest, MessagesRequest } from '@conclave/contracts';
import { isJsonObject } from '@conclave/ports';
import type { Request, Response } from 'express';
import { AskedQuestions } from '../chat/asked-questions.js';
import { Callers, withEndUser } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { estimateInput } from './input-tokens.js';
import { messageShape } from './message-shape.js';
import { chatOf, wantsThinking } from './messages-request.js';

/** Anthropic's Messages API. Any value of `anthropic-version` is accepted. */
@Controller('v1/messages')
export class MessagesController {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(AskedQuestions) private readonly questions: AskedQuestions,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
  ) {}

  @Post()
  async answer(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value, raw } = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    const asked = parseBody(MessagesRequest, value);
    const fields = chatOf(asked, request.headers);
    const progress = asked.conclave?.progress ?? request.headers['x-conclave-progress'];
    const shape = messageShape(fields, {
      thinking: wantsThinking(asked) || (typeof progress === 'string' && progress !== 'none'),
      inputTokens: estimateInput(asked),
      requestId: String(response.getHeader('x-request-id')),
    });
    const user = isJsonObject(asked.metadata) ? asked.metadata['user_id'] : undefined;
    await this.questions.answer(request, response, { caller: withEndUser(caller, user), body: fields.body, raw, shape });
  }

  @Post('count_tokens')
  async count(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value, raw } = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    const asked = parseBody(CountTokensRequest, value);
    await this.directory.resolve(asked.model, caller.tenant, raw, await this.callers.mayAsk(request));
    const counted: CountedTokens = { input_tokens: estimateInput(asked) };
    response.status(200).json(counted);
  }
}
