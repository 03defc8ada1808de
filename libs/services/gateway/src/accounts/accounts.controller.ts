import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Patch, Post, Query, Req } from '@nestjs/common';
import {
  KeyChange,
  type KeyCreated,
  type KeyList,
  KeyRequest,
  KeyRotation,
  type KeyView,
  TenantChange,
  type TenantList,
  TenantName,
  type TenantView,
} from '@conclave/contracts';
import type { Request } from 'express';
import * as z from 'zod';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { pageLimit, textIn } from '../http/query.js';
import { parseBody, parseChange } from '../http/request-shape.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { Accounts } from './accounts.js';
import { RunsOfKeys } from './runs-of-keys.js';

const TenantId = z.object({ id: TenantName });

/** Admin routes for issued API keys and tenants. */
@Controller('v1/admin')
export class AccountsController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Accounts) private readonly accounts: Accounts,
    @Inject(RunsOfKeys) private readonly runs: RunsOfKeys,
  ) {}

  @Get('keys')
  async keys(@Req() request: Request, @Query() query: Record<string, unknown>): Promise<KeyList> {
    const admin = await this.callers.identifyAdmin(request);
    const page = { tenant: textIn(query, 'tenant'), before: textIn(query, 'before'), limit: pageLimit(query) };
    return { object: 'list', ...(await this.accounts.keys(admin, page)) };
  }

  @Post('keys')
  @Header('cache-control', 'no-store')
  async create(@Req() request: Request): Promise<KeyCreated> {
    const admin = await this.callers.identifyAdmin(request);
    const created = await this.accounts.create(admin, parseBody(KeyRequest, await this.body(request)));
    return this.noted('API key issued', created, admin.actor);
  }

  @Get('keys/:id')
  async key(@Req() request: Request, @Param('id') id: string): Promise<KeyView> {
    return this.accounts.key(await this.callers.identifyAdmin(request), id);
  }

  @Patch('keys/:id')
  async change(@Req() request: Request, @Param('id') id: string): Promise<KeyView> {
    const admin = await this.callers.identifyAdmin(request);
    const change = parseChange(KeyChange, await this.body(request));
    return this.noted('API key changed', await this.accounts.change(admin, id, change), admin.actor);
  }

  @Delete('keys/:id')
  async revoke(@Req() request: Request, @Param('id') id: string): Promise<KeyView> {
    const admin = await this.callers.identifyAdmin(request);
    const revoked = this.noted('API key revoked', await this.accounts.revoke(admin, id), admin.actor);
    await this.runs.cancel(revoked, admin.actor);
    return revoked;
  }

  @Post('keys/:id/rotate')
  @Header('cache-control', 'no-store')
  @HttpCode(200)
  async rotate(@Req() request: Request, @Param('id') id: string): Promise<KeyCreated> {
    const admin = await this.callers.identifyAdmin(request);
    const { grace_s: graceS } = parseBody(KeyRotation, await this.body(request));
    return this.noted('API key rotated', await this.accounts.rotate(admin, id, graceS * 1_000), admin.actor);
  }

  @Get('tenants')
  async tenants(@Req() request: Request): Promise<TenantList> {
    return { object: 'list', data: [...(await this.accounts.tenants(await this.callers.identifyAdmin(request)))] };
  }

  @Patch('tenants/:id')
  async changeTenant(@Req() request: Request, @Param('id') id: string): Promise<TenantView> {
    // An admin with limits may not change its own limits.
    const operator = await this.callers.identifyOperator(request);
    const change = parseChange(TenantChange, await this.body(request));
    parseBody(TenantId, { id });
    const view = await this.accounts.changeTenant(operator, id, change);
    this.options.logger.info('tenant changed', { tenant: id, actor: operator.actor });
    return view;
  }

  private async body(request: Request): Promise<Record<string, unknown>> {
    return (await readJsonBody(request, this.limits.maxBodyBytes)).value;
  }

  private noted<K extends KeyView>(what: string, key: K, actor: string): K {
    this.options.logger.info(what, { key: key.id, tenant: key.tenant, role: key.role, actor });
    return key;
  }
}
