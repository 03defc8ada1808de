import { createHash } from 'node:crypto';
import { Controller, Delete, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  type Caller,
  type CommandAccepted,
  type CommandName,
  CommandRequest,
  Failure,
  ForkRequest,
  RerunRequest,
  type RunAccepted,
  type RunErasedView,
  type RunList,
} from '@conclave/contracts';
import { commandsIn, type RunState } from '@conclave/loop';
import { STATE, type StateStore } from '@conclave/ports';
import { commandsOf } from '@conclave/strategies';
import type { Request, Response } from 'express';
import { DetailReads } from '../audit/detail-reads.js';
import { readRunRequest } from '../chat/chat-request.js';
import { withinReach } from '../chat/question-size.js';
import { byEndUser, Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { parseBody } from '../http/request-shape.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Skills } from '../skills/skills.js';
import { EventStreams } from '../stream/event-streams.js';
import { Acceptance, type AcceptedRun } from './acceptance.js';
import { checkedFork, checkedRequest } from './checked-request.js';
import { Commands, commandOf } from './commands.js';
import { Erasure } from './erasure.js';
import { Forks } from './forks.js';
import { RunDirectory } from './run-directory.js';
import { RunEvents } from './run-events.js';

const pageSize = { usual: 20, most: 100 };

@Controller('v1/runs')
export class RunsController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(ModelDirectory) private readonly models: ModelDirectory,
    @Inject(Acceptance) private readonly acceptance: Acceptance,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
    @Inject(RunEvents) private readonly events: RunEvents,
    @Inject(Skills) private readonly skills: Skills,
    @Inject(Forks) private readonly forks: Forks,
    @Inject(Erasure) private readonly erasure: Erasure,
    @Inject(DetailReads) private readonly detailReads: DetailReads,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Post()
  async start(@Req() request: Request, @Res() response: Response): Promise<void> {
    const client = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes, this.limits.maxAttachmentBytes);
    const caller = byEndUser(client, body.value);
    const question = readRunRequest(body.value, request.headers, this.limits.maxMessages);
    const resolved = await this.models.resolve(question.model, caller.tenant, body.raw, await this.callers.mayAsk(request));
    if (resolved.kind !== 'template')
      throw new Failure('REQUEST_INVALID', 'A run needs a template. Use /v1/chat/completions to ask a single model.', {
        param: 'model',
      });
    const detail = await this.callers.detailOf(request, question.options.detail);
    const asked = await this.skills.applied(withinReach(question, resolved.template));
    const run = await this.acceptance.accept(
      checkedRequest(request, asked, resolved.template, caller, 'runs', { raw: body.raw, detail }),
      () => Promise.resolve(),
    );
    if (run.cache) response.setHeader('x-conclave-cache', run.cache);
    sendAccepted(response, run, resolved.template.id);
  }

  @Post(':id/forks')
  async fork(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes);
    const fork = await this.forks.checked(id, caller, parseBody(ForkRequest, body.value), await this.callers.mayAsk(request));
    const detail = await this.callers.detailOf(request, null);
    const run = await this.acceptance.accept(checkedFork(request, id, fork, { raw: body.raw, detail }), () => Promise.resolve());
    sendAccepted(response, run, fork.template.id);
  }

  @Post(':id/reruns')
  async again(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes);
    const { template } = parseBody(RerunRequest, body.value);
    const rights = { mayAsk: await this.callers.mayAsk(request), teaches: !(await this.callers.isAuditor(request)) };
    const rerun = await this.forks.again(id, caller, template, rights);
    const detail = await this.callers.detailOf(request, null);
    const run = await this.acceptance.accept(checkedFork(request, id, rerun, { raw: body.raw, detail }, 'reruns'), () => Promise.resolve());
    sendAccepted(response, run, rerun.template.id);
  }

  @Get(':id/facts')
  async facts(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const facts = await this.forks.facts(id, await this.callers.identify(request));
    response.setHeader('x-run-id', facts.runId).json(facts);
  }

  @Get()
  async list(
    @Req() request: Request,
    @Res() response: Response,
    @Query('limit') limit?: unknown,
    @Query('before') before?: unknown,
  ): Promise<void> {
    const caller = await this.callers.identify(request);
    const size = Math.min(integer(limit, 'limit', 1) ?? pageSize.usual, pageSize.most);
    const from = integer(before, 'before', 0);
    const found = await this.state.runs.list({ tenant: caller.tenant, limit: size, ...(from === null ? {} : { before: from }) });
    const list: RunList = {
      object: 'list',
      data: found.map(({ runId, template, status, terminal, acceptedAt, question }) => ({
        object: 'run',
        id: runId,
        template,
        status,
        terminal,
        acceptedAt,
        question,
      })),
      nextBefore: found.length < size ? null : found.at(-1)!.acceptedAt,
    };
    response.json(list);
  }

  @Get(':id')
  async one(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const view = await this.runs.view(id, caller);
    response.setHeader('x-run-id', view.id).json(view);
  }

  @Delete(':id')
  async erase(@Req() request: Request, @Param('id') id: string): Promise<RunErasedView> {
    return this.erasure.erase(id, await this.callers.identify(request));
  }

  @Get(':id/events')
  async follow(
    @Req() request: Request,
    @Res() response: Response,
    @Param('id') id: string,
    @Query('after') after?: unknown,
  ): Promise<void> {
    const caller = await this.callers.identify(request);
    const header = await this.runs.header(id, caller);
    const lastEventId = request.headers['last-event-id'];
    const asked = integer(after, 'after', 0);
    const cursor = integer(lastEventId, 'last-event-id', 0) ?? asked;
    const full = await this.callers.maySeeDetail(request);
    // Nothing is shown before the record of the read is durable.
    if (full && header.data.detail === 'full') await this.detailReads.ofRun(header.runId, caller);
    this.streams.admit(response, caller);
    await this.events.follow(response, { runId: header.runId, after: cursor ?? 0, full });
  }

  @Post(':id/commands')
  async command(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const caller = await this.callers.identify(request);
    const body = await readJsonBody(request, this.limits.maxBodyBytes);
    const { runId, data } = await this.runs.header(id, caller);
    if (data.caller.actor !== caller.actor && (await this.callers.isAuditor(request))) throw new Failure('USER_KEY_NEEDED');
    const wanted = parseBody(CommandRequest, body.value);
    refuseUntaken(wanted.command, data.template.strategy);
    // A caller that may not use a template cannot direct its runs either; it may stop them, like every caller of the tenant.
    if (!stops.has(wanted.command)) await this.models.assertAskable(data.template, await this.callers.mayAsk(request));
    const key = repeatKey(request, caller, body.raw);
    const run = await this.state.runs.read<Pick<RunState, 'commands'>>(runId);
    const taken = run ? commandsIn(run.state) : [];
    const first = key === null ? undefined : taken.find((command) => command.key === key);
    // A repeat returns the number of the first command, even after the end of the run; the engine recognises a repeat that arrives before the first.
    if (!first && run?.terminal) throw new Failure('COMMAND_REJECTED', 'The run has ended.');
    // What ends a run, or lets a paused one end, is never refused; neither can be repeated without end.
    const endsIt = wanted.command === 'cancel' || (wanted.command === 'resume' && run?.status === 'paused');
    // It would reach the run only after its end, where nothing can answer it any more.
    if (!first && !endsIt && (await this.state.runs.cancelled([runId])).has(runId))
      throw new Failure('COMMAND_REJECTED', 'The run is being cancelled.');
    if (!first && !endsIt && taken.length >= mostCommands)
      throw new Failure('COMMAND_REJECTED', `The run has taken ${mostCommands} commands, and takes no more except a cancel.`);
    const seq = first?.seq ?? (await this.commands.issue(runId, caller.actor, commandOf(wanted), key));
    if (!first && wanted.command === 'cancel') this.options.metrics.onCancel('command');
    const accepted: CommandAccepted = { object: 'run.command', runId, seq, command: wanted.command, status: 'accepted' };
    response.status(202).setHeader('x-run-id', runId).json(accepted);
  }
}

