import { Controller, Get, Inject, Param, Query, Req } from '@nestjs/common';
import {
  type EntityItem,
  type EntityList,
  type EntityView,
  Failure,
  type GraphFacts,
  mostNeighbours,
  type RelationView,
} from '@conclave/contracts';
import { type EntityNode, type NamedRelation, normaliseEntity } from '@conclave/ports';
import type { Request } from 'express';
import { Callers } from '../http/caller.js';
import { pageLimit, textIn } from '../http/query.js';
import { GATEWAY_OPTIONS, type GatewayOptions } from '../options.js';
import { graphOf } from './reachable-graph.js';

/** The knowledge graph of a tenant, entity by entity. */
@Controller('v1/knowledge')
export class GraphController {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Get()
  async facts(@Req() request: Request): Promise<GraphFacts> {
    const { tenant } = await this.callers.identify(request);
    const { syntheses, ...stats } = await graphOf(this.options).stats(tenant);
    return { object: 'graph', ...stats, insights: syntheses };
  }

  @Get('entities')
  async entities(@Req() request: Request, @Query() query: Record<string, unknown>): Promise<EntityList> {
    const { tenant } = await this.callers.identify(request);
    const limit = pageLimit(query);
    const search = normaliseEntity(textIn(query, 'search') ?? '');
    const found = await graphOf(this.options).entities({ tenant, search, after: textIn(query, 'after') ?? '', limit: limit + 1 });
    const page = found.slice(0, limit);
    return { object: 'list', data: page.map(itemOf), nextAfter: found.length > limit ? (page.at(-1)?.normal ?? null) : null };
  }

  @Get('entities/:id')
  async entity(@Req() request: Request, @Param('id') id: string, @Query() query: Record<string, unknown>): Promise<EntityView> {
    const { tenant } = await this.callers.identify(request);
    const [limit, offset] = [pageLimit(query), offsetIn(query)];
    const found = await graphOf(this.options).neighbours({ tenant, entity: id, offset, limit });
    if (!found) throw new Failure('ENTITY_NOT_FOUND');
    return {
      ...itemOf(found.entity),
      relations: found.relations.map(relationOf),
      insights: found.syntheses.map(({ id: insight, text, insightType, domain, entities, confidence, trust, runs }) => ({
        ...{ object: 'insight' as const, id: insight, text, insight_type: insightType, domain, confidence, trust },
        entities: [...entities],
        runs: [...runs],
      })),
      nextOffset: found.more ? offset + limit : null,
    };
  }
}

const itemOf = ({ normal, name, type }: EntityNode): EntityItem => ({ object: 'entity', id: normal, name, type });

const relationOf = (relation: NamedRelation): RelationView => ({
  object: 'relation',
  id: relation.id,
  subject: itemOf({ normal: relation.subject, name: relation.subjectName, type: relation.subjectType }),
  relation: relation.relation,
  object_entity: itemOf({ normal: relation.object, name: relation.objectName, type: relation.objectType }),
  trust: relation.trust,
  source: relation.source,
  domain: relation.domain,
  run: relation.runId,
  at: relation.at,
  verified: relation.verified,
});

function offsetIn(query: Readonly<Record<string, unknown>>): number {
  const value = textIn(query, 'offset') ?? '0';
  if (!/^\d{1,6}$/.test(value) || Number(value) > mostNeighbours)
    throw new Failure('REQUEST_INVALID', `\`offset\` must be a whole number from 0 to ${mostNeighbours}.`, { param: 'offset' });
  return Number(value);
}
