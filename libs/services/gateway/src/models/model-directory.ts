import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import pTimeout from 'p-timeout';
import { Failure, failures, type ModelChoice, type ModelObject, type Template } from '@conclave/contracts';
import type { Embedder, ModelInfo } from '@conclave/ports';
import { knownStrategy } from '@conclave/strategies';
import type { MayAsk } from '../http/caller.js';
import { TenantCollections } from '../collections/tenant-collections.js';
import {
  type DescribedModel,
  GATEWAY_LIMITS,
  GATEWAY_OPTIONS,
  type GatewayLimits,
  type GatewayOptions,
  ownEmbedding,
  type Resolved,
} from '../options.js';

/** Most ids named in a 404. */
const namedIds = 50;

/** Templates and models by the names clients use. */
@Injectable()
export class ModelDirectory {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(TenantCollections) private readonly collections: TenantCollections,
  ) {}

  /**
   * Resolves a model name, with the collections of the tenant; for a template with a `split`, to the arm for this body. Throws
   * MODEL_NOT_FOUND with the ids that the caller may use, and PROVIDER_UNREACHABLE for a template whose model servers are all down.
   */
  async resolve(name: string, tenant: string, raw: Buffer, mayAsk: MayAsk): Promise<Resolved> {
    await this.options.catalogue.upToDate?.();
    const resolved = await this.named(name, mayAsk);
    if (resolved.kind !== 'template') return resolved;
    return { ...resolved, template: await this.collections.offeredBy(this.armOf(resolved.template, raw), tenant) };
  }

  /**
   * Templates whose runs may be started by a run of this one, and recursively, by id, with the collections of the tenant, whether or not
   * the caller may use them itself. Throws MODEL_NOT_FOUND if one is no longer offered.
   */
  async startedBy(template: Template, tenant: string): Promise<Readonly<Record<string, Template>>> {
    const found: Record<string, Template> = {};
    const waiting: Template[] = [template];
    for (let next = waiting.pop(); next; next = waiting.pop())
      for (const id of knownStrategy(next.strategy)?.startsRuns?.(next.options ?? {}) ?? []) {
        if (Object.hasOwn(found, id)) continue;
        const child = this.options.catalogue.templates().find((other) => other.id === id);
        if (!child)
          throw new Failure('MODEL_NOT_FOUND', 'Its runs start child runs of a template that is no longer offered.', { param: 'model' });
        found[id] = await this.collections.offeredBy(child, tenant);
        waiting.push(child);
      }
    return found;
  }

  /** Equal requests get the same arm. An arm that is not available now gets no requests. */
  private armOf(template: Template, raw: Buffer): Template {
    const { split } = template;
    if (!split || createHash('sha256').update(raw).digest().readUInt32BE() / 2 ** 32 >= split.share) return template;
    const other = this.options.catalogue.templates().find(({ id }) => id === split.template);
    return other ? { ...other, split_of: template.id } : template;
  }

  /** Resolves a name now. Throws MODEL_NOT_FOUND, PROVIDER_UNREACHABLE. */
  async named(name: string, mayAsk: MayAsk): Promise<Resolved> {
    const { catalogue } = this.options;
    const resolved = catalogue.resolve(name);
    if (resolved) return this.allowed(name, resolved, mayAsk);
    const down = await catalogue.waitsFor(name);
    // The servers may have come back during the check.
    const found = catalogue.resolve(name);
    if (found) return this.allowed(name, found, mayAsk);
    if (down !== null && this.mayBeAsked(name, mayAsk))
      throw new Failure('PROVIDER_UNREACHABLE', `No model can serve ${name} yet (${withoutRepeat(down)}).`, { param: 'model' });
    throw await this.unknown(mayAsk);
  }

  private async allowed(name: string, resolved: Resolved, mayAsk: MayAsk): Promise<Resolved> {
    if (resolved.kind === 'models' && mayAsk !== null && !mayAsk.includes(name)) {
      const models = resolved.models.filter((ref) => mayAsk.includes(ref));
      if (models.length > 0) return { ...resolved, models };
    } else if (this.mayBeAsked(name, mayAsk)) return resolved;
    throw await this.unknown(mayAsk);
  }

  /** A caller may use what its key names, under any alias; a key that names only an alias may use only that alias. */
  private mayBeAsked(name: string, mayAsk: MayAsk): boolean {
    return mayAsk === null || mayAsk.includes(name) || this.idsOf(name).some((id) => mayAsk.includes(id));
  }

  /** Throws MODEL_NOT_FOUND unless the caller may use this template under some name, or the template whose arm it is. */
  async assertAskable({ id, split_of: whole }: Pick<Template, 'id' | 'split_of'>, mayAsk: MayAsk): Promise<void> {
    const ids = whole === undefined ? [id] : [id, whole];
    if (mayAsk === null || mayAsk.some((name) => [name, ...this.idsOf(name)].some((one) => ids.includes(one)))) return;
    throw await this.unknown(mayAsk);
  }

  /** Ids under which a name may be used; empty for an unknown name. */
  private idsOf(name: string): readonly string[] {
    const resolved = this.options.catalogue.resolve(name);
    if (!resolved) return [];
    if (resolved.kind === 'models') return resolved.models;
    return [resolved.kind === 'template' ? resolved.template.id : resolved.ref];
  }

  /** Models that can be called now; empty if they cannot be listed in time. */
  models(): Promise<readonly ModelInfo[]> {
    return pTimeout(this.options.models.list(), { milliseconds: this.limits.modelListMs, fallback: () => [] });
  }

  /** Answers within `modelListMs`, with only the templates if a provider does not answer: clients give up on a slow list. */
  async list(mayAsk: MayAsk): Promise<readonly ModelObject[]> {
    return (await this.described()).filter(({ id, kind }) => kind === undefined && this.mayBeAsked(id, mayAsk)).map(objectOf);
  }

  /** Embedding models. They have a list of their own, because front ends offer everything in `list` for chats. */
  async embeddings(mayAsk: MayAsk): Promise<readonly ModelObject[]> {
    const { embedder } = this.options;
    const own =
      embedder && this.mayEmbed([ownEmbedding, embedder.id], mayAsk)
        ? [{ id: ownEmbedding, ownedBy: 'conclave', created: 0, description: 'What collections use.' }]
        : [];
    const others = (await this.described()).filter(({ id, kind }) => kind === 'embedding' && this.mayEmbed([id], mayAsk));
    return [...own, ...others].map(objectOf);
  }

  private async described(): Promise<readonly DescribedModel[]> {
    const described = Promise.resolve(this.options.catalogue.describeModels());
    return pTimeout(described, { milliseconds: this.limits.modelListMs, fallback: () => this.templatesAlone() });
  }

  /**
   * The embedder for this name: our own, or one of these models. Throws MODEL_NOT_FOUND with the ids of embedding models, REQUEST_INVALID for
   * models whose vectors are not comparable.
   */
  async embedder(name: string, mayAsk: MayAsk): Promise<Embedder | string | ModelChoice> {
    const { embedder, catalogue } = this.options;
    const own = embedder ? [ownEmbedding, embedder.id] : [];
    if (embedder && own.includes(name) && this.mayEmbed(own, mayAsk)) return embedder;
    const choice = catalogue.resolveEmbedding?.(name) ?? null;
    if (typeof choice === 'string' && this.mayEmbed([name, choice], mayAsk)) return choice;
    if (typeof choice === 'object' && choice !== null) {
      const models = choice.models.filter((ref) => this.mayEmbed([name, ref], mayAsk));
      if (new Set(models.map(modelName)).size > 1)
        throw new Failure(
          'REQUEST_INVALID',
          `${name} stands for several models (${models.join(', ')}), whose vectors differ. Name one of those models.`,
          {
            param: 'model',
          },
        );
      if (models.length > 0) return { ...choice, models };
    }
    const ids = (await this.embeddings(mayAsk)).map(({ id }) => id);
    throw new Failure(
      'MODEL_NOT_FOUND',
      ids.length === 0 ? 'No embedding model is known.' : `Embedding models: ${ids.slice(0, namedIds).join(', ')}.`,
      { param: 'model' },
    );
  }

  private mayEmbed(names: readonly string[], mayAsk: MayAsk): boolean {
    return mayAsk === null || names.some((name) => mayAsk.includes(name));
  }

  async find(id: string, mayAsk: MayAsk): Promise<ModelObject> {
    const known = [...(await this.list(mayAsk)), ...(await this.embeddings(mayAsk))].find((model) => model.id === id);
    if (known) return known;
    const resolved = this.options.catalogue.resolve(id);
    if (!resolved) throw await this.unknown(mayAsk);
    await this.allowed(id, resolved, mayAsk);
    return objectOf({
      id,
      created: 0,
      ownedBy: resolved.kind === 'model' ? (resolved.ref.split('@').at(-1) ?? 'provider') : 'conclave',
    });
  }

  private templatesAlone(): readonly DescribedModel[] {
    return this.options.catalogue
      .templates()
      .map(({ id, description, strategy }) => ({ id, ownedBy: 'conclave', created: 0, description, strategy }));
  }

  private async unknown(mayAsk: MayAsk): Promise<Failure> {
    const ids = (await this.list(mayAsk)).map((model) => model.id);
    const more = ids.length > namedIds ? ` and ${ids.length - namedIds} more` : '';
    const said =
      ids.length === 0 ? 'This key may use none of the models offered now.' : `Valid ids: ${ids.slice(0, namedIds).join(', ')}${more}.`;
    return new Failure('MODEL_NOT_FOUND', said, { param: 'model' });
  }
}

const modelName = (ref: string): string => ref.slice(0, ref.lastIndexOf('@'));

const objectOf = ({ id, ownedBy, created, description, strategy }: DescribedModel): ModelObject => ({
  id,
  object: 'model',
  created,
  owned_by: ownedBy,
  ...(description ? { description } : {}),
  ...(strategy ? { strategy } : {}),
});

/** What is known of the servers, without the sentence with which the failure itself begins. */
const withoutRepeat = (down: string): string => down.replaceAll(`${failures.PROVIDER_UNREACHABLE.message} `, '');
