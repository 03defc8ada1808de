import * as z from 'zod';
import { Timestamp } from '../values.js';

export const CollectionName = z
  .string({ error: 'must be a name' })
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, { error: 'must have 1 to 64 small letters, digits, `-` and `_`, and begin with a letter or digit' });

/** Longest description of a collection, in characters: planners read it. */
export const longestDescription = 500;

export const CollectionRequest = z.object({
  name: CollectionName,
  description: z
    .string({ error: 'must say what the documents are about' })
    .trim()
    .min(1, { error: 'must say what the documents are about, because planners choose by it' })
    .max(longestDescription, { error: `must have at most ${longestDescription} characters` }),
});
export type CollectionRequest = z.infer<typeof CollectionRequest>;

export const CollectionView = z.object({
  object: z.literal('collection'),
  name: z.string(),
  description: z.string(),
  createdAt: Timestamp,
});
export type CollectionView = z.infer<typeof CollectionView>;

export const CollectionList = z.object({ object: z.literal('list'), data: z.array(CollectionView).describe('by name') });
export type CollectionList = z.infer<typeof CollectionList>;

const MetadataName = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, { error: 'must have names of 1 to 64 letters, digits, `_`, `.` and `-`, that begin with a letter' });

/** A trial query on one collection. It finds what a run would find, without a model call. */
export const CollectionQuery = z.object({
  query: z
    .string({ error: 'must be a text' })
    .trim()
    .min(1, { error: 'must be a text' })
    .max(4_000, { error: 'must have at most 4,000 characters' }),
  limit: z
    .int({ error: 'must be a whole number from 1 to 50' })
    .min(1, { error: 'must be a whole number from 1 to 50' })
    .max(50, { error: 'must be a whole number from 1 to 50' })
    .nullish()
    .describe('passages wanted; 5 by default'),
  filters: z
    .record(MetadataName, z.string({ error: 'must be texts' }), { error: 'must be an object of texts' })
    .nullish()
    .describe('metadata that the documents must have, such as `{"year": "2025"}`'),
});
export type CollectionQuery = z.infer<typeof CollectionQuery>;

export const PassageList = z.object({
  object: z.literal('list'),
  data: z
    .array(
      z.object({
        object: z.literal('passage'),
        document: z.string().describe('id of its document'),
        title: z.string().describe('title of its document'),
        section: z.string().describe('headings above it: chapter, slide, or sheet and rows; empty without any'),
        text: z.string().describe('its text without the title; headings below the title come first, with a colon after them'),
        similarity: z
          .number()
          .nullable()
          .describe(
            'cosine similarity of its meaning to that of the query, -1 to 1; null if it was found only by its words. The order also depends on the words',
          ),
      }),
    )
    .describe('best first'),
  notes: z.array(z.string()).describe('warnings, such as filters that no document matches'),
});
export type PassageList = z.infer<typeof PassageList>;

export const DocumentStatus = z.enum(['queued', 'reading', 'embedding', 'ready', 'failed']);
export type DocumentStatus = z.infer<typeof DocumentStatus>;

/** Metadata names that every chunk already has; documents may not use them. */
export const reservedMetadata = ['collection', 'document', 'heading', 'n', 'name', 'title'] as const;
export const DocumentMetadata = z
  .record(MetadataName, z.string({ error: 'must contain texts' }).max(512, { error: 'must contain texts of at most 512 characters' }))
  .refine((metadata) => Object.keys(metadata).length <= 16, { error: 'must have at most 16 values' })
  .refine((metadata) => reservedMetadata.every((name) => !(name in metadata)), {
    error: `must not use the names ${reservedMetadata.join(', ')}`,
  });
export type DocumentMetadata = z.infer<typeof DocumentMetadata>;

export const DocumentName = z
  .string({ error: 'must be a name' })
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(255, { error: 'must have at most 255 characters' })
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  .regex(/^[^\u0000-\u001f\u007f]*$/, { error: 'must not contain control characters' });

/** A document as JSON; the alternatives are a form with the field `file`, and the raw bytes. */
export const DocumentRequest = z.object({
  name: DocumentName,
  mime: z.string({ error: 'must be a media type' }).max(200, { error: 'must have at most 200 characters' }).nullish(),
  text: z.string({ error: 'must be a text' }).min(1, { error: 'must not be empty' }),
  metadata: DocumentMetadata.nullish(),
});
export type DocumentRequest = z.infer<typeof DocumentRequest>;

export const DocumentView = z.object({
  object: z.literal('document'),
  id: z.string().describe('derived from collection, name and content: the same document gets the same id again'),
  collection: z.string(),
  name: z.string(),
  mime: z.string(),
  bytes: z.int().nonnegative(),
  metadata: DocumentMetadata,
  status: DocumentStatus,
  title: z.string().nullable().describe('title in the document; null until it was read'),
  chunks: z
    .object({ done: z.int().nonnegative(), total: z.int().nonnegative().nullable() })
    .describe('parts that can be searched; total is null until it was read'),
  problem: z.string().nullable().describe('why it failed, or what it waits for'),
  notices: z.array(z.string()).describe('what could not be read'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type DocumentView = z.infer<typeof DocumentView>;

export const DocumentList = z.object({
  object: z.literal('list'),
  data: z.array(DocumentView).describe('by id'),
  nextAfter: z.string().nullable().describe('value of `after` for the next page; null on the last page'),
});
export type DocumentList = z.infer<typeof DocumentList>;

export const Deleted = z.object({ object: z.literal('deleted'), id: z.string() });
export type Deleted = z.infer<typeof Deleted>;
