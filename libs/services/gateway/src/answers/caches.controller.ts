import { Controller, Delete, Get, Inject, Param, Req } from '@nestjs/common';
import {
  type CacheExplanation,
  CacheLayerName,
  cacheLayers,
  type CachePurged,
  cachePurgeSetting,
  type CacheReport,
  Failure,
} from '@conclave/contracts';
import { answersPurpose, collectionOf, STATE, type StateStore } from '@conclave/ports';
import { keptMs, layerTag } from '@conclave/strategies';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { SettingChanges } from '../settings/setting-changes.js';
import { AnswerCache } from './answer-cache.js';
import { CacheCounts } from './cache-counts.js';

const what: Readonly<Record<CacheLayerName, string>> = {
  exact: 'answers, for the same question',
  semantic: 'answers, for the question in other words',
  plan: 'first plans of questions',
  search: 'what research and sub-topics found',
};

/** Caches of a tenant: their counts, emptying them, and why one answered a run. */
@Controller('v1')
export class CachesController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'vectors' | 'embedder' | 'logger'>,
    @Inject(STATE) private readonly state: Pick<StateStore, 'caches' | 'settings' | 'now'>,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(CacheCounts) private readonly counts: CacheCounts,
    @Inject(AnswerCache) private readonly answers: AnswerCache,
    @Inject(SettingChanges) private readonly changes: SettingChanges,
  ) {}

  @Get('admin/caches')
  async report(@Req() request: Request): Promise<CacheReport> {
    const { tenant } = await this.callers.identifyAdmin(request);
    const layers = await Promise.all(
      cacheLayers.map(async (layer) => ({
        layer,
        what: what[layer],
        keeps_s: layer === 'search' ? null : keptMs[layer] / 1_000,
        ...(layer === 'search' ? { lookups: null, hits: null, failed: null } : this.counts.layer(tenant, layer)),
        purged_at: purgedAt((await this.state.settings.read(cachePurgeSetting(tenant, layer)))?.value),
      })),
    );
    return { object: 'caches', tenant, since: this.counts.since, layers, distances: this.counts.distances(tenant) };
  }

  @Delete('admin/caches/:layer')
  async purge(@Req() request: Request, @Param('layer') name: string): Promise<CachePurged> {
    const { tenant, actor } = await this.callers.identifyAdmin(request);
    const { data: layer } = CacheLayerName.safeParse(name);
    if (!layer) throw new Failure('CACHE_NOT_FOUND');
    const removed = await this.state.caches.removeTagged(tenant, layerTag(layer));
    const { vectors, embedder } = this.options;
    // Vectors without their answers would only take places among the nearest ones.
    if (layer === 'semantic' && vectors && embedder) await vectors.drop({ tenant, collection: collectionOf(answersPurpose, embedder) });
    const at = await this.state.now();
    await this.changes.write({ name: cachePurgeSetting(tenant, layer), actor, value: { purgedAt: at, removed }, expected: null });
    this.options.logger.info('cache emptied', { tenant, layer, removed, actor });
    return { object: 'cache_purge', layer, tenant, removed };
  }

  @Get('runs/:id/cache')
  async explain(@Req() request: Request, @Param('id') id: string): Promise<CacheExplanation> {
    return this.answers.explain(id, await this.callers.identify(request));
  }
}

const purgedAt = (value: unknown): number | null =>
  typeof value === 'object' && value !== null && 'purgedAt' in value && typeof value.purgedAt === 'number' ? value.purgedAt : null;
