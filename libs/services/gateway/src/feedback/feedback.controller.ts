import { createHash } from 'node:crypto';
import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { Failure, type FeedbackAccepted, FeedbackRequest, KnowledgeProposed, makeEvent, type PlanRequested } from '@conclave/contracts';
import { traceparentIn } from '@conclave/platform';
import { EVENT_LOG, type EventLog, STATE, type StateStore } from '@conclave/ports';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { RunDirectory } from '../runs/run-directory.js';

/** Milliseconds a rating is remembered: longer than any run is kept, and only kept runs can be rated. */
const ratedMs = 400 * 24 * 60 * 60 * 1000;

/** Ratings of answers, one per answer. */
@Controller('v1/feedback')
export class FeedbackController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
  ) {}

  /** Accepts a rating once it is on the log. Repeating it changes nothing, and completes it after a crash. */
  @Post()
  @HttpCode(202)
  async rate(@Req() request: Request): Promise<FeedbackAccepted> {
    const caller = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes);
    const { response_id: responseId, rating, correction: words } = parseBody(FeedbackRequest, body.value);
    const correction = words?.trim() ?? '';
    const header = await this.runs.header(runIdOf(responseId), caller);
    const { runId, data } = header;
    // For other actors of the tenant the run does not exist.
    if (data.caller.actor !== caller.actor) throw new Failure('RUN_NOT_FOUND');
    // A cached answer is sent before its run has ended; learning accepts ratings in any order.
    if (!data.cached && !(await this.state.runs.read(runId))?.terminal) throw new Failure('ANSWER_NOT_THERE');
    const holder = createHash('sha256')
      .update(JSON.stringify([rating, correction]))
      .digest('hex');
    const claim = await this.state.once.claim({ tenant: caller.tenant, name: `feedback/${runId}`, holder, ttlMs: ratedMs });
    if (!claim.mine) throw new Failure('FEEDBACK_GIVEN');
    await this.log.publish(await this.eventsOf(header, rating, correction));
    this.options.logger.info('answer rated', { run: runId, rating, correction: correction !== '' });
    return { object: 'feedback', run: runId, rating, correction: correction !== '' };
  }

  private async eventsOf(header: PlanRequested, rating: number, correction: string) {
    const now = await this.state.now();
    const { runId } = header;
    const { tenant, actor } = header.data.caller;
    const event = (id: string, offer: { kind: 'feedback' | 'correction'; text: string; rating: number | null }) =>
      makeEvent(
        KnowledgeProposed,
        { id, runId, source: 'gateway', time: now, traceparent: traceparentIn(header, { id, runId }) },
        { ...offer, tenant, actor, about: runId, proposedAt: now },
      );
    return [
      event(`${runId}/feedback`, { kind: 'feedback', text: '', rating }),
      ...(correction === '' ? [] : [event(`${runId}/feedback/correction`, { kind: 'correction', text: correction, rating: null })]),
    ];
  }
}

/** The id of an answer is its run's id with another prefix, in each API. */
const runIdOf = (id: string): string => id.replace(/^(?:chatcmpl-|cmpl-|msg_|resp_)/, 'run_');
