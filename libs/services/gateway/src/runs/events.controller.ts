import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { Failure, isOutage } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { DetailReads } from '../audit/detail-reads.js';
import { Callers } from '../http/caller.js';
import { textIn } from '../http/query.js';
import { EventStreams } from '../stream/event-streams.js';
import { RunDirectory } from './run-directory.js';
import { RunEvents } from './run-events.js';

/** Most runs in one stream. */
const mostRuns = 50;

/** Several runs on one connection: a browser opens six connections to a server and may show more runs than that. */
@Controller('v1/events')
export class EventsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(RunEvents) private readonly events: RunEvents,
    @Inject(DetailReads) private readonly detailReads: DetailReads,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Get()
  async follow(@Req() request: Request, @Res() response: Response, @Query() query: Readonly<Record<string, unknown>>): Promise<void> {
    const caller = await this.callers.identify(request);
    const full = await this.callers.maySeeDetail(request);
    const wanted = runsIn(query);
    const headers = await Promise.all([...wanted.keys()].map((id) => this.runs.header(id, caller).catch((error) => refused(error, id))));
    // Nothing is shown before the record of the read is durable.
    for (const { runId, data } of full ? headers : []) if (data.detail === 'full') await this.detailReads.ofRun(runId, caller);
    this.streams.admit(response, caller);
    await this.events.followAll(
      response,
      headers.map(({ runId }) => ({ runId, after: wanted.get(runId)!, full })),
    );
  }
}

/** Ids of runs, each with the entry id after which to start, from `a:12,b`. Throws REQUEST_INVALID. */
function runsIn(query: Readonly<Record<string, unknown>>): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of (textIn(query, 'runs') ?? '').split(',')) {
    const [, id, after = '0'] = /^([^:]{1,200})(?::(\d{1,15}))?$/.exec(part.trim()) ?? [];
    if (id === undefined)
      throw new Failure('REQUEST_INVALID', '`runs` must be ids of runs with the last id that was seen of each: `run_a:12,run_b:0`.', {
        param: 'runs',
      });
    found.set(id, Number(after));
  }
  if (found.size > mostRuns) throw new Failure('REQUEST_INVALID', `\`runs\` may name at most ${mostRuns} runs.`, { param: 'runs' });
  return found;
}

/** Names the run that cannot be read, so that a reader can continue with the others. */
function refused(error: unknown, id: string): never {
  if (error instanceof Failure && !isOutage(error)) throw new Failure(error.code, error.detail, { param: id });
  throw error;
}
