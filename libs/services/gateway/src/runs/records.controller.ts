import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { Failure, type RunRecordList } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { textIn } from '../http/query.js';
import { RunRecords } from './run-records.js';

/** The records of a run on the log, for finding out why it was slow or expensive. */
@Controller('v1/runs/:id/records')
export class RecordsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunRecords) private readonly records: RunRecords,
  ) {}

  @Get()
  async list(@Req() request: Request, @Param('id') id: string): Promise<RunRecordList> {
    const caller = await this.callers.identify(request);
    return this.records.list(id, caller, await this.callers.maySeeDetail(request));
  }

  @Get('bodies')
  async bodies(
    @Req() request: Request,
    @Res() response: Response,
    @Param('id') id: string,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const caller = await this.callers.identify(request);
    const mayRead = await this.callers.maySeeDetail(request);
    const bodies = await this.records.bodies(id, caller, mayRead, textIn(query, 'step'), attemptIn(query));
    response.setHeader('cache-control', 'no-store').json(bodies);
  }
}

function attemptIn(query: Readonly<Record<string, unknown>>): number {
  const text = textIn(query, 'attempt') ?? '1';
  if (!/^0*[1-9]\d*$/.test(text)) throw new Failure('REQUEST_INVALID', '`attempt` must be a whole number from 1.', { param: 'attempt' });
  return Number(text);
}
