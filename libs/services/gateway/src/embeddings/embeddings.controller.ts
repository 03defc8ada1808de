import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import { EmbeddingRequest, Failure } from '@conclave/contracts';
import type { EmbeddingInput } from '@conclave/ports';
import type { Request, Response } from 'express';
import { byEndUser, Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { type AskedVectors, EmbeddingCalls } from './embedding-calls.js';

@Controller('v1/embeddings')
export class EmbeddingsController {
  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(EmbeddingCalls) private readonly calls: EmbeddingCalls,
  ) {}

  @Post()
  async embed(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value } = await readJsonBody(request, this.limits.maxBodyBytes);
    const asked = parseBody(EmbeddingRequest, value);
    const { input, isOne } = listOf(asked.input);
    const { maxEmbeddingTexts: most } = this.limits;
    if (input.length > most)
      throw new Failure('REQUEST_INVALID', `At most ${most} texts are allowed in one request; send the rest in another.`, {
        param: 'input',
      });
    await this.calls.answer(response, { ...asked, input, isOne }, byEndUser(caller, asked), await this.callers.mayAsk(request));
  }
}

/** The inputs to embed, one by one. */
function listOf(input: EmbeddingRequest['input']): Pick<AskedVectors, 'input' | 'isOne'> {
  if (typeof input === 'string') return { input: [input], isOne: true };
  if (typeof input[0] === 'number') return { input: [input as readonly number[]], isOne: true };
  return { input: input as EmbeddingInput, isOne: false };
}
