import { Controller, Delete, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Caller, Failure, type ResponseDeleted, type ResponseItemList, ResponseRequest } from '@conclave/contracts';
import type { Request, Response } from 'express';
import { AskedQuestions } from '../chat/asked-questions.js';
import type { ChunkFrame } from '../chat/chat-shapes.js';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { flagIn, numberIn, pageLimit, textIn, wordIn } from '../http/query.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Commands } from '../runs/commands.js';
import { RunDirectory } from '../runs/run-directory.js';
import { EventStreams } from '../stream/event-streams.js';
import { ItemReferences } from './item-references.js';
import { ResponseStreams } from './response-streams.js';
import { ResponseViews } from './response-views.js';
import { responseShape, type ShapedRequest, storedOf } from './response-shape.js';
import { chatOf, checkPossible } from './responses-request.js';
import { StoredResponses } from './stored-responses.js';

/** OpenAI's Responses API. */
@Controller('v1/responses')
export class ResponsesController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'metrics'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(AskedQuestions) private readonly questions: AskedQuestions,
    @Inject(StoredResponses) private readonly stored: StoredResponses,
    @Inject(ResponseViews) private readonly views: ResponseViews,
    @Inject(ItemReferences) private readonly references: ItemReferences,
    @Inject(ResponseStreams) private readonly streams: ResponseStreams,
    @Inject(EventStreams) private readonly eventStreams: EventStreams,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  @Post()
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = await this.callers.identify(request);
    const { value, raw } = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    const sent = parseBody(ResponseRequest, value);
    checkPossible(sent);
    const asked = await this.references.resolved(sent, caller);
    const earlier = asked.previous_response_id ? await this.views.continued(asked.previous_response_id, caller) : [];
    const fields = chatOf(asked, earlier, request.headers);
    const progress = asked.conclave?.progress ?? request.headers['x-conclave-progress'];
    const reasoning = Boolean(asked.reasoning?.summary) || (typeof progress === 'string' && progress !== 'none');
    const shaped: ShapedRequest = { request: asked, fields, caller, reasoning };
    const question = { caller, body: fields.body, raw, shape: responseShape(shaped, this.stored) };
    if (asked.background) return this.begin(request, response, shaped, question);
    await this.questions.answer(request, response, question);
  }

  @Get(':id')
  async one(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const after = numberIn(request.query, 'starting_after') ?? -1;
    if (flagIn(request.query, 'stream')) {
      this.eventStreams.admit(response, caller);
      return this.streams.send(response, id, caller, after);
    }
    response.json(await this.views.view(id, caller));
  }

  @Delete(':id')
  async forget(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { tenant } = await this.callers.identify(request);
    await this.stored.remove(tenant, id);
    const deleted: ResponseDeleted = { id, object: 'response', deleted: true };
    response.json(deleted);
  }

  @Post(':id/cancel')
  async cancel(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const { runId } = await this.stored.read(caller.tenant, id);
    if (runId !== null && !(await this.runs.view(runId, caller)).terminal) {
      await this.commands.issue(runId, caller.actor, { name: 'cancel', reason: 'the response was cancelled' });
      this.options.metrics.onCancel('command');
      await this.runs.ends(runId);
    }
    response.status(200).json(await this.views.view(id, caller));
  }

  @Get(':id/input_items')
  async input(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { tenant } = await this.callers.identify(request);
    const { input } = await this.stored.read(tenant, id);
    const all = wordIn(request.query, 'order', ['asc', 'desc']) === 'asc' ? input : [...input].reverse();
    const after = textIn(request.query, 'after');
    const last = all.findIndex((item) => item.id === after);
    if (after !== null && last < 0)
      throw new Failure('REQUEST_INVALID', '`after` must be the id of an item, such as `last_id` of the previous page.', {
        param: 'after',
      });
    const rest = all.slice(last + 1);
    const data = rest.slice(0, pageLimit(request.query));
    const list: ResponseItemList = {
      object: 'list',
      data: [...data],
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: rest.length > data.length,
    };
    response.json(list);
  }

  private async begin(request: Request, response: Response, shaped: ShapedRequest, question: BackgroundQuestion): Promise<void> {
    const { run } = await this.questions.start(request, question);
    const { runId, requestedAt } = run;
    const frame: ChunkFrame = {
      id: question.shape.prefix + runId.slice('run_'.length),
      created: Math.floor(requestedAt / 1000),
      model: shaped.request.model,
    };
    await this.stored.keep(shaped.caller.tenant, storedOf(shaped, frame, runId));
    response.setHeader('x-run-id', runId).setHeader('link', `</v1/runs/${runId}>; rel="describedby"`);
    if (run.cache) response.setHeader('x-conclave-cache', run.cache);
    if (shaped.request.stream) return this.streams.send(response, frame.id, shaped.caller, -1);
    response.status(200).json(await this.views.view(frame.id, shaped.caller));
  }
}

type BackgroundQuestion = Parameters<AskedQuestions['start']>[1] & { readonly caller: Caller };
