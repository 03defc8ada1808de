import * as z from 'zod';
import { TemplateTuning } from './configuration/index.js';
import { ToolOffer } from './template.js';
import { Timestamp } from './values.js';

/** The stored form of a tenant's collections; shared by gateway and graph-ingest. */
export const StoredCollections = z.object({
  collections: z.array(z.object({ name: z.string(), description: z.string(), createdAt: Timestamp })),
});
export type StoredCollections = z.infer<typeof StoredCollections>;

/** The stored form of one document. One that is being removed is marked, and has no record at last: work in flight restores neither. */
export const StoredDocument = z.object({
  id: z.string(),
  collection: z.string(),
  name: z.string(),
  mime: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string().describe('hash of the blob with its bytes'),
  metadata: z.record(z.string(), z.string()),
  status: z.enum(['queued', 'reading', 'embedding', 'ready', 'failed', 'deleted']),
  take: z.int().positive().describe('another one each time it is ingested again; work for an earlier ingestion is dropped'),
  title: z.string().nullable(),
  done: z.int().nonnegative(),
  total: z.int().nonnegative().nullable(),
  problem: z.string().nullable(),
  notices: z.array(z.string()),
  embedder: z.string().nullable().describe('id of the embedder that made its vectors'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type StoredDocument = z.infer<typeof StoredDocument>;

/** One segment of a setting's name: any text is distinct, except unpaired surrogates, which no store keeps. */
const segment = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

/** Bytes uploaded by a tenant, by days since 1970. */
export const StoredUploads = z.object({ days: z.array(z.object({ day: z.int(), bytes: z.int().nonnegative() })) });
export const uploadsSetting = (tenant: string): string => `uploads/${segment(tenant)}`;

export const collectionsSetting = (tenant: string): string => `collections/${segment(tenant)}`;
export const documentSetting = (tenant: string, collection: string, id: string): string =>
  `documents/${segment(tenant)}/${segment(collection)}/${segment(id)}`;

/** Ids of a collection's documents, split into one list per first digit of the id, so that no list grows large. */
export const documentIndexes = [...'0123456789abcdef'] as const;
export const documentIndexSetting = (tenant: string, collection: string, digit: string): string =>
  `document-ids/${segment(tenant)}/${segment(collection)}/${segment(digit)}`;
export const StoredDocumentIds = z.object({ ids: z.array(z.string()) });

/** Setting in which a process with tool servers publishes their offers. */
export const toolOffersSetting = 'offers/tools';
export const StoredToolOffers = z.object({ tools: z.array(ToolOffer) });
/** Setting that holds an operator's text for a prompt, or a skill added over HTTP. */
export const promptSetting = (name: string): string => `prompts/${name}`;
/** Setting that holds an operator's changes to a template. */
export const templateSetting = (id: string): string => `templates/${id}`;
export const StoredTemplateOptions = z.object({
  strategy: z.string(),
  options: z.record(z.string(), z.unknown()),
  settings: TemplateTuning.optional().describe('changes other than options of the strategy'),
  actor: z.string().optional().describe('who wrote this version'),
});
export type StoredTemplateOptions = z.infer<typeof StoredTemplateOptions>;
/** Settings that hold an issued API key, and the limits of a tenant. */
export const keySetting = (id: string): string => `keys/${id}`;
export const tenantSetting = (id: string): string => `tenants/${id}`;
/** Setting that changes whenever a key or a tenant changes, so that a single read shows whether any has. */
export const accountsSetting = 'accounts';
/** Setting that records when a cache of a tenant was last emptied. */
export const cachePurgeSetting = (tenant: string, layer: string): string => `caches/${tenant}/${layer}`;
export const skillSetting = (name: string): string => `skills/${name}`;
