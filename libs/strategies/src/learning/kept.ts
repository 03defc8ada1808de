import { CachedAnswer } from '@conclave/contracts';
import type * as z from 'zod';

/** An answer as the answer caches keep it. */
export const KeptAnswer = CachedAnswer.omit({ origin: true, distance: true });
export type KeptAnswer = z.infer<typeof KeptAnswer>;

/** Tag of everything that was kept of a run: what has to go when its answer was bad. */
export const runTag = (runId: string): string => `run:${runId}`;
/** Tag of every kept answer of a tenant: with other documents at hand the next answer may be another one. */
export const documentsTag = 'documents';
/** Key of the answer of a run for questions of other wordings. */
export const semanticKey = (runId: string): string => `semantic/${runId}`;

/** How long they are kept, in milliseconds (moe.md, Caches). */
export const keptMs = { exact: 30 * 60_000, semantic: 7 * 24 * 60 * 60_000, plan: 30 * 60_000 } as const;
/** Questions that lie nearer than this cosine distance may be the same (moe.md, Caches). */
export const nearestDistance = 0.15;

/**
 * Key of a value that changes when people's judgement changes the graph of a tenant. Kept contexts carry it in their keys, so that
 * none from before is given after. It outlives every context.
 */
export const graphJudgementKey = 'graph-context/judgement';
/** How long contexts of the graph are kept, and the value above, in milliseconds. */
export const graphContextMs = 60 * 60_000;
export const graphJudgementMs = 2 * graphContextMs;
