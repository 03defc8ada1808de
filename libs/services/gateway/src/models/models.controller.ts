import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { Failure, type ModelList } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { wordIn } from '../http/query.js';
import { ModelDirectory } from './model-directory.js';

@Controller('v1/models')
export class ModelsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
  ) {}

  @Get()
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.callers.identify(request);
    const kind = wordIn(request.query, 'kind', ['chat', 'embedding']);
    const mayAsk = await this.callers.mayAsk(request);
    const data = kind === 'embedding' ? await this.directory.embeddings(mayAsk) : await this.directory.list(mayAsk);
    const list: ModelList = { object: 'list', data: [...data] };
    response.json(list);
  }

  /** Ids contain slashes, colons and @, plain or percent-encoded, so the rest of the path is the id. */
  @Get('*id')
  async one(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.callers.identify(request);
    const id = decoded(request.path.slice('/v1/models/'.length));
    response.json(await this.directory.find(id, await this.callers.mayAsk(request)));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Failure('REQUEST_INVALID', 'The id in the path is not valid percent-encoding.', { cause, param: 'id' });
  }
}
