import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  type CollectionList,
  CollectionQuery,
  CollectionRequest,
  type CollectionView,
  type Deleted,
  type DocumentList,
  type DocumentView,
  Failure,
  type PassageList,
  type StoredCollections,
} from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Request, Response } from 'express';
import { Callers } from '../http/caller.js';
import { readJsonBody } from '../http/json-body.js';
import { pageLimit, textIn } from '../http/query.js';
import { parseBody } from '../http/request-shape.js';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';
import { Documents } from './documents.js';
import { TenantCollections } from './tenant-collections.js';
import { readUpload } from './upload.js';

/**
 * Limits how many documents arrive at the same time. Further ones wait in order, unread: back-pressure on the connection slows the sender, so no
 * bytes accumulate here. Runs are not affected.
 */
class UploadTurns {
  private arriving = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param most Documents that may arrive at the same time.
   * @param mostWaiting Documents that may wait for their turn.
   */
  constructor(
    private readonly most: number,
    private readonly mostWaiting: number,
  ) {}

  /** Throws UPLOADS_BUSY when too many wait, CALL_CANCELLED when the client leaves while waiting; errors of the work pass through. */
  async take<T>(request: Request, retryAfterMs: number, work: () => Promise<T>): Promise<T> {
    if (this.arriving < this.most) this.arriving += 1;
    else await this.turn(request, retryAfterMs);
    try {
      return await work();
    } finally {
      // The place passes directly to the request that has waited longest.
      const next = this.waiting.shift();
      if (next) next();
      else this.arriving -= 1;
    }
  }

  private turn(request: Request, retryAfterMs: number): Promise<void> {
    if (this.waiting.length >= this.mostWaiting)
      throw new Failure('UPLOADS_BUSY', `${this.waiting.length} documents are waiting.`, { retryAfterMs });
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        request.off('close', left);
        resolve();
      };
      const left = (): void => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(new Failure('CALL_CANCELLED', 'The client disconnected before it could send.'));
      };
      this.waiting.push(begin);
      request.once('close', left);
    });
  }
}

/** Most collections of one tenant: the planner reads all their descriptions. */
const mostCollections = 50;
const tries = 5;

type StoredCollection = StoredCollections['collections'][number];

/** Collections of documents, by tenant. */
@Controller('v1/collections')
export class CollectionsController {
  private readonly uploads: UploadTurns;

  constructor(
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(TenantCollections) private readonly collections: TenantCollections,
    @Inject(Documents) private readonly documents: Documents,
  ) {
    this.uploads = new UploadTurns(limits.maxUploads, limits.maxWaitingUploads);
  }

  @Post()
  @HttpCode(201)
  async create(@Req() request: Request): Promise<CollectionView> {
    const { tenant } = await this.callers.identify(request);
    const wanted = parseBody(CollectionRequest, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    this.documents.parts();
    return this.changed(tenant, (present) => {
      const known = present.find(({ name }) => name === wanted.name);
      if (known && known.description !== wanted.description) throw new Failure('COLLECTION_EXISTS');
      if (known) return null;
      if (present.length >= mostCollections) throw new Failure('COLLECTION_FULL', `A tenant has at most ${mostCollections} collections.`);
      return (createdAt) => [...present, { ...wanted, createdAt }].sort((a, b) => (a.name < b.name ? -1 : 1));
    }).then((all) => viewOf(all.find(({ name }) => name === wanted.name)!));
  }

  @Get()
  async list(@Req() request: Request): Promise<CollectionList> {
    const { tenant } = await this.callers.identify(request);
    return { object: 'list', data: (await this.collections.read(tenant)).collections.map(viewOf) };
  }

  /** The name is removed last: until then the request can be repeated. */
  @Delete(':name')
  async remove(@Req() request: Request, @Param('name') name: string): Promise<Deleted> {
    const { tenant } = await this.callers.identify(request);
    await this.documents.assertCollection(tenant, name);
    await this.documents.removeAll(tenant, name);
    await this.changed(tenant, (present) => () => present.filter((one) => one.name !== name));
    // Also removes documents that were uploaded meanwhile.
    await this.documents.removeAll(tenant, name);
    return { object: 'deleted', id: name };
  }

  /** Stops searching when the client leaves. */
  @Post(':name/query')
  @HttpCode(200)
  async query(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Param('name') name: string): Promise<PassageList> {
    const { tenant } = await this.callers.identify(request);
    const asked = parseBody(CollectionQuery, (await readJsonBody(request, this.limits.maxBodyBytes)).value);
    const left = new AbortController();
    response.once('close', () => left.abort());
    return this.documents.search(tenant, name, asked, left.signal);
  }

  @Post(':name/documents')
  @HttpCode(202)
  async upload(@Req() request: Request, @Param('name') name: string): Promise<DocumentView> {
    const caller = await this.callers.identify(request);
    this.documents.parts();
    await this.documents.assertCollection(caller.tenant, name);
    const { maxDocumentBytes, retryAfterS } = this.limits;
    return this.uploads.take(request, retryAfterS * 1000, async () =>
      this.documents.take(caller, name, await readUpload(request, maxDocumentBytes)),
    );
  }

  @Get(':name/documents')
  async listDocuments(
    @Req() request: Request,
    @Param('name') name: string,
    @Query() query: Record<string, unknown>,
  ): Promise<DocumentList> {
    const { tenant } = await this.callers.identify(request);
    return this.documents.list(tenant, name, pageLimit(query), textIn(query, 'after'));
  }

  @Get(':name/documents/:id')
  async one(@Req() request: Request, @Param('name') name: string, @Param('id') id: string): Promise<DocumentView> {
    const { tenant } = await this.callers.identify(request);
    return this.documents.view(tenant, name, id);
  }

  @Delete(':name/documents/:id')
  async removeDocument(@Req() request: Request, @Param('name') name: string, @Param('id') id: string): Promise<Deleted> {
    const { tenant } = await this.callers.identify(request);
    await this.documents.remove(tenant, name, id);
    return { object: 'deleted', id };
  }

  /** Returns the list after the change; the list stays as it is when `change` returns null. Throws SETTING_CHANGED. */
  private async changed(
    tenant: string,
    change: (present: readonly StoredCollection[]) => ((now: number) => StoredCollection[]) | null,
  ): Promise<readonly StoredCollection[]> {
    const now = await this.state.now();
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const { version, collections } = await this.collections.read(tenant);
      const next = change(collections)?.(now);
      if (!next) return collections;
      if (await this.collections.write(tenant, version, next)) return next;
    }
    throw new Failure('SETTING_CHANGED');
  }
}

const viewOf = ({ name, description, createdAt }: StoredCollection): CollectionView => ({
  object: 'collection',
  name,
  description,
  createdAt,
});