function sendAccepted(response: Response, { runId, attached }: AcceptedRun, template: string): void {
  const self = `/v1/runs/${runId}`;
  const links = { self, events: `${self}/events`, commands: `${self}/commands` };
  const accepted: RunAccepted = { object: 'run', id: runId, status: 'accepted', template, attached, links };
  response.status(202).setHeader('x-run-id', runId).setHeader('location', self).json(accepted);
}

/** Commands after which a run does nothing more. */
const stops: ReadonlySet<CommandName> = new Set(['cancel', 'pause']);

/** Most commands of one run: each is part of its state. */
const mostCommands = 500;

/** Hash of the sender, the Idempotency-Key and the body; null without a key. A key that is reused for another command repeats nothing. */
function repeatKey(request: Request, { tenant, actor }: Caller, raw: Buffer): string | null {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return null;
  return createHash('sha256')
    .update(JSON.stringify([tenant, actor, key]))
    .update(raw)
    .digest('hex');
}

/** Throws COMMAND_NOT_TAKEN, which lists the commands that the strategy supports. */
function refuseUntaken(command: CommandName, strategy: string): void {
  const taken = commandsOf(strategy);
  if (taken.includes(command)) return;
  throw new Failure('COMMAND_NOT_TAKEN', `Runs of the strategy ${strategy} do not take "${command}". They take: ${taken.join(', ')}.`, {
    param: 'command',
  });
}

/** An integer from a query or header, null when absent. Throws REQUEST_INVALID. */
function integer(value: unknown, param: string, least: number): number | null {
  if (value === undefined || value === '') return null;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (Number.isNaN(number) || number < least)
    throw new Failure('REQUEST_INVALID', `\`${param}\` must be a whole number from ${least}.`, { param });
  return number;
}
