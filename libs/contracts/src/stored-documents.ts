import * as z from 'zod';
import { Timestamp } from './values.js';

/** What the settings keep of a tenant's collections; gateway and graph-ingest share it. */
export const StoredCollections = z.object({
  collections: z.array(z.object({ name: z.string(), description: z.string(), createdAt: Timestamp })),
});
export type StoredCollections = z.infer<typeof StoredCollections>;

/** What the settings keep of one document. One that was removed stays as a mark, so that work on its way brings nothing back. */
export const StoredDocument = z.object({
  id: z.string(),
  collection: z.string(),
  name: z.string(),
  mime: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string().describe('hash under which the blobs keep its bytes'),
  metadata: z.record(z.string(), z.string()),
  status: z.enum(['queued', 'reading', 'embedding', 'ready', 'failed', 'deleted']),
  take: z.int().positive().describe('raised each time it is taken in anew; work for an earlier take is dropped'),
  title: z.string().nullable(),
  done: z.int().nonnegative(),
  total: z.int().nonnegative().nullable(),
  problem: z.string().nullable(),
  notices: z.array(z.string()),
  embedder: z.string().nullable().describe('id of the embedder whose vectors it has'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type StoredDocument = z.infer<typeof StoredDocument>;

/** One segment of a setting's name: any text; only halves of surrogate pairs, which no store keeps, are the same as one another. */
const segment = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

/** What the settings keep of the bytes a tenant has uploaded, by days since 1970. */
export const StoredUploads = z.object({ days: z.array(z.object({ day: z.int(), bytes: z.int().nonnegative() })) });
export const uploadsSetting = (tenant: string): string => `uploads/${segment(tenant)}`;

export const collectionsSetting = (tenant: string): string => `collections/${segment(tenant)}`;
export const documentSetting = (tenant: string, collection: string, id: string): string =>
  `documents/${segment(tenant)}/${segment(collection)}/${segment(id)}`;

/** Ids of the documents of a collection, in as many lists as there are first digits of an id, so that none of them grows large. */
export const documentIndexes = [...'0123456789abcdef'] as const;
export const documentIndexSetting = (tenant: string, collection: string, digit: string): string =>
  `document-ids/${segment(tenant)}/${segment(collection)}/${segment(digit)}`;
export const StoredDocumentIds = z.object({ ids: z.array(z.string()) });

/** Setting in which a process that has tool servers says what they offer. */
export const toolOffersSetting = 'offers/tools';
/** Setting of an operator's text for a prompt, and of a skill added over HTTP. */
export const promptSetting = (name: string): string => `prompts/${name}`;
export const skillSetting = (name: string): string => `skills/${name}`;
