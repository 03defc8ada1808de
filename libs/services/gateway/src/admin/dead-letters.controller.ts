import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { DiscardRequest, RedriveRequest, type DeadLetterList, type DeadLetterSettled, type DeadLetterView } from '@conclave/contracts';
import { DeadLetters, EVENT_LOG, STATE, type EventLog, type StateStore } from '@conclave/ports';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { flagIn, pageLimit, textIn } from '../http/query.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Turns } from './turns.js';

/** Requests that may wait while another reads the topic; each reads the whole topic. */
const mostWaiting = 8;

type Query = Readonly<Record<string, unknown>>;

/** Admin routes for dead letters: list, inspect, re-drive, discard. */
@Controller('v1/admin/dead-letters')
export class DeadLettersController {
  private readonly letters: DeadLetters;
  private readonly turns = new Turns(mostWaiting);

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(EVENT_LOG) log: EventLog,
    @Inject(STATE) state: StateStore,
    @Inject(Callers) private readonly callers: Callers,
  ) {
    this.letters = new DeadLetters({
      log,
      runOf: (runId) => state.runs.read(runId),
      ...(options.topics ? { topics: options.topics } : {}),
    });
  }

  @Get()
  async list(@Req() request: Request, @Query() query: Query): Promise<DeadLetterList> {
    await this.callers.identifyOperator(request);
    const limit = pageLimit(query);
    const before = textIn(query, 'before');
    const [topic, group, reason] = [textIn(query, 'topic'), textIn(query, 'group'), textIn(query, 'reason')];
    const filter = { ...(topic ? { topic } : {}), ...(group ? { group } : {}), ...(reason ? { reason } : {}), all: flagIn(query, 'all') };
    return this.turns.take(() => this.letters.list(filter, { limit, ...(before ? { before } : {}) }));
  }

  @Get(':id')
  async one(@Req() request: Request, @Param('id') id: string): Promise<DeadLetterView> {
    await this.callers.identifyOperator(request);
    return this.turns.take(() => this.letters.show(id));
  }

  @Post(':id/redrive')
  @HttpCode(200)
  async redrive(@Req() request: Request, @Param('id') id: string): Promise<DeadLetterSettled> {
    const { actor } = await this.callers.identifyOperator(request);
    const { again, note } = parseBody(RedriveRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const settled = await this.turns.take(() => this.letters.redrive(id, { actor, note: note ?? null, again: again ?? false }));
    this.options.logger.info('dead letter re-driven', { letter: id, actor, group: settled.letter.group, topic: settled.letter.topic });
    return settled;
  }

  @Post(':id/discard')
  @HttpCode(200)
  async discard(@Req() request: Request, @Param('id') id: string): Promise<DeadLetterSettled> {
    const { actor } = await this.callers.identifyOperator(request);
    const { note } = parseBody(DiscardRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const settled = await this.turns.take(() => this.letters.discard(id, { actor, note: note ?? null }));
    this.options.logger.info('dead letter discarded', { letter: id, actor, group: settled.letter.group, topic: settled.letter.topic });
    return settled;
  }
}
